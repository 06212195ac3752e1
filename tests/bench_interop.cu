/*
 * What it costs to bring a frame of 1920x1080 from the GPU's memory into OpenGL's textures: by
 * way of the host (download, then upload, each part alone as well, and through a pixel buffer),
 * and by textures shared between CUDA and OpenGL, from the GPU's memory or from the frame's. Needs
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
#include <cstring>
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

static const char *const part_names[PARTS] = {"left", "right", "disparity", "confidence"};
static GLuint texture[2][PARTS];
static void *on_gpu[PARTS], *on_host[PARTS];

static void take_memory() {
    for (int i = 0; i < PARTS; i++) {
        size_t bytes = (size_t)WIDTH * HEIGHT * shared_bytes[i];
        texture[0][i] = make_texture(0, i);
        texture[1][i] = make_texture(1, i);
        check(cudaMalloc(&on_gpu[i], bytes), "memory");
        check(cudaMallocHost(&on_host[i], bytes), "pinned memory");
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glFinish();
}

static double download_ms() {
    double times[ROUNDS];
    for (double &time : times) {
        double begin = now_ms();
        for (int i = 0; i < PARTS; i++)
            check(cudaMemcpyAsync(on_host[i], on_gpu[i], (size_t)WIDTH * HEIGHT * host_bytes[i],
                                  cudaMemcpyDeviceToHost, 0),
                  "download");
        check(cudaDeviceSynchronize(), "download");
        time = now_ms() - begin;
    }
    return median(times);
}

static void upload_part(int i, GLuint buffer) {
    size_t bytes = (size_t)WIDTH * HEIGHT * host_bytes[i];
    const void *from = on_host[i];
    if (buffer) {
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
        glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)bytes, NULL, GL_STREAM_DRAW);
        memcpy(glMapBuffer(GL_PIXEL_UNPACK_BUFFER, GL_WRITE_ONLY), on_host[i], bytes);
        glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
        from = NULL;
    }
    glBindTexture(GL_TEXTURE_2D, texture[0][i]);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, format[0][i], type[i], from);
    if (buffer)
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

static double upload_ms(int first, int last, GLuint buffer) {
    double times[ROUNDS];
    for (double &time : times) {
        double begin = now_ms();
        for (int i = first; i <= last; i++)
            upload_part(i, buffer);
        glFinish();
        time = now_ms() - begin;
    }
    return median(times);
}

static void by_host() {
    GLuint buffer;
    glGenBuffers(1, &buffer);
    printf("download      %.3f ms\n", download_ms());
    printf("upload        %.3f ms, through a buffer %.3f ms\n", upload_ms(0, PARTS - 1, 0),
           upload_ms(0, PARTS - 1, buffer));
    for (int i = 0; i < PARTS; i++)
        printf("  %-11s %.3f ms, through a buffer %.3f ms\n", part_names[i], upload_ms(i, i, 0),
               upload_ms(i, i, buffer));
}

static double share_ms(int first, int last, void *const *from, enum cudaMemcpyKind kind,
                       cudaGraphicsResource_t *resource) {
    double times[ROUNDS];
    int count = last - first + 1;
    for (double &time : times) {
        double begin = now_ms();
        check(cudaGraphicsMapResources(count, resource + first, 0), "mapping");
        for (int i = first; i <= last; i++) {
            cudaArray_t array;
            size_t row = (size_t)WIDTH * shared_bytes[i];
            check(cudaGraphicsSubResourceGetMappedArray(&array, resource[i], 0, 0), "mapping");
            check(cudaMemcpy2DToArrayAsync(array, 0, 0, from[i], row, row, HEIGHT, kind, 0),
                  "copying");
        }
        check(cudaGraphicsUnmapResources(count, resource + first, 0), "unmapping");
        check(cudaDeviceSynchronize(), "copying");
        glFinish();
        time = now_ms() - begin;
    }
    return median(times);
}

static void by_sharing() {
    cudaGraphicsResource_t resource[PARTS];
    for (int i = 0; i < PARTS; i++)
        check(cudaGraphicsGLRegisterImage(&resource[i], texture[1][i], GL_TEXTURE_2D,
                                          cudaGraphicsRegisterFlagsWriteDiscard),
              "sharing a texture");
    printf("sharing       %.3f ms from the GPU's memory, %.3f ms from the frame's\n",
           share_ms(0, PARTS - 1, on_gpu, cudaMemcpyDeviceToDevice, resource),
           share_ms(0, PARTS - 1, on_host, cudaMemcpyHostToDevice, resource));
    for (int i = 0; i < PARTS; i++)
        printf("  %-11s %.3f ms from the GPU's memory, %.3f ms from the frame's\n", part_names[i],
               share_ms(i, i, on_gpu, cudaMemcpyDeviceToDevice, resource),
               share_ms(i, i, on_host, cudaMemcpyHostToDevice, resource));
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
    take_memory();
    by_host();
    by_sharing();
    glfwTerminate();
    return 0;
}
