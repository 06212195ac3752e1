/*
 * What the files behind include/livestereo.h share: settings, and where a call's messages go.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/feature_network.h"
#include "base/log.h"
#include "config/params.h"
#include "include/livestereo.h"

#include <stdbool.h>

struct livestereo_settings {
    struct params params; /* of parts METHOD and DEVICE; the program sets it as a whole, with a
                             network that is its own as long as the settings are */
    struct feature_network network; /* of a copy of its file, or without one */
    char error[LOG_MESSAGE];
};

/* Copies size bytes of a file of weights, and parses them; free it with feature_network_drop(). 0
 * or -errno, and why says what is wrong. */
int library_copy_network(struct feature_network *network, const void *file, size_t size, char *why,
                         size_t why_size);

/* Copies a struct of the caller's that begins with its size into one of known bytes: what it lacks
 * is 0, and what it has beyond that must be. 0 or -EINVAL after a message. */
int library_read_sized(const char *name, void *to, size_t known, const void *from);

/* The way back into as many bytes as the caller's struct has, which the former function took. */
void library_write_sized(void *to, const void *from, size_t known);

bool library_is_zero(const void *memory, size_t bytes);

/* What a call without a handle says; of this thread. */
extern _Thread_local struct log_target library_no_handle;
