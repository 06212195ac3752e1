/*
 * What it costs to bring a frame of 1920x1080 from the GPU's memory into OpenGL's textures: by
 * way of the host (download, then upload), and by textures shared between CUDA and OpenGL. Needs
 * a display whose OpenGL is the NVIDIA GPU's.
 * SPDX-License-Identifier: MIT
 */
#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <cuda_gl_interop.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#define WIDTH 1920
#define HEIGHT 1080
#define ROUNDS 300

/* What a frame shows: two pictures, disparity, confidence. CUDA cannot share RGB textures, so
 * the shared pictures have four bytes a pixel, by the host three. */
enum { LEFT, RIGHT, DISPARITY, CONFIDENCE, PARTS };
static const int host_bytes[PARTS] = {3, 3, 2, 1}, shared_bytes[PARTS] = {4, 4, 2, 1};
static const GLint kept[2][PARTS] = {{GL_RGB8, GL_RGB8, GL_R16I, GL_R8},
                                     {GL_RGBA8, GL_RGBA8, GL_R16I, GL_R8}};
static const GLenum format[2][PARTS] = {{GL_RGB, GL_RGB, GL_RED_INTEGER, GL_RED},
                                        {GL_RGBA, GL_RGBA, GL_RED_INTEGER, GL_RED}};
static const GLenum type[PARTS] = {GL_UNSIGNED_BYTE, GL_UNSIGNED_BYTE, GL_SHORT, GL_UNSIGNED_BYTE};

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "bench_interop: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static double now_ms() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double median(double *times) {
    std::sort(times, times + ROUNDS);
    return times[ROUNDS / 2];
}

static GLuint make_texture(int shared, int part) {
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, kept[shared][part], WIDTH, HEIGHT, 0, format[shared][part],
                 type[part], NULL);
    return texture;
}

static void by_host() {
    GLuint texture[PARTS];
    void *on_gpu[PARTS], *on_host[PARTS];
    double down[ROUNDS], up[ROUNDS];
    for (int i = 0; i < PARTS; i++) {
        size_t bytes = (size_t)WIDTH * HEIGHT * host_bytes[i];
        texture[i] = make_texture(0, i);
        check(cudaMalloc(&on_gpu[i], bytes), "memory");
        check(cudaMallocHost(&on_host[i], bytes), "pinned memory");
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glFinish();
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ms();
        for (int i = 0; i < PARTS; i++)
            check(cudaMemcpyAsync(on_host[i], on_gpu[i], (size_t)WIDTH * HEIGHT * host_bytes[i],
                                  cudaMemcpyDeviceToHost, 0),
                  "download");
        check(cudaDeviceSynchronize(), "download");
        double middle = now_ms();
        for (int i = 0; i < PARTS; i++) {
            glBindTexture(GL_TEXTURE_2D, texture[i]);
            glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, format[0][i], type[i],
                            on_host[i]);
        }
        glFinish();
        down[round] = middle - begin;
        up[round] = now_ms() - middle;
    }
    double d = median(down), u = median(up);
    printf("by the host   download %.3f ms, upload %.3f ms, together %.3f ms\n", d, u, d + u);
}

static void by_sharing() {
    GLuint texture[PARTS];
    void *on_gpu[PARTS];
    cudaGraphicsResource_t resource[PARTS];
    double times[ROUNDS];
    for (int i = 0; i < PARTS; i++) {
        texture[i] = make_texture(1, i);
        check(cudaMalloc(&on_gpu[i], (size_t)WIDTH * HEIGHT * shared_bytes[i]), "memory");
        check(cudaGraphicsGLRegisterImage(&resource[i], texture[i], GL_TEXTURE_2D,
                                          cudaGraphicsRegisterFlagsWriteDiscard),
              "sharing a texture");
    }
    glFinish();
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ms();
        check(cudaGraphicsMapResources(PARTS, resource, 0), "mapping");
        for (int i = 0; i < PARTS; i++) {
            cudaArray_t array;
            size_t row = (size_t)WIDTH * shared_bytes[i];
            check(cudaGraphicsSubResourceGetMappedArray(&array, resource[i], 0, 0), "mapping");
            check(cudaMemcpy2DToArrayAsync(array, 0, 0, on_gpu[i], row, row, HEIGHT,
                                           cudaMemcpyDeviceToDevice, 0),
                  "copying");
        }
        check(cudaGraphicsUnmapResources(PARTS, resource, 0), "unmapping");
        check(cudaDeviceSynchronize(), "copying");
        glFinish();
        times[round] = now_ms() - begin;
    }
    printf("by sharing    copy %.3f ms\n", median(times));
}

int main() {
    if (!glfwInit()) {
        fprintf(stderr, "bench_interop: no display\n");
        return 77;
    }
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    GLFWwindow *window = glfwCreateWindow(64, 64, "bench", NULL, NULL);
    if (!window) {
        fprintf(stderr, "bench_interop: no OpenGL 3.3\n");
        return 77;
    }
    glfwMakeContextCurrent(window);
    printf("OpenGL        %s, %s\n", (const char *)glGetString(GL_VERSION),
           (const char *)glGetString(GL_RENDERER));
    printf("frame         %dx%d, median of %d\n", WIDTH, HEIGHT, ROUNDS);
    by_host();
    by_sharing();
    glfwTerminate();
    return 0;
}
