#!/bin/sh
# usage: bindings/python/pack.sh wheel FOLDER MACHINE    of a folder that holds the library
#        bindings/python/pack.sh sdist FOLDER            of all sources; pip builds the wheel
# For the Makefile; VERSION and PYTHON are its variables. SPDX-License-Identifier: MIT
set -eu
kind=$1 folder=$2
from=bindings/python

project() { # project README
    sed "s/@VERSION@/$VERSION/; s,@README@,$1," $from/pyproject.toml.in >"$folder/pyproject.toml"
}

if [ "$kind" = sdist ]; then
    cp $from/setup.py "$folder"
    project $from/README.md
    cd "$folder"
    $PYTHON -W ignore setup.py -q egg_info
    cp $from/livestereo.egg-info/PKG-INFO .
    rm -r $from/livestereo.egg-info
    exit
fi
rm -rf "$folder"/*.whl "$folder/build"
for file in setup.py README.md livestereo/py.typed $(cd $from && ls livestereo/*.py); do
    install -D -m 644 "$from/$file" "$folder/$file"
done
project README.md
install -m 644 LICENSE "$folder"
[ ! -e /usr/share/doc/libyaml-dev/copyright ] ||
    install -m 644 /usr/share/doc/libyaml-dev/copyright "$folder/LICENSE.libyaml"
cd "$folder"
glibc=$(objdump -T livestereo/*.so.* | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1)
$PYTHON -W ignore setup.py -q bdist_wheel --dist-dir . --plat-name \
    "manylinux_$(echo "${glibc#GLIBC_}" | tr . _)_$3"
