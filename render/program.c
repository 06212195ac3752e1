/*
 * Compiling and linking for render/program.h. SPDX-License-Identifier: MIT
 */
#include "render/program.h"

#include "config/log.h"

static GLuint compile(GLenum type, const char *name, const char *defines, const char *text) {
    const char *parts[] = {"#version 330 core\n", defines, "#line 1\n", text};
    GLuint shader = glCreateShader(type);
    GLint good = 0;
    glShaderSource(shader, 4, parts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good) {
        char why[512] = "";
        glGetShaderInfoLog(shader, sizeof why, NULL, why);
        log_error(name, "the OpenGL driver does not compile it: %s", why);
        glDeleteShader(shader);
        return 0;
    }
    return shader;
}

GLuint program_make(const char *name, const char *defines, const char *vertex_text,
                    const char *fragment_text) {
    GLuint vertex = compile(GL_VERTEX_SHADER, name, defines, vertex_text);
    GLuint fragment = compile(GL_FRAGMENT_SHADER, name, defines, fragment_text);
    GLuint program = 0;
    if (vertex && fragment) {
        GLint good = 0;
        program = glCreateProgram();
        glAttachShader(program, vertex);
        glAttachShader(program, fragment);
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &good);
        if (!good) {
            char why[512] = "";
            glGetProgramInfoLog(program, sizeof why, NULL, why);
            log_error(name, "the OpenGL driver does not link it: %s", why);
            glDeleteProgram(program);
            program = 0;
        }
    }
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    return program;
}
