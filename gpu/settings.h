/*
 * Settings of the library's callers: parameters, with a network of their own.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/log.h"
#include "config/feature_network.h"
#include "config/params.h"
#include "include/livestereo.h"

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
