#!/bin/sh
# usage: tests/vm/plugins.sh
# Prints the GStreamer plugins that recording needs, for the guest. SPDX-License-Identifier: MIT
folder=$(pkg-config --variable=pluginsdir gstreamer-1.0)
for plugin in coreelements app matroska debug typefindfunctions; do
    echo "$folder/libgst$plugin.so"
done
