/*
 * See npy.h. SPDX-License-Identifier: MIT
 */
#include "image/npy.h"

#include "base/file.h"
#include "base/log.h"
#include "image/picture_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The head before the text: magic, version, length of the text in two bytes or, from version 2 on,
 * four. */
enum { MAGIC = 6, HEAD_1 = 10, HEAD_2 = 12, MAX_TEXT = 4096 };

const size_t npy_bytes[NPY_TYPES] = {1, 2, 4};

static const uint8_t magic[MAGIC] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The text of the head, a literal of Python, as far as it has been read. */
struct reader {
    const char *at, *end;
};

static void skip_blanks(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n'))
        r->at++;
}

/* Whether the text goes on with this word, which is then skipped. */
static bool accept(struct reader *r, const char *word) {
    size_t length = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool read_type(struct reader *r, struct npy *a) {
    static const char *const words[] = {"'|u1'", "'<u2'", "'<f4'", "'u1'", "'<u1'"};
    static const enum npy_type types[] = {NPY_UINT8, NPY_UINT16, NPY_FLOAT32, NPY_UINT8, NPY_UINT8};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (accept(r, words[i])) {
            a->type = types[i];
            return true;
        }
    return false;
}

/* A number of a shape; false where there is none or it is too large for an array in memory. */
static bool read_length(struct reader *r, size_t *length) {
    skip_blanks(r);
    const char *first = r->at;
    for (*length = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (*length > INT32_MAX / 10 - 1)
            return false;
        *length = *length * 10 + (size_t)(*r->at - '0');
    }
    return r->at > first;
}

static bool read_shape(struct reader *r, struct npy *a) {
    if (!accept(r, "("))
        return false;
    while (!accept(r, ")")) {
        if (a->dimensions == NPY_DIMENSIONS || !read_length(r, &a->shape[a->dimensions]))
            return false;
        a->dimensions++;
        if (!accept(r, ",")) /* a single one has a comma */
            return a->dimensions > 1 && accept(r, ")");
    }
    return a->dimensions > 0;
}

/* The entries of the head, in any order, each once. NULL, or what is wrong. */
static const char *read_text(struct reader *r, struct npy *a, bool *fortran, int *error) {
    bool type = false, order = false, shape = false;
    *error = -EBADMSG;
    if (!accept(r, "{"))
        return "its header is damaged";
    while (!accept(r, "}")) {
        if (!type && accept(r, "'descr':")) {
            if (!(type = read_type(r, a))) {
                *error = -ENOTSUP;
                return "its numbers must be uint8, uint16 or float32, low byte first";
            }
        } else if (!order && accept(r, "'fortran_order':")) {
            *fortran = accept(r, "True");
            order = *fortran || accept(r, "False");
        } else if (!shape && accept(r, "'shape':")) {
            if (!(shape = read_shape(r, a))) {
                *error = -ENOTSUP;
                return "it must have one to three dimensions of less than 2^27";
            }
        } else
            return "its header is damaged";
        if (!accept(r, ",") && !accept(r, "}"))
            return "its header is damaged";
        if (r->at[-1] == '}')
            break;
    }
    skip_blanks(r);
    return type && order && shape && r->at == r->end ? NULL : "its header is damaged";
}

/* How many numbers there are; 0 where their bytes are more than the file's. */
static size_t count_numbers(const struct npy *a, size_t length) {
    size_t count = 1;
    for (int d = 0; d < a->dimensions; d++) {
        if (a->shape[d] == 0 || count > length / a->shape[d])
            return 0;
        count *= a->shape[d];
    }
    return count;
}

static void make_steps(struct npy *a, bool fortran) {
    size_t step = 1;
    for (int i = 0; i < a->dimensions; i++) {
        int d = fortran ? i : a->dimensions - 1 - i;
        a->step[d] = step;
        step *= a->shape[d];
    }
}

static const char *parse(const uint8_t *bytes, size_t length, struct npy *a, int *error) {
    bool fortran = false;
    *error = -EBADMSG;
    if (length < HEAD_2 || memcmp(bytes, magic, MAGIC) != 0 || bytes[6] < 1 || bytes[6] > 3 ||
        bytes[7] != 0)
        return "is no .npy file of version 1, 2 or 3";
    size_t head = bytes[6] == 1 ? HEAD_1 : HEAD_2, text = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        text |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (text > MAX_TEXT || text > length - head)
        return "its header is damaged";
    struct reader r = {(const char *)bytes + head, (const char *)bytes + head + text};
    const char *why = read_text(&r, a, &fortran, error);
    if (why)
        return why;
    size_t count = count_numbers(a, length), rest = length - head - text;
    *error = -EBADMSG;
    if (count == 0 || count * npy_bytes[a->type] != rest)
        return "it has another size than its header says";
    *error = -ENOMEM;
    a->data = malloc(rest);
    if (!a->data)
        return "there is not enough memory for it";
    memcpy(a->data, bytes + length - rest, rest);
    make_steps(a, fortran);
    *error = 0;
    return NULL;
}

int npy_parse(const uint8_t *bytes, size_t length, const char *name, struct npy *a) {
    int error;
    *a = (struct npy){0};
    const char *why = parse(bytes, length, a, &error);
    if (why) {
        log_error(name, "%s", why);
        *a = (struct npy){0};
    }
    return error;
}

int npy_read(const char *path, struct npy *a) {
    char *bytes;
    size_t length;
    *a = (struct npy){0};
    int error = file_load_bytes(path, SIZE_MAX / 2, &bytes, &length)
                    ?: npy_parse((const uint8_t *)bytes, length, path, a);
    free(bytes);
    return error;
}

void npy_free(struct npy *a) {
    free(a->data);
    *a = (struct npy){0};
}

/* Begins a file of numbers of this type; shape: as in Python. */
static int begin(struct save *save, const char *path, const char *type, const char *shape) {
    uint8_t head[128] = {0};
    int error = save_begin(save, path);
    if (error)
        return error;
    memset(head + HEAD_1, ' ', sizeof(head) - HEAD_1);
    memcpy(head, magic, MAGIC);
    head[6] = 1;
    head[8] = sizeof(head) - HEAD_1;
    int length = snprintf((char *)head + HEAD_1, sizeof(head) - HEAD_1,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    head[HEAD_1 + length] = ' ';
    head[sizeof(head) - 1] = '\n';
    save_write(save, head, sizeof(head));
    return 0;
}

int npy_write16(const char *path, const uint16_t *data, int width, int height) {
    struct save save;
    char shape[32];
    snprintf(shape, sizeof(shape), "%d, %d", height, width);
    int error = begin(&save, path, "<u2", shape);
    if (error)
        return error;
    for (size_t i = 0; i < (size_t)width * (size_t)height; i++) {
        const uint8_t number[2] = {(uint8_t)data[i], (uint8_t)(data[i] >> 8)};
        save_write(&save, number, sizeof(number));
    }
    return save_end(&save);
}

int npy_write_float(const char *path, const float *data, int width, int height, int labels) {
    struct save save;
    char shape[48];
    snprintf(shape, sizeof(shape), labels > 1 ? "%d, %d, %d" : "%d, %d", height, width, labels);
    int error = begin(&save, path, "<f4", shape);
    if (error)
        return error;
    for (size_t i = 0; i < (size_t)width * (size_t)height * (size_t)labels; i++) {
        uint32_t bits;
        memcpy(&bits, &data[i], sizeof(bits));
        const uint8_t number[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                                   (uint8_t)(bits >> 24)};
        save_write(&save, number, sizeof(number));
    }
    return save_end(&save);
}
