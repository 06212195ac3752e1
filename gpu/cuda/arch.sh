#!/bin/sh
# usage: gpu/cuda/arch.sh NVCC 'CUDA_ARCH' [gpu-test]    for the Makefile
# Prints the GPUs that code is compiled for as now:sm_90, all that there are as all:sm_90, and what
# NVCC does not know as unknown:sm_1. Without CUDA_ARCH they are the machine's (one that is newer
# than NVCC compiles the newest code of all when it runs), for gpu-test all where there is none.
# SPDX-License-Identifier: MIT
nvcc=$1
known=$($nvcc --list-gpu-code | grep -x 'sm_[0-9]*' | sort -V)
# GPUs that are left out run the code of older ones: 8.8 and 8.9 that of 8.6, 10.3 that of 10.0,
# 12.1 that of 12.0.
all=$(echo "$known" | awk -F_ '$2 >= 75' | grep -vxE 'sm_(88|89|103|121)')
now=$2
if [ -z "$now" ]; then
    now=$(timeout 10 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        sed -n 's/^\([0-9]*\)\.\([0-9]\)$/sm_\1\2/p' | sort -uV)
    for gpu in $now; do
        echo "$known" | grep -qx "$gpu" || now=all
    done
    [ -n "$now" ] || [ -z "$3" ] || now=all
fi
[ "$now" != all ] || now=$all
for gpu in $now; do
    echo "$known" | grep -qx "${gpu%[af]}" || echo "unknown:$gpu"
    echo "now:$gpu"
done
echo "$all" | sed 's/^/all:/'
