/*
 * Compiles and links for render/program.h. SPDX-License-Identifier: MIT
 */
#include "render/program.h"

#include "base/log.h"

/* Logs why the driver refuses a shader or a program. */
static void log_refusal(const char *name, const char *verb, GLuint object,
                        PFNGLGETSHADERINFOLOGPROC get_log) {
    char why[512] = "";
    get_log(object, sizeof(why), NULL, why);
    log_error(name, "the OpenGL driver does not %s it: %s", verb, why);
}

static GLuint compile(GLenum type, const char *name, const char *defines, const char *text) {
    const char *parts[] = {"#version 330 core\n", defines, "#line 1\n", text};
    GLuint shader = glCreateShader(type);
    GLint ok = 0;
    glShaderSource(shader, 4, parts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok)
        return shader;
    log_refusal(name, "compile", shader, glGetShaderInfoLog);
    glDeleteShader(shader);
    return 0;
}

/* The shaders stay the caller's. 0 after a log line. */
static GLuint link_shaders(const char *name, GLuint vertex, GLuint fragment) {
    GLuint program = glCreateProgram();
    GLint ok = 0;
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    if (ok)
        return program;
    log_refusal(name, "link", program, glGetProgramInfoLog);
    glDeleteProgram(program);
    return 0;
}

GLuint program_make(const char *name, const char *defines, const char *vertex_text,
                    const char *fragment_text) {
    GLuint vertex = compile(GL_VERTEX_SHADER, name, defines, vertex_text);
    GLuint fragment = compile(GL_FRAGMENT_SHADER, name, defines, fragment_text);
    GLuint program = vertex && fragment ? link_shaders(name, vertex, fragment) : 0;
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    return program;
}
