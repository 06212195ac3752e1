/*
 * What the files behind include/livestereo.h share: settings, and where a call's messages go.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_LIBRARY_H
#define LIVESTEREO_LIBRARY_H

#include "config/log.h"
#include "config/params.h"
#include "include/livestereo.h"

struct livestereo_settings {
    struct params params; /* of parts METHOD and DEVICE */
    struct smoothness_table table;
    char error[LOG_MESSAGE];
};

/* What a call without a handle says; of this thread. */
extern _Thread_local struct log_target library_no_handle;

#endif
