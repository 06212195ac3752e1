/*
 * The cameras of this machine, and the names under which a camera is found again after a reboot
 * or a replug. A list is a snapshot; it belongs to whoever read it. Any thread, each with its
 * own list.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>

/* The names that identify a camera. Node numbers change, so they are not among them. */
struct device_identity {
    char card[64], bus[64], serial[64];
};

struct device {
    char node[64];                 /* /dev/videoN, of this moment */
    char by_id[192], by_path[192]; /* links under /dev/v4l, "" where there are none */
    char driver[32], usb_hub[64];  /* usb_hub: the port tree above it, "" when not USB */
    struct device_identity identity;
    int error; /* -errno when the node cannot be opened, else 0 */
};

struct device_list {
    struct device
        *device; /* nodes that capture pictures, by bus and node; metadata nodes are left out */
    int count;
};

/* 0 or -errno after a log line; an empty list is no error. */
int device_list_read(struct device_list *list);
void device_list_free(struct device_list *list);

/* The device that a word names: a path or link, the last part of a link (by-id name), a bus or
 * a serial. NULL with why (never a newline) when there is none, or several. */
const struct device *device_list_find(const struct device_list *list, const char *word, char *why,
                                      size_t size);

/* The same camera, wherever it is plugged in now: found by serial if that differs from other's,
 * else by bus. NULL when it is not connected. other (may be NULL) is the rig's second camera. */
const struct device *device_list_again(const struct device_list *list,
                                       const struct device_identity *identity,
                                       const struct device_identity *other);

/* A word for device_list_find that does not change: the by-id name, by-path where several cameras
 * share that, the bus, or else the node. */
const char *device_stable_name(const struct device_list *list, const struct device *device);

/* Two devices that look like a rig: the first two of one card. 1 and their indices, or 0. */
int device_list_pair(const struct device_list *list, int index[2]);

/* Writes those two as a source, "v4l2:LEFT,RIGHT", with stable names. Returns buf, or NULL where
 * there is no such pair. */
const char *device_list_rig(const struct device_list *list, char *buf, size_t size);
