/*
 * The receivers of --out, by what it begins with. SPDX-License-Identifier: MIT
 */
#include "app/live/output.h"

#include "app/commands.h"
#include "app/live/output_private.h"
#include "base/log.h"

#include <stdio.h>

struct output *output_open(const struct output_options *options, const struct output_about *about,
                           int *code) {
    *code = EXIT_DONE;
    if (!options->place)
        return NULL;
    if (g_str_has_prefix(options->place, OUTPUT_FOXGLOVE_PREFIX))
        return output_foxglove_open(options, about, code);
    *code = EXIT_USAGE;
    return log_fail(
        NULL, "--out",
        "\"%s\" is no receiver; write it as foxglove:8765. Into GStreamer pipelines and "
        "V4L2 devices the element livestereo sends (docs/GSTREAMER.md)",
        options->place);
}

void output_give(struct output *output, struct frame *frame) {
    if (!output)
        return;
    frame_ref(frame);
    atomic_fetch_add(&output->given, 1);
    queue_give(output->queue, &frame);
    if (output->wake)
        output->wake(output);
}

void output_get_status(struct output *output, struct output_status *status) {
    *status = (struct output_status){atomic_load(&output->given), atomic_load(&output->sent)};
}

bool output_take_params(struct output *output, struct params *params) {
    return output && output->take_params && output->take_params(output, params);
}

void output_refuse_params(struct output *output, const char *why, const struct params *in_force) {
    if (output && output->refuse_params)
        output->refuse_params(output, why, in_force);
}

void output_print(struct output *output) {
    struct output_status status;
    if (!output)
        return;
    output_get_status(output, &status);
    printf("out       %ld frames, %ld overtaken\n", status.sent, status.given - status.sent);
}

bool output_close(struct output **pointer) {
    struct output *output = g_steal_pointer(pointer);
    return !output || output->close(output);
}
