/*
 * The receivers of --out, by what it begins with. SPDX-License-Identifier: MIT
 */
#include "app/live/output.h"

#include "app/commands.h"
#include "app/live/output_foxglove.h"
#include "app/live/output_gst.h"

#include <stdio.h>

struct output { /* one of the two */
    struct output_gst *gst;
    struct output_foxglove *foxglove;
};

struct output *output_open(const struct output_options *options, const struct output_about *about,
                           int *code) {
    *code = EXIT_DONE;
    if (!options->pipeline && !options->what)
        return NULL;
    struct output output = {0};
    if (options->pipeline && g_str_has_prefix(options->pipeline, OUTPUT_FOXGLOVE_PREFIX))
        output.foxglove = output_foxglove_open(options, about, code);
    else
        output.gst = output_gst_open(options, about, code);
    return *code == EXIT_DONE ? g_memdup2(&output, sizeof output) : NULL;
}

void output_give(struct output *output, struct frame *frame) {
    if (!output)
        return;
    if (output->foxglove)
        output_foxglove_give(output->foxglove, frame_ref(frame));
    else
        output_gst_give(output->gst, frame_ref(frame));
}

void output_get_status(struct output *output, struct output_status *status) {
    if (output->foxglove)
        output_foxglove_get_status(output->foxglove, status);
    else
        output_gst_get_status(output->gst, status);
}

bool output_take_params(struct output *output, struct params *params) {
    return output && output->foxglove && output_foxglove_take_params(output->foxglove, params);
}

void output_print(struct output *output) {
    struct output_status status;
    if (!output)
        return;
    output_get_status(output, &status);
    printf("out       %ld frames, %ld overtaken\n", status.sent, status.given - status.sent);
}

bool output_close(struct output **pointer) {
    g_autofree struct output *output = *pointer;
    bool is_whole = true;
    *pointer = NULL;
    if (output && output->foxglove)
        output_foxglove_close(output->foxglove);
    else if (output)
        is_whole = output_gst_close(output->gst);
    return is_whole;
}
