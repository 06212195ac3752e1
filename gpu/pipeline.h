/*
 * Describes a frame as a list of passes; pipeline.c is the method. Used by the code that runs
 * frames (stereo.c) and by tests.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/blocks.h"
#include "gpu/features.h"

enum { LEFT_SIDE, RIGHT_SIDE };

/* Numbers of host memory for graph_upload() and graph_download(). Of pairs, the left one is
 * first. */
enum host_memory {
    HOST_PICTURES,
    HOST_CHROMA = HOST_PICTURES + 2, /* of NV12 */
    HOST_RECTIFIED = HOST_CHROMA + 2,
    HOST_DISPARITY = HOST_RECTIFIED + 2,
    HOST_CONFIDENCE,
    HOST_MOTION,
    HOST_PX,
    HOST_MM,
    HOST_METRES,
    HOST_POINTS,
    HOST_UPDATES,
    HOST_COUNT
};

/* Whether a frame's caller wants these outputs of stage depth besides the map. */
struct measures {
    bool px, mm, metres, points;
    int min_confidence;
};

/* A frame's passes depend on this alone. Pointers are to the backend's memory. */
struct pipeline {
    struct params params;
    struct scaling scaling;
    int source_width, source_height;    /* of the pictures that come in */
    enum picture_format format;         /* likewise */
    int width, height, channels;        /* of the rectified ones */
    const struct rectify_point *map[2]; /* width*height, NULL where pictures are rectified */
    int map_samples, map_step;          /* struct rectify_map's */
    bool has_unseen;                    /* pixels of the left picture show nothing of its source */
    const struct tables *tables;        /* struct scaling's; only addresses within it are taken */
    struct feature_network network;     /* on the host; with descriptor=learned */
    const void *weights;                /* its weights, by features_pack() */
    const uint8_t *mask;                /* width*height, 255 leaves out; or NULL */
    struct blocks blocks;               /* that labels are found in */
    bool in_parts;                      /* the map is downloaded in two parts */
    bool delivers_picture[2];           /* that of a side is wanted, too, though not resampled */
    struct measures measures;
    const struct depth_tables *depths; /* or NULL: no depth and no points */
    struct pinhole camera;             /* the left one; known is 0 without a calibration */
    bool sequence;                     /* frames follow one another: struct livestereo_options */
};

/* Addresses of the graph at which the last frame can be inspected. */
struct pipeline_result {
    struct grid grid;
    const uint8_t *cost, *edges; /* cost NULL: source has it; edges NULL: all of class 0 */
    const uint8_t *label_cost;   /* with several blocks, which keep no volume: the data cost of each
                                    pixel's label; else NULL */
    struct label_cost source;    /* struct problem's */
    const uint16_t *label;
    const uint8_t *message[DIRECTIONS]; /* struct label_map's, or NULL */
    struct pruning pruning;             /* likewise */
    struct label_window window;         /* with mode=motion */
    int update_count;                   /* of HOST_UPDATES: struct label_map's */
};

/* Adds a frame's passes to an empty list. */
struct pipeline_result pipeline_describe(struct graph *g, const struct pipeline *p);

/* The same for mode=motion, in motion.c. */
struct pipeline_result motion_describe(struct graph *g, const struct pipeline *p);
