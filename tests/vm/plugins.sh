#!/bin/sh
# usage: tests/vm/plugins.sh [NAME...]
# Prints the paths of GStreamer plugins for the guest, without names those that recording needs.
# SPDX-License-Identifier: MIT
folder=$(pkg-config --variable=pluginsdir gstreamer-1.0)
for plugin in ${*:-coreelements app matroska debug typefindfunctions}; do
    echo "$folder/libgst$plugin.so"
done
