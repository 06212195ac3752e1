/*
 * A source hands out synchronised pairs, one after the other. Used by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"
#include "image/pixel_format.h"

#include <errno.h>
#include <stdbool.h>

#define SOURCE_END 1 /* read: no more pairs */

/* Pairs per second from which times are made where the rate is not known. */
#define RATE_ASSUMED 30.0

/* Pairs per second: rates of files and devices outside of this range are ignored. */
#define MIN_SOURCE_RATE 0.001
#define MAX_SOURCE_RATE 10000.0

/* How one video track, picture file or topic holds the pictures of a pair. */
enum source_pictures {
    PICTURES_AUTO, /* by what the file says, or by its aspect ratio */
    PICTURES_SIDE_BY_SIDE,
    PICTURES_TOP_BOTTOM,
    PICTURES_ONE /* one picture, used for both sides: there is no depth */
};

struct source_options {
    /* int, as gboolean is, because command-line parsing writes them */
    int swap;      /* exchange left and right */
    int loop;      /* file sources start again at the end */
    int rectified; /* the pictures need no rectification */

    double rate;     /* pairs per second that a file source delivers; 0: without limit */
    int motion_step; /* 0: pairs of two cameras; else each picture of one stream (of pairs the left
                        one) and the one so many later */
    enum source_pictures pictures;
    int bits;   /* of 16-bit pictures in files, those in use; 0: by what the first pairs hold */
    bool lists; /* words may be many picture files: all left ones, then all right ones */

    /* cameras; [0] is the left, [1] the right picture */
    bool flip[2], rotate180[2];
    int width, height; /* of one camera's picture, 0: the source chooses; rate applies as well */
    char format[8];    /* "MJPG", "YUYV"...; "": the source chooses */
    double sync_tolerance_ms; /* largest time between the pictures of a pair; 0: by the rate */
};

struct controls;
struct source_status;

/* A pair as the cameras gave it, before decoding; valid during the call. */
struct raw_pair {
    long index;
    struct raw_picture picture[2]; /* the second has no data where the first holds both */
    int64_t capture_ns[2];         /* the driver's time stamps */
    int64_t time_ns[2];            /* by which they were paired: time stamp or arrival */
    uint32_t sequence[2];
};

/* Gets every pair of a source, including those that are skipped for a newer one. Called by the
 * reading thread; must not wait. */
struct source_tap {
    void (*pair)(void *context, const struct raw_pair *pair);
    void *context;
};

struct source {
    const char *name;            /* for messages; lives as long as the source */
    int width, height, channels; /* of every pair */
    bool live;                   /* a camera: late frames are dropped, not waited for */
    bool endless;                /* drawn for ever, which no count says */
    bool has_truth;
    bool rectified; /* the pictures need no rectification: a recording says so */
    /* Files that a recording or a folder of pictures has beside them, then NULL; the source's. */
    const char *calibration[3];
    /* Or what such files would hold; the first is NULL where that is not known. The source's. */
    const char *calibration_text[2];
    const char *frame_ids[2]; /* of the left and right camera in ROS; NULL: none. The source's. */
    const char *settings; /* file of parameters that a recording was made with, or NULL; its own */
    int disparities; /* number of labels that the pairs need, by files beside them; 0: not known */
    long count;      /* pairs in all, -1 when not known */
    double rate;     /* pairs per second, 0 when not known */
    bool assumes_rate; /* times are made from RATE_ASSUMED: neither options nor files say them */
    double pace;       /* pairs per second at which it should be read; 0: without limit */
    long next;         /* for source_seek_number: the pair that read gives next */
    /* Fills index, times, left, right (and truth) of a frame from a pool of this source's size.
     * 0, SOURCE_END, or -errno after logging the cause; after -EBADMSG (one damaged pair)
     * reading may go on with the next pair. -EAGAIN, only from live sources and without a log
     * line: nothing came for a while (a camera stalls or is unplugged); read again. */
    int (*read)(struct source *source, struct frame *frame);
    /* The next read gives pair number index. 0 or -errno; NULL where a source cannot seek. */
    int (*seek)(struct source *source, long index);
    /* Writes a description of pair index, which there is ("a.png b.png"), to buf; may be NULL. Any
     * thread. */
    void (*describe)(struct source *source, long index, char *buf, size_t size);
    /* The two files of pair index, 0 <= index < count; the paths are the source's. NULL where a
     * pair has no files of its own. Any thread. */
    void (*files)(struct source *source, long index, const char **left, const char **right);
    /* Live sources, else NULL. Any thread, while the source is open. */
    void (*get_status)(struct source *source, struct source_status *status);
    struct controls *controls; /* of its cameras, or NULL; owned by the source */
    /* Sets the tap from the next pair on; NULL removes it, and then no call is running when this
     * returns. NULL for sources without raw pictures. */
    void (*set_tap)(struct source *source, const struct source_tap *tap);
    void (*close)(struct source *source);
};

