/*
 * Reads and writes arrays in NumPy's format .npy, versions 1 to 3: up to three dimensions of uint8,
 * uint16 or float32 numbers, low byte first, in C or Fortran order. No shared state. Functions
 * return 0 or -errno after a log line.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum npy_type { NPY_UINT8, NPY_UINT16, NPY_FLOAT32, NPY_TYPES };
enum { NPY_DIMENSIONS = 3 };

extern const size_t npy_bytes[NPY_TYPES]; /* of one number */

struct npy {
    enum npy_type type;
    int dimensions; /* 1 to NPY_DIMENSIONS */
    size_t shape[NPY_DIMENSIONS];
    size_t step[NPY_DIMENSIONS]; /* from one number to the next one, in numbers */
    void *data;                  /* for npy_free() */
};

/* Reads a file. -EBADMSG: it is no .npy file, is damaged or has another size than its header says;
 * -ENOTSUP: its numbers are of another type, or it has another number of dimensions; -ENOMEM; and
 * what opening a file returns. */
int npy_read(const char *path, struct npy *array);

/* The same from memory; name is for messages. */
int npy_parse(const uint8_t *bytes, size_t length, const char *name, struct npy *array);

/* Frees data and clears the array. */
void npy_free(struct npy *array);

/* height x width numbers of uint16, in C order. */
int npy_write16(const char *path, const uint16_t *data, int width, int height);

/* height x width x labels numbers of float32; height x width with 1 label. */
int npy_write_float(const char *path, const float *data, int width, int height, int labels);
