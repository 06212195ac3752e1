#!/bin/sh
# Makes the weights that ship anew: the descriptor, then both choices on its maps, on all GPUs.
# usage: training/weights.sh PHOTOGRAPHS OUT [MINUTES of the choices]
# SPDX-License-Identifier: MIT
set -e
here=$(dirname "$0")
gpus=$(nvidia-smi -L | wc -l)
half=$(((gpus + 1) / 2))
ring=1600
[ "$gpus" -gt 1 ] || ring=700 # both choices are trained on one GPU
mkdir -p "$2"
make -s -C "$here/.." -j"$(nproc)" build/liblivestereo.so.0
python3 "$here/train.py" "$1" --out "$2/descriptor.features" --minutes 18
python3 "$here/refinement.py" "$1" --weights "$2/descriptor.features" --out "$2" --close \
    --minutes "${3:-60}" --ring $ring --parts "learned:$half,census:$half"
