/*
 * The functions of app/camera_options.h. SPDX-License-Identifier: MIT
 */
#include "app/camera_options.h"

#include "base/log.h"

#include <stdbool.h>
#include <string.h>

#define MAX_SYNC_MS 60000

/* L, R or both, as flags of left and right. GO_ON, or EXIT_USAGE after a log line. */
static int parse_sides(const char *name, const char *text, bool sides[2]) {
    if (!text)
        return GO_ON;
    sides[0] = g_ascii_strcasecmp(text, "L") == 0 || g_ascii_strcasecmp(text, "both") == 0;
    sides[1] = g_ascii_strcasecmp(text, "R") == 0 || g_ascii_strcasecmp(text, "both") == 0;
    if (sides[0] || sides[1])
        return GO_ON;
    return log_fail(EXIT_USAGE, name, "\"%s\" is not one of L, R, both", text);
}

/* --pictures and --eye. GO_ON, or EXIT_USAGE after a log line. */
static int parse_pictures(const struct camera_options *options, enum source_pictures *pictures) {
    static const char *const names[] = {"side-by-side", "top-bottom"};
    const char *text = options->pictures;
    *pictures = PICTURES_AUTO;
    if (options->eye && strcmp(options->eye, "left") != 0)
        return log_fail(EXIT_USAGE, "--eye", "there is no \"%s\"; it is left", options->eye);
    if (options->eye && text)
        return log_fail(EXIT_USAGE, "--eye",
                        "is for one picture, --pictures for two; leave one of them out");
    int choice = -1;
    if (option_choice("--pictures", text, names, G_N_ELEMENTS(names), &choice) != GO_ON)
        return EXIT_USAGE;
    if (options->eye)
        *pictures = PICTURES_ONE;
    else if (choice >= 0)
        *pictures = choice ? PICTURES_TOP_BOTTOM : PICTURES_SIDE_BY_SIDE;
    return GO_ON;
}

int camera_options_apply(const struct camera_options *options, const struct params *params,
                         struct source_options *source) {
    if (parse_pictures(options, &source->pictures) != GO_ON ||
        parse_sides("--flip", options->flip, source->flip) != GO_ON ||
        parse_sides("--rotate180", options->rotate180, source->rotate180) != GO_ON ||
        option_size("--size", options->size, MIN_FRAME_SIDE, &source->width, &source->height) !=
            GO_ON)
        return EXIT_USAGE;
    if (options->format && strlen(options->format) >= sizeof(source->format))
        return log_fail(EXIT_USAGE, "--format", "there is no format %s", options->format);
    if (option_check("--bits", options->bits, 8, 16) != GO_ON)
        return EXIT_USAGE;
    source->bits = options->bits;
    if (option_check("--sync-tolerance", options->sync_tolerance_ms, 0, MAX_SYNC_MS) != GO_ON ||
        option_check_rate(source->rate) != GO_ON)
        return EXIT_USAGE;
    g_strlcpy(source->format, options->format ? options->format : "", sizeof(source->format));
    source->motion_step = params->mode == MODE_MOTION ? params->motion_step : 0;
    source->sync_tolerance_ms =
        options->sync_tolerance_ms > 0 ? options->sync_tolerance_ms : params->sync_tolerance_ms;
    return GO_ON;
}

struct source_options camera_options_to_note(const struct source_options *options,
                                             const struct source *source, bool swap) {
    struct source_options noted = *options;
    for (int i = 0; i < 2; i++) {
        int from = swap ? !i : i;
        noted.flip[i] = source->set_tap ? options->flip[from] : 0;
        noted.rotate180[i] = source->set_tap ? options->rotate180[from] : 0;
    }
    return noted;
}
