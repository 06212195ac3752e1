/*
 * Pictures and maps in the memory of a GPU: a kernel draws a pair of pictures, the library computes
 * its disparities, and another kernel reads them, all on one stream and without copies to the host.
 *     nvcc cuda.cu -o cuda $(pkg-config --cflags --libs livestereo)
 * Prints how many pixels have the disparity that was drawn. SPDX-License-Identifier: MIT
 */
#include <livestereo.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 480, DISPARITY = 24, FRAMES = 10 };

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "cuda: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

/* Random dots; those of the right picture lie DISPARITY to the left. */
__global__ void draw(unsigned char *left, unsigned char *right, unsigned seed) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    for (int side = 0; side < 2; side++) {
        unsigned dot = (y * (WIDTH + DISPARITY) + x + side * DISPARITY + seed) * 2654435761u;
        dot = (dot ^ dot >> 15) * 2246822519u;
        (side ? right : left)[y * WIDTH + x] = dot >> 24;
    }
}

__global__ void count(const short *disparity, int *right_ones) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int error = disparity[y * WIDTH + x] - 16 * DISPARITY;
    if (error >= -8 && error <= 8)
        atomicAdd(right_ones, 1);
}

static livestereo_image image(livestereo_format format, int bytes) {
    livestereo_image image = {};
    image.width = WIDTH;
    image.height = HEIGHT;
    image.row_bytes = WIDTH * bytes;
    image.format = format;
    image.memory = LIVESTEREO_CUDA;
    check(cudaMalloc(&image.data, WIDTH * HEIGHT * bytes), "memory");
    return image;
}

int main() {
    livestereo_settings *settings;
    livestereo *stereo;
    livestereo_options options = LIVESTEREO_OPTIONS(WIDTH, HEIGHT, LIVESTEREO_GRAY8);
    if (livestereo_settings_open(&settings, "live") ||
        livestereo_settings_set(settings, "backend", "cuda") ||
        livestereo_open(&stereo, settings, &options)) {
        fprintf(stderr, "cuda: %s\n", livestereo_error(NULL));
        return 1;
    }
    cudaStream_t stream;
    int *right_ones, total;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    check(cudaMalloc(&right_ones, sizeof(int)), "memory");
    livestereo_frame frame = LIVESTEREO_FRAME;
    frame.left = image(LIVESTEREO_GRAY8, 1);
    frame.right = image(LIVESTEREO_GRAY8, 1);
    frame.disparity = image(LIVESTEREO_DISP16, 2);
    frame.stream = stream;
    for (frame.number = 0; frame.number < FRAMES; frame.number++) {
        dim3 blocks(WIDTH / 64, HEIGHT);
        draw<<<blocks, 64, 0, stream>>>((unsigned char *)frame.left.data,
                                        (unsigned char *)frame.right.data, (unsigned)frame.number);
        check(cudaMemsetAsync(right_ones, 0, sizeof(int), stream), "memory");
        if (livestereo_start(stereo, &frame)) { /* begins after draw, returns at once */
            fprintf(stderr, "cuda: %s\n", livestereo_error(stereo));
            return 1;
        }
        count<<<blocks, 64, 0, stream>>>((const short *)frame.disparity.data, right_ones);
        check(cudaMemcpyAsync(&total, right_ones, sizeof(int), cudaMemcpyDeviceToHost, stream),
              "copy");
        check(cudaStreamSynchronize(stream), "frame");
        livestereo_wait(stereo, NULL);
        printf("%d: %.1f %%\n", (int)frame.number, 100.0 * total / (WIDTH * HEIGHT));
    }
    livestereo_close(&stereo);
    livestereo_settings_close(&settings);
    return total > WIDTH * HEIGHT / 2 ? 0 : 1;
}
