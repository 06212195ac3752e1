/*
 * Distances from a camera that sends left and right beside each other, as most USB stereo cameras
 * do: camera WIDTH HEIGHT CALIBRATION
 * reads its pictures, in YUYV, from standard input, and prints the distance at the middle of each
 * pair. WIDTH and HEIGHT are those of one of the two:
 *     ffmpeg -f v4l2 -video_size 2560x720 -i /dev/video0 -f rawvideo -pix_fmt yuyv422 - |
 *         ./camera 1280 720 calibration.yml
 *     gcc camera.c -o camera $(pkg-config --cflags --libs livestereo)
 * SPDX-License-Identifier: MIT
 */
#include <livestereo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct slot { /* a frame that is in flight */
    struct livestereo_frame frame;
    void *pictures; /* both */
    size_t bytes;
};

static void fail(const char *what, const char *why) {
    fprintf(stderr, "camera: %s: %s\n", what, why);
    exit(1);
}

static struct livestereo *open_stereo(const char *calibration, int width, int height) {
    struct livestereo_rig rig;
    struct livestereo_settings *settings;
    struct livestereo *stereo = NULL;
    struct livestereo_options options = LIVESTEREO_OPTIONS(width, height, LIVESTEREO_YUYV);
    options.rig = &rig;
    if (livestereo_rig_read(&rig, &calibration, 1, width, height, 0) ||
        livestereo_settings_open(&settings, "live") || livestereo_open(&stereo, settings, &options))
        fail(calibration, livestereo_error(NULL));
    livestereo_settings_close(&settings);
    return stereo;
}

/* Both pictures share rows: the right one begins in the middle of each. */
static struct slot make_slot(struct livestereo *stereo, int width, int height) {
    struct slot slot = {.frame = LIVESTEREO_FRAME, .bytes = (size_t)height * 4 * width};
    struct livestereo_image picture = {NULL, width, height, 4 * width, LIVESTEREO_YUYV};
    slot.pictures = picture.data = livestereo_alloc(stereo, slot.bytes);
    slot.frame.left = slot.frame.right = picture;
    slot.frame.right.data = (char *)picture.data + 2 * width;
    slot.frame.depth =
        (struct livestereo_image){livestereo_alloc(stereo, (size_t)height * 4 * width), width,
                                  height, 4 * width, LIVESTEREO_M32F};
    if (!slot.pictures || !slot.frame.depth.data)
        fail("frames", "not enough memory");
    return slot;
}

static void finish(struct livestereo *stereo, const struct slot *slot) {
    const struct livestereo_image *depth = &slot->frame.depth;
    if (livestereo_wait(stereo, NULL))
        fail("frame", livestereo_error(stereo));
    float middle = ((float *)depth->data)[depth->height / 2 * depth->width + depth->width / 2];
    if (isnan(middle))
        printf("%lld: not known\n", (long long)slot->frame.number);
    else
        printf("%lld: %.2f m\n", (long long)slot->frame.number, middle);
}

int main(int argc, char **argv) {
    int width = argc == 4 ? atoi(argv[1]) : 0, height = argc == 4 ? atoi(argv[2]) : 0;
    if (width < 2 || height < 2)
        fail("usage", "camera WIDTH HEIGHT CALIBRATION <PICTURES");
    struct livestereo *stereo = open_stereo(argv[3], width, height);
    struct livestereo_info info = LIVESTEREO_INFO;
    livestereo_get_info(stereo, &info);
    fprintf(stderr, "camera: %s\n", info.backend);

    int count = info.frames_in_flight; /* the next one is read while a GPU computes */
    struct slot slots[2] = {0};
    for (int i = 0; i < count; i++)
        slots[i] = make_slot(stereo, width, height);
    int64_t started = 0, finished = 0;
    for (;; started++) {
        struct slot *slot = &slots[started % count];
        if (started - finished == count)
            finish(stereo, &slots[finished++ % count]);
        if (fread(slot->pictures, slot->bytes, 1, stdin) != 1)
            break;
        slot->frame.number = started;
        if (livestereo_start(stereo, &slot->frame))
            fail("frame", livestereo_error(stereo));
    }
    while (finished < started)
        finish(stereo, &slots[finished++ % count]);
    for (int i = 0; i < count; i++) {
        livestereo_free(stereo, slots[i].pictures);
        livestereo_free(stereo, slots[i].frame.depth.data);
    }
    livestereo_close(&stereo);
    return 0;
}
