/*
 * Says what a failed call to a camera means and what to do about it. Any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>

/* One line, without the camera's name, for -errno of what was being done ("open", "start").
 * Returns buf. */
const char *v4l2_explain(int error, const char *doing, const char *node, char *buf, size_t size);
