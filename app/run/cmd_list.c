/*
 * livestereo list: the cameras of this machine and the words to paste as SOURCE.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "capture/v4l2/device_list.h"
#include "image/pixel_format.h"
#include "capture/v4l2/v4l2_errors.h"
#include "capture/v4l2/v4l2_modes.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIDE 2.4 /* width over height from which a picture is likely two side by side */

static void print_formats(const struct mode_list *list) {
    uint32_t last = 0;
    int max_width = 0, max_height = 0;
    printf("    formats  ");
    for (int i = 0; i < list->count; i++) {
        char name[5];
        const struct camera_mode *mode = &list->mode[i];
        if (mode->fourcc != last)
            printf(" %s", pixel_fourcc_name(mode->fourcc, name));
        last = mode->fourcc;
        if (mode->width * mode->height > max_width * max_height) {
            max_width = mode->width;
            max_height = mode->height;
        }
    }
    printf(", up to %dx%d\n", max_width, max_height);
}

/* A line with a name that is the camera's to choose. */
static void print_name(const char *before, const char *name) {
    g_autofree char *clean = g_strdup(name);
    log_clean(clean);
    printf("%s%s\n", before, clean);
}

/* Returns whether the largest picture looks like two. */
static bool print_device(const struct device *device) {
    const struct device_identity *id = &device->identity;
    print_name("", id->card[0] ? id->card : device->node);
    printf("    node      %s (moves at reboot and replug)\n", device->node);
    if (device->by_id[0])
        print_name("    by-id     ", device->by_id);
    if (device->by_path[0])
        print_name("    by-path   ", device->by_path);
    if (id->bus[0])
        print_name("    bus       ", id->bus);
    if (id->serial[0])
        print_name("    serial    ", id->serial);
    int fd = open(device->node, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct mode_list list = {0};
    int error = fd < 0 ? -errno : mode_list_read(fd, &list);
    bool wide = false;
    if (error) {
        char why[512];
        printf("    problem   %s\n",
               v4l2_explain(error, "be opened", device->node, why, sizeof why));
    } else {
        print_formats(&list);
    }
    for (int i = 0; i < list.count; i++)
        wide |= list.mode[i].width > WIDE * list.mode[i].height;
    mode_list_free(&list);
    if (fd >= 0)
        close(fd);
    return wide;
}

static void print_list(const struct device_list *list) {
    bool wide[64] = {false};
    for (int i = 0; i < list->count; i++) {
        bool w = print_device(&list->device[i]);
        if (i < 64)
            wide[i] = w;
    }
    int pair[2];
    bool two = device_list_pair(list, pair);
    printf("\nSOURCE to paste:\n");
    if (two) {
        const struct device *left = &list->device[pair[0]], *right = &list->device[pair[1]];
        char rig[512];
        print_name("    ", device_list_rig(list, rig, sizeof rig));
        if (left->usb_hub[0] && strcmp(left->usb_hub, right->usb_hub) == 0)
            printf("    (both on one USB hub: they share its bandwidth; --swap exchanges left and "
                   "right)\n");
    }
    for (int i = 0; i < list->count && i < 64; i++)
        if (wide[i] || !two)
            print_name("    sbs:", device_stable_name(list, &list->device[i]));
}

int cmd_list(int argc, char **argv) {
    const GOptionEntry entries[] = {{0}};
    struct common_options options = {.no_settings = true};
    struct params params;
    int code = options_parse(
        &argc, &argv, "",
        "Lists the cameras: names that stay, formats, and SOURCE words to paste. v4l2-ctl\n"
        "prints every mode and control of one.",
        "Example:\n  livestereo list\n", entries, &options, &params);
    options_free(&options);
    if (code != GO_ON)
        return code;
    struct device_list list;
    if (device_list_read(&list) != 0)
        return EXIT_RUN_FAILED;
    if (list.count == 0)
        log_warning(NULL, "no camera found; plug one in (ls /dev/video* shows the nodes)");
    else
        print_list(&list);
    device_list_free(&list);
    return EXIT_DONE;
}
