/*
 * See flow.h.
 * SPDX-License-Identifier: MIT
 */
#include "image/flow.h"

#include "base/file.h"
#include "base/log.h"
#include "image/picture_private.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 12, PIXEL = 8, MAX_FLO = 1 << 30 }; /* bytes */

static const uint8_t magic[4] = {'P', 'I', 'E', 'H'};

static uint32_t get_word(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static float get_float(const uint8_t *p) {
    uint32_t bits = get_word(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put_word(uint8_t *p, uint32_t word) {
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(word >> (8 * i));
}

static void put_float(uint8_t *p, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_word(p, bits);
}

static int take_memory(const char *name, int width, int height, struct flow *flow) {
    size_t count = (size_t)width * (size_t)height;
    *flow = (struct flow){malloc(2 * count * sizeof(float)), width, height};
    if (flow->data)
        return 0;
    return log_fail(-ENOMEM, name, "no memory for motion of %dx%d pixels", width, height);
}

static void put(struct flow *flow, size_t i, float u, float v, int known) {
    flow->data[i] = known ? u : NAN;
    flow->data[i + (size_t)flow->width * (size_t)flow->height] = known ? v : NAN;
}

static bool is_known(float value) {
    return fabsf(value) <= 1e9F; /* no NaN is */
}

static int parse_flo(const uint8_t *bytes, size_t length, const char *name, struct flow *flow) {
    char why[256] = "the file ends early";
    uint32_t width = length >= HEADER ? get_word(bytes + 4) : 0;
    uint32_t height = length >= HEADER ? get_word(bytes + 8) : 0;
    int error = length < HEADER ? -EBADMSG : picture_check_sides(width, height, why, sizeof why);
    if (!error && (length - HEADER) / PIXEL < (size_t)width * height) {
        snprintf(why, sizeof why, "the file ends early: %ux%u pixels take %zu bytes", width, height,
                 HEADER + (size_t)width * height * PIXEL);
        error = -EBADMSG;
    }
    if (error)
        return log_fail(error, name, "%s", why);
    error = take_memory(name, (int)width, (int)height, flow);
    for (size_t i = 0; !error && i < (size_t)width * height; i++) {
        float u = get_float(bytes + HEADER + PIXEL * i),
              v = get_float(bytes + HEADER + PIXEL * i + 4);
        put(flow, i, u, v, is_known(u) && is_known(v));
    }
    return error;
}

static int parse_png(const uint8_t *bytes, size_t length, const char *name, struct flow *flow) {
    struct samples s = {0};
    char why[256];
    int error = png_decode(bytes, length, &s, why, sizeof why);
    if (!error && (s.channels != 3 || s.max != 65535)) {
        snprintf(why, sizeof why, "is no 16-bit RGB picture, as motion must be");
        error = -EBADMSG;
    }
    if (error)
        log_error(name, "%s", why);
    else
        error = take_memory(name, s.width, s.height, flow);
    const uint16_t *from = s.data;
    for (size_t i = 0; !error && i < (size_t)s.width * (size_t)s.height; i++, from += 3)
        put(flow, i, ((float)from[0] - 32768) / 64, ((float)from[1] - 32768) / 64, from[2] != 0);
    free(s.data);
    return error;
}

int flow_parse(const uint8_t *bytes, size_t length, const char *name, struct flow *flow) {
    *flow = (struct flow){0};
    if (length >= 4 && memcmp(bytes, magic, 4) == 0)
        return parse_flo(bytes, length, name, flow);
    if (length >= 4 && memcmp(bytes, "\x89PNG", 4) == 0)
        return parse_png(bytes, length, name, flow);
    return log_fail(-EBADMSG, name, "%s",
                    length ? "is neither a .flo file nor a PNG picture of motion" : "is empty");
}

int flow_read(const char *path, struct flow *flow) {
    char *bytes;
    size_t length;
    *flow = (struct flow){0};
    int error = file_load_bytes(path, MAX_FLO, &bytes, &length)
                    ?: flow_parse((const uint8_t *)bytes, length, path, flow);
    free(bytes);
    return error;
}

void flow_free(struct flow *flow) {
    free(flow->data);
    *flow = (struct flow){0};
}

int flow_write(const char *path, const int16_t *motion, int width, int height) {
    size_t count = (size_t)width * (size_t)height;
    uint8_t *row = malloc((size_t)width * PIXEL), header[HEADER];
    struct save save;
    int error = row ? save_begin(&save, path) : -ENOMEM;
    if (error) {
        if (!row)
            log_error(path, "cannot be written: %s", strerror(ENOMEM));
        free(row);
        return error;
    }
    memcpy(header, magic, sizeof magic);
    put_word(header + 4, (uint32_t)width);
    put_word(header + 8, (uint32_t)height);
    save_write(&save, header, sizeof header);
    for (size_t i = 0; i < count; i++) {
        bool known = motion[i] != DISPARITY_UNKNOWN;
        uint8_t *to = row + i % (size_t)width * PIXEL;
        put_float(to, known ? (float)motion[i] / DISPARITY_ONE : 1e10F);
        put_float(to + 4, known ? (float)motion[i + count] / DISPARITY_ONE : 1e10F);
        if ((i + 1) % (size_t)width == 0)
            save_write(&save, row, (size_t)width * PIXEL);
    }
    free(row);
    return save_end(&save);
}

static uint16_t kitti_of(int motion) {
    int value = motion * (64 / DISPARITY_ONE) + 32768;
    if (value < 0)
        return 0;
    return (uint16_t)(value < 65535 ? value : 65535);
}

int flow_write16(const char *path, const int16_t *motion, int width, int height) {
    size_t count = (size_t)width * (size_t)height;
    uint16_t *out = calloc(count, 3 * sizeof *out);
    if (!out)
        return log_fail(-ENOMEM, path, "cannot be written: %s", strerror(ENOMEM));
    for (size_t i = 0; i < count; i++) {
        if (motion[i] == DISPARITY_UNKNOWN)
            continue;
        out[3 * i] = kitti_of(motion[i]);
        out[3 * i + 1] = kitti_of(motion[i + count]);
        out[3 * i + 2] = 1;
    }
    int error = picture_write16_rgb(path, out, width, height);
    free(out);
    return error;
}

/* ---- colours */

/* From red over yellow, green, cyan, blue and magenta back to red, in so many steps each, of which
 * one channel rises or falls. */
void flow_hue(int k, double rgb[3]) {
    static const struct {
        int steps, from[3], change[3];
    } parts[] = {{15, {1, 0, 0}, {0, 1, 0}}, {6, {1, 1, 0}, {-1, 0, 0}},
                 {4, {0, 1, 0}, {0, 0, 1}},  {11, {0, 1, 1}, {0, -1, 0}},
                 {13, {0, 0, 1}, {1, 0, 0}}, {6, {1, 0, 1}, {0, 0, -1}}};
    int part = 0;
    while (k >= parts[part].steps)
        k -= parts[part++].steps;
    for (int c = 0; c < 3; c++)
        rgb[c] = parts[part].from[c] + parts[part].change[c] * (double)k / parts[part].steps;
}

void flow_color_of(double u, double v, double range, uint8_t rgb[3]) {
    double r = hypot(u, v) / range, place = (1 + atan2(-v, -u) / M_PI) / 2 * (FLOW_HUES - 1);
    double low[3], high[3], part = place - floor(place);
    flow_hue((int)place, low);
    flow_hue(((int)place + 1) % FLOW_HUES, high);
    for (int c = 0; c < 3; c++) {
        double hue = low[c] + part * (high[c] - low[c]);
        rgb[c] = (uint8_t)(255 * (r <= 1 ? 1 - r * (1 - hue) : 0.75 * hue));
    }
}

void flow_color(const int16_t *u, const int16_t *v, size_t count, double range, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        memset(out + 3 * i, 0, 3);
        if (u[i] != DISPARITY_UNKNOWN)
            flow_color_of((double)u[i] / DISPARITY_ONE, (double)v[i] / DISPARITY_ONE, range,
                          out + 3 * i);
    }
}