/* Opens the source that the words name: "synth:key=value,..." ; two files ; two printf patterns
 * ("l_%06d.png") ; a folder with left/ and right/ , image_0/ image_1/ or image_2/ image_3/ , or
 * left.png and right.png , im0.png and im1.png , or left01.png and right01.png and so on; one
 * recording (two tracks, or one side by side) or two, as files or URIs. words[0..count-1] are the
 * SOURCE arguments. NULL after one clear log line; *error gets -errno. */
struct source *source_open(const char *const *words, int count,
                           const struct source_options *options, int *error);

/* Whether a word names a source by itself: cameras, a pipeline, synth:, a folder of pairs, a
 * recording of recorder.h or of ROS. Others may be one half of a pair. */
bool source_is_whole(const char *word);

/* Whether a file is called as pictures are that are read. */
bool source_is_picture_name(const char *name);

/* Logs that a source of more than one pair assumes its rate. */
void source_say_rate(const struct source *source);

void source_close(struct source **source);

/* The kinds of sources, by options that are not NULL, with swap 0 or 1. synth keys: scene (shapes
 * or desk), width, height, min_disparity, range, noise (grey levels, standard deviation), gain
 * (right picture is multiplied by it), row_offset (px, the right picture is moved down), frames,
 * rate, seed, color. Pairs are a function of their number alone. */
struct source *source_synth_open(const char *spec, const struct source_options *options,
                                 int *error);
/* "v4l2:LEFT,RIGHT": two cameras by node, link, bus or serial. "sbs:DEVICE": one camera with
 * both pictures side by side. "v4l2:DEVICE": one camera, for motion only. */
struct source *source_v4l2_open(const char *word, const struct source_options *options, int *error);

/* Each left picture of inner with the one step pairs later, see source_options.motion_step. Takes
 * ownership of inner, and closes it on failure. NULL after a log line. */
struct source *source_motion_open(struct source *inner, int step, int *error);

/* Picture files: two files, two patterns, a folder; with options->lists many files. */
struct source *source_pictures_open(const char *const *words, int count,
                                    const struct source_options *options, int *error);

/* "mcap:FILE", "mcap:FILE,/LEFT,/RIGHT", for motion or pictures that hold both "mcap:FILE,/TOPIC",
 * or FILE.mcap, FILE.bag, or a folder of MCAP files: topics of pictures that ROS recorded, by these
 * names, else by those that say left and right. The calibration is that of CameraInfo beside
 * them. */
struct source *source_mcap_open(const char *word, const struct source_options *options, int *error);

/* The path in such a word; g_free. NULL of other words. */
char *source_mcap_path(const char *word);

/* "gst:PIPELINE", as for gst-launch, live, with appsinks named left and right, one named
 * both, or one named picture, for motion only. */
struct source *source_live_gst_open(const char *word, const struct source_options *options,
                                    int *error);

/* Opens a recording of recorder.h: a Matroska file with its .csv beside it. Gives the same pairs,
 * times and pixels as live. */
struct source *source_recording_open(const char *path, const struct source_options *options,
                                     int *error);

/* One or two files (or URIs) that GStreamer can decode. */
struct source *source_gst_open(const char *const *words, int count,
                               const struct source_options *options, int *error);
