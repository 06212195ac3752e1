/*
 * What a robot's node does: two camera_info and pictures in, the distance of an obstacle out.
 *     node WIDTH HEIGHT CAMERA_INFO <PICTURES
 * CAMERA_INFO has the numbers K (9), D (5), R (9), P (12) of the left camera, then of the right
 * one, as ROS's sensor_msgs/CameraInfo has them. PICTURES are pairs in YUYV, left and right beside
 * each other. For each it prints how far ahead an obstacle is: the distance that a twentieth of the
 * points that are known well is nearer than. Single points may be wrong.
 *     gcc node.c -o node $(pkg-config --cflags --libs livestereo) -lm
 * CMakeLists.txt and meson.build beside it do the same.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <livestereo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *why) {
    fprintf(stderr, "node: %s: %s\n", what, why);
    exit(1);
}

static void read_numbers(FILE *file, double *to, int count) {
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", &to[i]) != 1)
            fail("CAMERA_INFO", "a number is missing");
}

/* R and T from camera to camera follow from R and P. */
static struct livestereo_rig read_rig(const char *path, int width, int height) {
    struct livestereo_rig rig;
    double k[9];
    FILE *file = fopen(path, "r");
    if (!file)
        fail(path, strerror(errno));
    memset(&rig, 0, sizeof(rig));
    rig.metric = rig.has_rectification = 1;
    for (int side = 0; side < 2; side++) {
        struct livestereo_camera *c = &rig.camera[side];
        read_numbers(file, k, 9);
        c->width = width;
        c->height = height;
        c->fx = k[0];
        c->fy = k[4];
        c->cx = k[2];
        c->cy = k[5];
        c->distortion = LIVESTEREO_RADTAN; /* plumb_bob */
        read_numbers(file, c->k, 5);
        read_numbers(file, rig.rotation[side], 9);
        read_numbers(file, rig.projection[side], 12);
    }
    fclose(file);
    return rig;
}

static void say_warning(void *context, enum livestereo_level level, const char *message) {
    (void)context;
    (void)level;
    fprintf(stderr, "node: %s\n", message);
}

static struct livestereo *open_stereo(const struct livestereo_rig *rig, int width, int height) {
    struct livestereo_settings *settings;
    struct livestereo *stereo;
    struct livestereo_options options = LIVESTEREO_OPTIONS(width, height, LIVESTEREO_YUYV);
    options.rig = rig;
    options.log = say_warning;
    options.log_level = LIVESTEREO_LOG_WARNING;
    if (livestereo_settings_open(&settings, "live"))
        fail("settings", livestereo_error(NULL));
    if (livestereo_settings_set(settings, "disparity_range", "32"))
        fail("settings", livestereo_settings_error(settings));
    if (livestereo_open(&stereo, settings, &options))
        fail("rig", livestereo_error(NULL));
    livestereo_settings_close(&settings);
    return stereo;
}

static int compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* In the part of the picture that the rectified camera sees. */
static void say_obstacle(const struct livestereo_image *points,
                         const struct livestereo_info *info) {
    float *ahead = malloc(sizeof(float) * (size_t)points->width * (size_t)points->height);
    size_t count = 0;
    if (!ahead)
        fail("memory", "there is not enough");
    for (int y = info->valid_y; y < info->valid_y + info->valid_height; y++) {
        const float *row = (const float *)points->data + (size_t)y * 3 * (size_t)points->width;
        for (int x = info->valid_x; x < info->valid_x + info->valid_width; x++)
            if (!isnan(row[3 * x]))
                ahead[count++] = row[3 * x + 2];
    }
    qsort(ahead, count, sizeof(float), compare);
    if (count)
        printf("%.2f m ahead\n", (double)ahead[count / 20]);
    else
        puts("nothing is known");
    free(ahead);
}

int main(int argc, char **argv) {
    int width = argc == 4 ? atoi(argv[1]) : 0, height = argc == 4 ? atoi(argv[2]) : 0;
    if (width < 2 || height < 2)
        fail("usage", "node WIDTH HEIGHT CAMERA_INFO <PICTURES");
    struct livestereo_rig rig = read_rig(argv[3], width, height);
    struct livestereo *stereo = open_stereo(&rig, width, height);
    struct livestereo_info info = LIVESTEREO_INFO;
    if (livestereo_get_info(stereo, &info))
        fail("info", livestereo_error(stereo));
    size_t pixels = (size_t)width * (size_t)height;
    unsigned char *both = livestereo_alloc(stereo, 4 * pixels);
    if (!both)
        fail("memory", "there is not enough");
    struct livestereo_frame frame = LIVESTEREO_FRAME;
    frame.left.data = both;
    frame.left.width = width;
    frame.left.height = height;
    frame.left.row_bytes = 4 * width;
    frame.left.format = LIVESTEREO_YUYV;
    frame.right = frame.left;
    frame.right.data = both + 2 * width;
    frame.points.width = info.width;
    frame.points.height = info.height;
    frame.points.row_bytes = 12 * info.width;
    frame.points.format = LIVESTEREO_XYZ32F;
    frame.points.data = livestereo_alloc(stereo, 12 * (size_t)info.width * (size_t)info.height);
    frame.min_confidence = 200;
    if (!frame.points.data)
        fail("memory", "there is not enough");
    for (; fread(both, 4 * pixels, 1, stdin) == 1; frame.number++) {
        int error = livestereo_start(stereo, &frame);
        while (!error && (error = livestereo_wait_for(stereo, 5, NULL)) == -ETIMEDOUT)
            error = 0; /* here a node looks after its other work */
        if (error)
            fail("frame", livestereo_error(stereo));
        say_obstacle(&frame.points, &info);
    }
    livestereo_free(stereo, frame.points.data);
    livestereo_free(stereo, both);
    livestereo_close(&stereo);
    return 0;
}
