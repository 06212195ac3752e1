/*
 * OpenGL programs from the texts of shaders/. Main thread, with the window's context.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PROGRAM_H
#define LIVESTEREO_PROGRAM_H

#include <epoxy/gl.h>

/* The program of two texts, both after the version of GLSL and after defines ("#define VIEW 2\n",
 * or ""). The caller deletes it. 0 after a log line under name, with the driver's words. */
GLuint program_make(const char *name, const char *defines, const char *vertex_text,
                    const char *fragment_text);

#endif
