/*
 * Files that batch writes beside its maps. SPDX-License-Identifier: MIT
 */
#pragma once

/* Whether path may be written over: nothing is there, or a file that begins with this text, as
 * batch's own do. 0, or -EEXIST after a log line. */
int batch_may_replace(const char *path, const char *start);

/* Writes a file of this text, whole or not at all. 0, or -EIO after a log line. */
int batch_text_write(const char *path, const char *text);
