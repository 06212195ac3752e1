/*
 * usage: vm_make_clip SCALE FRAMES FOLDER SOURCE
 * Makes JPEG pictures of the pairs of a source, each side divided by SCALE: FOLDER/left/NNN.jpg and
 * right/NNN.jpg, and all of a side in one file, FOLDER/left.mjpg and right.mjpg, for vm_usb_camera.
 * Prints "WxH". For the tests in the virtual machine. SPDX-License-Identifier: MIT
 */
#include "capture/source.h"

#include <glib.h>
#include <stdio.h>
#include <turbojpeg.h>

static void shrink(const struct image *from, int scale, struct image *to) {
    for (int y = 0; y < to->height; y++)
        for (int x = 0; x < to->width; x++)
            for (int c = 0; c < to->channels; c++) {
                int sum = 0;
                for (int v = 0; v < scale; v++)
                    for (int u = 0; u < scale; u++)
                        sum += from->data[((y * scale + v) * from->width + x * scale + u) *
                                              from->channels +
                                          c];
                to->data[(y * to->width + x) * to->channels + c] = (uint8_t)(sum / scale / scale);
            }
}

static int write_picture(const struct image *image, int scale, const char *folder, const char *side,
                         long number) {
    struct image small = {NULL, image->width / scale & ~1, image->height / scale & ~1,
                          image->channels};
    small.data = g_malloc(image_bytes(&small));
    shrink(image, scale, &small);
    int grey = small.channels == 1;
    unsigned char *data = NULL;
    unsigned long bytes = 0;
    tjhandle handle = tjInitCompress();
    int failed =
        tjCompress2(handle, small.data, small.width, 0, small.height, grey ? TJPF_GRAY : TJPF_RGB,
                    &data, &bytes, grey ? TJSAMP_GRAY : TJSAMP_422, 90, 0);
    g_autofree char *path = g_strdup_printf("%s/%s/%03ld.jpg", folder, side, number);
    g_autofree char *all = g_strdup_printf("%s/%s.mjpg", folder, side);
    FILE *clip = fopen(all, number ? "ab" : "wb");
    failed |= !g_file_set_contents(path, (const char *)data, (gssize)bytes, NULL);
    failed |= !clip || fwrite(data, 1, bytes, clip) != bytes || fclose(clip);
    tjDestroy(handle);
    tjFree(data);
    g_free(small.data);
    return failed;
}

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    int scale = atoi(argv[1]), frames = atoi(argv[2]), error;
    for (int i = 0; i < 2; i++) {
        g_autofree char *folder = g_build_filename(argv[3], i ? "right" : "left", NULL);
        g_mkdir_with_parents(folder, 0777);
    }
    struct source *source = source_open((const char *const *)argv + 4, 1, NULL, &error);
    if (!source)
        return 1;
    int failed = 0;
    for (int i = 0; i < frames && !failed; i++) {
        struct frame *frame =
            frame_alone(source->width, source->height, source->channels, source->has_truth, NULL);
        failed = source->read(source, frame) != 0 ||
                 write_picture(&frame->left, scale, argv[3], "left", i) ||
                 write_picture(&frame->right, scale, argv[3], "right", i);
        frame_drop(&frame);
    }
    printf("%dx%d\n", source->width / scale & ~1, source->height / scale & ~1);
    source_close(&source);
    return failed;
}
