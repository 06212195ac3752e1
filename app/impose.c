/*
 * See impose.h. SPDX-License-Identifier: MIT
 */
#include "app/impose.h"

#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
    double min, max;
} keys[] = {{"gain", offsetof(struct impose, gain), 0, 100},
            {"offset", offsetof(struct impose, offset), -255, 255},
            {"vignette", offsetof(struct impose, vignette), 0, 1},
            {"gamma", offsetof(struct impose, gamma), 0.01, 100},
            {"noise", offsetof(struct impose, noise), 0, 255}};

static int parse_word(const char *word, struct impose *impose) {
    const char *value = strchr(word, '=');
    size_t length = value ? (size_t)(value - word) : strlen(word);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        char *end = NULL;
        if (strlen(keys[i].name) != length || strncmp(keys[i].name, word, length) != 0)
            continue;
        double number = value ? g_ascii_strtod(value + 1, &end) : NAN;
        if (!value || end == value + 1 || *end ||
            !(number >= keys[i].min && number <= keys[i].max)) {
            log_error("--impose", "%s needs a number from %g to %g", keys[i].name, keys[i].min,
                      keys[i].max);
            return -EINVAL;
        }
        memcpy((char *)impose + keys[i].offset, &number, sizeof(number));
        return 0;
    }
    log_error("--impose", "\"%s\" is unknown; gain, offset, vignette, gamma and noise are possible",
              word);
    return -EINVAL;
}

int impose_parse(const char *text, struct impose *impose) {
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    int error = 0;
    *impose = (struct impose){.gain = 1, .gamma = 1};
    for (char **word = words; *word && !error; word++)
        error = parse_word(*word, impose);
    return error;
}

/* A number of the standard normal distribution (Box, Muller 1958). */
static double normal(GRand *random) {
    double radius = sqrt(-2 * log(1 - g_rand_double(random)));
    return radius * cos(2 * G_PI * g_rand_double(random));
}

/* -1 at the first of count pixels, 1 at the last. */
static double place(int i, int count) {
    return count > 1 ? 2.0 * i / (count - 1) - 1 : 0;
}

void impose_apply(const struct impose *impose, struct image *image) {
    GRand *random = g_rand_new_with_seed(1);
    uint8_t *v = image->data;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            double px = place(x, image->width), py = place(y, image->height);
            double gain = impose->gain * (1 - impose->vignette * (px * px + py * py) / 2);
            for (int c = 0; c < image->channels; c++, v++) {
                bool bent = impose->gamma < 1 || impose->gamma > 1;
                double level = bent ? 255 * pow(*v / 255.0, impose->gamma) : *v;
                level = gain * level + impose->offset;
                if (impose->noise > 0)
                    level += impose->noise * normal(random);
                *v = (uint8_t)lround(CLAMP(level, 0, 255));
            }
        }
    g_rand_free(random);
}
