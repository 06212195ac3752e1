/*
 * usage: vm_pairs [-o FILE.mkv] [-n PAIRS] [-s SECONDS] [-d DELAY_MS] [-S WxH] [-f FORMAT]
 *                 [-r RATE] [-x] [-m] [-L] SOURCE
 * Reads (and with -o records) pairs without computing anything and prints "pair INDEX LEFT_NS
 * RIGHT_NS LEFT_HASH RIGHT_HASH" for each, then the source's own report. With -m prints the mean
 * colour of the last left picture; with -L locks the cameras' controls after the first pair and
 * prints what they are then. Ends after so many pairs,
 * or seconds. Exit code 3 when the source does not open or ends, 4 when too few pairs came. For
 * the tests in the virtual machine.
 * SPDX-License-Identifier: MIT
 */
#include "capture/controls.h"
#include "capture/record/recorder.h"
#include "capture/source_private.h"
#include "capture/source_status.h"
#include "base/clock.h"
#include "config/params.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned hash(const struct image *image) { /* FNV-1a */
    unsigned h = 2166136261u;
    for (size_t i = 0; i < image_bytes(image); i++)
        h = (h ^ image->data[i]) * 16777619u;
    return h;
}

static int files_open(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static void print_pair(const struct frame *frame) {
    printf("pair %ld %lld %lld %08x %08x\n", frame->index, (long long)frame->left_ns,
           (long long)frame->right_ns, hash(&frame->left), hash(&frame->right));
}

static void print_mean(const struct image *image) {
    double sum[3] = {0};
    for (size_t i = 0; i < image_bytes(image); i++)
        sum[i % (size_t)image->channels] += image->data[i];
    double pixels = (double)image->width * image->height;
    printf("mean %.1f %.1f %.1f\n", sum[0] / pixels, sum[1] / pixels, sum[2] / pixels);
}

static void lock_controls(struct controls *controls) {
    struct control list[MAX_CONTROLS];
    if (!controls)
        return;
    int error = controls_lock(controls, 1), count = controls_get(controls, list);
    printf("locked %d error %d\n", controls_locked(controls), error);
    for (int i = 0; i < count; i++)
        printf("control %s: %d %d\n", list[i].name, list[i].camera[0].value,
               list[i].camera[1].value);
}

static int want_mean, want_lock;

static int read_pairs(struct source *source, long wanted, double seconds, int delay_ms) {
    int64_t until = clock_ns() + (int64_t)(seconds * 1e9);
    long count = 0;
    int status = 0;
    while ((status == 0 || status == -EAGAIN) && count < wanted && clock_ns() < until) {
        struct frame *frame = frame_alone(source->width, source->height, source->channels, 0, NULL);
        status = source->read(source, frame);
        if (status == 0) {
            print_pair(frame);
            count++;
            if (want_lock && count == 1)
                lock_controls(source->controls);
            if (want_mean && count == wanted)
                print_mean(&frame->left);
        }
        frame_drop(&frame);
        usleep((useconds_t)delay_ms * 1000);
    }
    return status != 0 && status != -EAGAIN ? 3 : count < wanted ? 4 : 0;
}

int main(int argc, char **argv) {
    struct source_options options = {0};
    long wanted = 100;
    double seconds = 60;
    const char *path = NULL;
    int option, delay_ms = 0;
    while ((option = getopt(argc, argv, "n:s:d:S:f:r:xmLo:")) != -1) {
        if (option == 'n')
            wanted = atol(optarg);
        else if (option == 's')
            seconds = atof(optarg);
        else if (option == 'd')
            delay_ms = atoi(optarg);
        else if (option == 'S' && sscanf(optarg, "%dx%d", &options.width, &options.height) == 2)
            continue;
        else if (option == 'f')
            snprintf(options.format, sizeof options.format, "%s", optarg);
        else if (option == 'r')
            options.rate = atof(optarg);
        else if (option == 'o')
            path = optarg;
        else if (option == 'x')
            options.swap = 1;
        else if (option == 'm')
            want_mean = 1;
        else if (option == 'L')
            want_lock = 1;
        else
            return 2;
    }
    if (optind + 1 != argc)
        return 2;
    int error, files_before = files_open();
    struct source *source = source_open((const char *const *)argv + optind, 1, &options, &error);
    if (!source)
        return 3;
    struct params params;
    params_default(&params);
    struct recorder_about about = {source, &options, &params, NULL, 0};
    struct recorder *recorder = path ? recorder_open(path, &about, &error) : NULL;
    if (recorder)
        source->set_tap(source, &(struct source_tap){recorder_tap, recorder});
    int code = read_pairs(source, wanted, seconds, delay_ms);
    if (recorder) {
        source->set_tap(source, NULL);
        code = recorder_close(&recorder, NULL) ? 1 : code;
    }
    if (source->get_status) {
        struct source_status status;
        source->get_status(source, &status);
        source_status_print(&status);
        printf("banner    %s\n", status.banner);
    }
    source_close(&source);
    printf("open files %d\n", files_open() - files_before);
    return code;
}
