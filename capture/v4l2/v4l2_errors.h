/*
 * What a failed call to a camera means and what to do about it. Any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/v4l2/v4l2_modes.h"

#include <stddef.h>

/* One line, without the camera's name, for -errno of what was being done ("open", "start").
 * mode is the one asked for and lighter one that needs less of the bus; both may be NULL.
 * Returns buf. */
const char *v4l2_explain(int error, const char *doing, const char *node,
                         const struct camera_mode *mode, const struct camera_mode *lighter,
                         char *buf, size_t size);

/* The processes that have node open, as "guvcview (4711), zoom (4712)"; "" when none is seen
 * (those of other users are not, without root). Returns buf. */
const char *v4l2_users(const char *node, char *buf, size_t size);
