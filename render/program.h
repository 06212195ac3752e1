/*
 * OpenGL programs, made from the texts in shaders/. Main thread, with the window's context.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <epoxy/gl.h>

/* Compiles two texts of GLSL and links them. defines ("#define ROW_LINES 1\n", or "") goes in front
 * of both. The caller deletes the program. 0 after a log line under name, with the driver's
 * words. */
GLuint program_make(const char *name, const char *defines, const char *vertex_text,
                    const char *fragment_text);
