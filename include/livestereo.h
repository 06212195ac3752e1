/*
 * liblivestereo: dense disparity, depth and optical flow by belief propagation, on the CPU or an
 * NVIDIA GPU, with the same bytes on both.
 * SPDX-License-Identifier: MIT
 *
 *     struct livestereo_settings *settings;
 *     struct livestereo *stereo;
 *     struct livestereo_options options = LIVESTEREO_OPTIONS(640, 480, LIVESTEREO_RGB8);
 *     struct livestereo_frame frame = LIVESTEREO_FRAME;
 *     livestereo_settings_open(&settings, "live");
 *     livestereo_open(&stereo, settings, &options);
 *     frame.left = ..., frame.right = ..., frame.disparity = ...;
 *     livestereo_start(stereo, &frame);
 *     livestereo_wait(stereo, NULL);
 *
 * Returns: functions that return int give 0, or a negative errno: -EINVAL for a mistake of the
 * caller, -ENOMEM, -ENODEV (no usable GPU), -EIO (the GPU was lost), -ENOTSUP, and what a
 * function's own comment names. livestereo_error() then has a sentence. Nothing aborts and nothing
 * is printed.
 *
 * Pairs: pictures that are no rectified pair (exchanged, of two moments, rows off) give a wrong map
 * without an error; the program livestereo checks its sources, the library does not.
 *
 * Threads: different handles are independent and may be used in different threads at once. One
 * handle, or one settings object, is used by one thread at a time. A handle starts threads of its
 * own with the CPU backend; callbacks run on the thread that called the library.
 *
 * fork(): a child process may go on with handles that use the CPU; they start threads of their own
 * there. Those that use a GPU, or that another thread was using at the fork(), give -EINVAL in the
 * child, and livestereo_close() leaves there what they hold.
 *
 * Structs that begin with size are set up by their macro, or by the function of the same name with
 * _init(), which fill size and set the rest to 0. Programs and libraries of different versions go
 * together: what a shorter struct lacks counts as 0, and is not written; a longer one is taken
 * where the library knows all that is not 0 in it. Fields called reserved stay 0; in what the
 * library reads, another value is -EINVAL.
 */
#ifndef LIVESTEREO_LIVESTEREO_H
#define LIVESTEREO_LIVESTEREO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LIVESTEREO_API __attribute__((visibility("default")))
#else
#define LIVESTEREO_API
#endif

/* The version of this header; livestereo_version() is that of the library in use. */
#define LIVESTEREO_VERSION_MAJOR 0
#define LIVESTEREO_VERSION_MINOR 1
#define LIVESTEREO_VERSION_PATCH 0

/* Structs that begin with their size have a function, struct NAME NAME_init(void), and a macro that
 * calls it in C++, which has no names in initialisers before C++20. */
#define LIVESTEREO_SIZED_INIT(name)               \
    static inline struct name name##_init(void) { \
        struct name value;                        \
        memset(&value, 0, sizeof(value));         \
        value.size = sizeof(value);               \
        return value;                             \
    }
#ifdef __cplusplus
#define LIVESTEREO_SIZED(name) name##_init()
#else
#define LIVESTEREO_SIZED(name) \
    { .size = sizeof(struct name) }
#endif

struct livestereo;          /* a pipeline for pictures of one size */
struct livestereo_settings; /* values of all parameters */

/* "0.1.0". */
LIVESTEREO_API const char *livestereo_version(void);

/* ---- settings */

/* The names of the presets in alphabetical order; NULL behind the last one. "default" is among
 * them. They are compiled in. */
LIVESTEREO_API const char *livestereo_preset(int index);

/* Makes settings with the values of a preset; NULL takes "default". *settings is NULL on failure,
 * and livestereo_error(NULL) has the sentence. -ENOENT: there is no such preset. */
LIVESTEREO_API int livestereo_settings_open(struct livestereo_settings **settings,
                                            const char *preset);

/* Sets a parameter from text, such as "disparity_range", "96". -ENOENT: no such parameter; -EINVAL:
 * the text is no value of its type; -ERANGE: it is outside the range. On failure nothing changes
 * and livestereo_settings_error() says what is allowed. */
LIVESTEREO_API int livestereo_settings_set(struct livestereo_settings *settings, const char *name,
                                           const char *text);

/* Writes a parameter's value as text, which livestereo_settings_set() reads back to the same value,
 * into size bytes at text. -ENOENT; -ENOSPC where it does not fit (32 bytes are enough). */
LIVESTEREO_API int livestereo_settings_get(struct livestereo_settings *settings, const char *name,
                                           char *text, size_t size);

/* Sets the weights of descriptor=learned and refinement=learned: size bytes of a file
 * "livestereo-features 1", which are copied; size 0: those that are compiled in. A handle keeps
 * those that it was opened with. -EINVAL: the file is damaged or another; -ENOMEM. */
LIVESTEREO_API int livestereo_settings_set_weights(struct livestereo_settings *settings,
                                                   const void *file, size_t size);

enum livestereo_type {
    LIVESTEREO_INT,
    LIVESTEREO_REAL,
    LIVESTEREO_BOOL, /* "true" or "false" */
    LIVESTEREO_CHOICE
};

/* A parameter. Texts live as long as the library. */
struct livestereo_parameter {
    const char *name, *unit, *group, *help;
    const char *choices; /* of a choice: "auto|cpu|cuda"; else NULL */
    enum livestereo_type type;
    int at_open; /* 1: read by livestereo_open() alone; 0: livestereo_update() changes it, too */
    double min, max, step, def; /* a choice counts from 0 */
    uint64_t reserved[4];
};

/* Calls each with all parameters in the order of the manual, until it returns other than 0, which
 * is then returned. */
LIVESTEREO_API int livestereo_parameters(int (*each)(void *context,
                                                     const struct livestereo_parameter *parameter),
                                         void *context);

/* The message of the last call that failed on these settings, "" before; one sentence without a
 * newline, valid until the next call with them. */
LIVESTEREO_API const char *livestereo_settings_error(const struct livestereo_settings *settings);

/* Frees them and sets *settings to NULL. Handles that were opened with them have their own copy. */
LIVESTEREO_API void livestereo_settings_close(struct livestereo_settings **settings);

/* ---- images */

enum livestereo_format {
    /* Pictures, 8 bits a sample. */
    LIVESTEREO_GRAY8 = 1,
    LIVESTEREO_RGB8,  /* 3 bytes a pixel, red first */
    LIVESTEREO_BGR8,  /* 3 bytes a pixel, blue first: OpenCV's order */
    LIVESTEREO_RGBA8, /* 4 bytes a pixel; alpha is ignored */
    LIVESTEREO_NV12,  /* BT.601 limited range: a plane Y, then a plane of U, V pairs for 2x2 pixels,
                         at chroma; even width and height */
    LIVESTEREO_YUYV,  /* BT.601 limited range: Y U Y V for two pixels; even width */
    /* Maps. */
    LIVESTEREO_DISP16 = 32, /* int16, 1/16 px, left column minus right column;
                               LIVESTEREO_UNKNOWN */
    LIVESTEREO_CONF8,       /* uint8: with confidence=chance the probability, of 255, that the
                               disparity is off by at most 1 px; below 128 where a check rejected
                               the match, so that the disparity was filled in */
    LIVESTEREO_FLOW16,      /* int16, 1/16 px: a plane of u (to the right), then a plane of v
                               (down), which begins at data + row_bytes * height; u is
                               LIVESTEREO_UNKNOWN where it is not known */
    LIVESTEREO_MM16,        /* uint16, depth in millimetres; 0: unknown, or beyond 65.535 m */
    LIVESTEREO_M32F,        /* float, depth in metres; NAN: unknown, INFINITY: infinitely far */
    LIVESTEREO_PX32F,       /* float, a disparity in px; NAN: unknown */
    LIVESTEREO_XYZ32F       /* 3 floats, a point in metres: x to the right, y down, z forward; all
                               NAN where it is unknown or infinitely far */
};

#define LIVESTEREO_UNKNOWN INT16_MIN /* in a DISP16 or FLOW16 map */

enum livestereo_memory {
    LIVESTEREO_HOST,
    LIVESTEREO_CUDA /* of the GPU that the handle uses */
};

/* Where something is computed. */
enum livestereo_backend { LIVESTEREO_BACKEND_CPU, LIVESTEREO_BACKEND_CUDA };

/* A picture or a map in memory of the caller. Pixel (x, y) begins at data + y * row_bytes + x *
 * bytes of a pixel; row_bytes is at least width * that, and in maps data and row_bytes are
 * multiples of a number's bytes. data NULL: no image. */
struct livestereo_image {
    void *data;
    int width, height;
    ptrdiff_t row_bytes;
    enum livestereo_format format;
    enum livestereo_memory memory;
    /* NV12's plane of U, V pairs and the bytes from one of its rows to the next, width or
     * more. NULL, 0: it begins at data + row_bytes * height, with rows of row_bytes. */
    void *chroma;
    ptrdiff_t chroma_row_bytes;
    uint64_t reserved[2];
};

/* Host memory for images that the handle's backend copies fastest (page-locked with a GPU), 64-byte
 * aligned and uninitialised. NULL when memory runs out. Any memory will do in its place. It must be
 * freed before the handle is closed; the calls may come from any thread. */
LIVESTEREO_API void *livestereo_alloc(struct livestereo *stereo, size_t bytes);
LIVESTEREO_API void livestereo_free(struct livestereo *stereo, void *memory);

/* ---- calibration */

enum livestereo_distortion {
    LIVESTEREO_NO_DISTORTION,
    LIVESTEREO_RADTAN,   /* k1 k2 p1 p2 k3, OpenCV's order */
    LIVESTEREO_RATIONAL, /* k1 k2 p1 p2 k3 k4 k5 k6 */
    LIVESTEREO_FISHEYE   /* k1 k2 k3 k4 over the angle (Kannala and Brandt 2006) */
};

/* The centre of the first pixel is at (0, 0). */
struct livestereo_camera {
    int width, height; /* px; 0 where not known */
    double fx, fy, cx, cy;
    enum livestereo_distortion distortion;
    double k[8]; /* the rest 0 */
};

/* Two cameras. A point X of the left camera's frame (x right, y down, z forward) is R X + T in the
 * right camera's; the right camera lies to the right, so T[0] is below 0. With has_rectification, R
 * and T may be all 0, and follow from the rest: so two of ROS's CameraInfo make a rig, K and D as
 * cameras, R as rotation, P as projection, which is in metres there. */
struct livestereo_rig {
    struct livestereo_camera camera[2]; /* left, right */
    double R[9], T[3];                  /* R row by row */
    int metric;                         /* 1: T is in metres; 0: its unit is not known */
    int rectified;                      /* 1: the pictures are rectified already */
    int has_rectification;              /* 1: rotation and projection below are to be used */
    double rotation[2][9];              /* from each camera's frame to the rectified one */
    double projection[2][12];           /* 3 x 4; the right one's [3] is -fx * baseline */
    uint64_t reserved[8];
};

/* Reads a calibration: one file, or one for each camera, in a format of OpenCV (YAML alone),
 * ROS, KITTI, Middlebury, Kalibr, DepthAI or ZED, for pictures of width x height px.
 * Its size is taken to be that where a file does not say it and its principal points then lie
 * near the middle. unit: metres per unit of lengths, for files that do not say it; 0: not known,
 * then the rig is not metric. -EBADMSG: the file is damaged or has another format; -ENOENT and
 * the like: it cannot be read; -EINVAL: it does not fit the size. livestereo_error(NULL) has the
 * sentence. The manual, livestereo(1), has the names of keys that are read. */
LIVESTEREO_API int livestereo_rig_read(struct livestereo_rig *rig, const char *const *paths,
                                       int count, int width, int height, double unit);

/* A rectification table of the caller's, as OpenCV's initUndistortRectifyMap makes it, times 32:
 * output pixel (x, y) shows what lies at column point[2 * i], row point[2 * i + 1] of the source,
 * in 1/32 px, i = y * width + x. With samples above 1 it is the mean of samples * samples points
 * that are step/32 px apart, for outputs smaller than the source. */
struct livestereo_remap {
    int width, height;
    int margin[2]; /* columns left and right that are searched for matches and are not in the maps:
                      for a part of the pictures, as wide as the disparities on that side */
    const int32_t *point; /* NULL: the picture is rectified */
    int samples, step;    /* 0, 0: one point; those of both tables are equal */
};

/* The rectified left camera: pixel (x, y) of disparity d px is the point Z = fx * baseline /
 * (d + doffs), X = (x - cx) Z / fx, Y = (y - cy) Z / fy. */
struct livestereo_geometry {
    double fx, fy, cx, cy; /* px */
    double baseline;       /* metres where metric is 1 */
    double doffs;          /* px: the right cx minus the left one */
    int metric;
    uint64_t reserved[4];
};

/* ---- a handle */

enum livestereo_level {
    LIVESTEREO_LOG_ERROR,
    LIVESTEREO_LOG_WARNING,
    LIVESTEREO_LOG_INFO,
    LIVESTEREO_LOG_DEBUG
};

struct livestereo_options {
    size_t size;
    int width, height; /* of the pictures, 2 to 16384 px a side */
    enum livestereo_format format;
    /* Where the pictures are not rectified: a rig, of which the library makes tables, or tables of
     * the caller's. Both NULL: the pictures are rectified. They are copied. */
    const struct livestereo_rig *rig;
    const struct livestereo_remap *remap;       /* 2, left and right, of one size */
    const struct livestereo_geometry *geometry; /* for depth, without rig; NULL: not known */
    double alpha; /* with rig: 0 keeps valid pixels only, 1 all pixels (OpenCV's stereoRectify) */
    /* Gets messages up to this level, one sentence each, while a function of this handle runs. It
     * must not call the library. NULL: none. */
    void (*log)(void *context, enum livestereo_level level, const char *message);
    void *log_context;
    enum livestereo_level log_level;
    int sequence; /* 1: frames follow one another, so that temporal_mode=auto averages them, which
                     livestereo_forget() begins anew after a cut; 0: temporal_mode=auto is off */
    uint64_t reserved[8];
};
static inline struct livestereo_options livestereo_options_init(int width, int height,
                                                                enum livestereo_format format) {
    struct livestereo_options value;
    memset(&value, 0, sizeof(value));
    value.size = sizeof(value);
    value.width = width;
    value.height = height;
    value.format = format;
    return value;
}
#ifdef __cplusplus
#define LIVESTEREO_OPTIONS(width_, height_, format_) \
    livestereo_options_init((width_), (height_), (format_))
#else
#define LIVESTEREO_OPTIONS(width_, height_, format_)                                       \
    {                                                                                      \
        .size = sizeof(struct livestereo_options), .width = (width_), .height = (height_), \
        .format = (format_)                                                                \
    }
#endif

/* Opens a pipeline and allocates its memory. *stereo is NULL on failure, and
 * livestereo_error(NULL) has the sentence. -ENODEV: backend=cuda and no usable GPU. -ENOSPC: memory
 * is limited by the parameter memory to too little. -EAGAIN: no more threads can be started. A rig
 * that is not metric is warned of, since there is no depth then. */
LIVESTEREO_API int livestereo_open(struct livestereo **stereo,
                                   const struct livestereo_settings *settings,
                                   const struct livestereo_options *options);

/* Sets the parameters of the frames started from now on, those at_open excepted. Values that
 * exclude each other, or that do not fit the pictures, and another mode are -EINVAL, and the
 * earlier ones stay. */
LIVESTEREO_API int livestereo_update(struct livestereo *stereo,
                                     const struct livestereo_settings *settings);

/* A pair of pictures and where its maps go. With mode=motion, left is the earlier picture of one
 * camera and right the later one. An output whose data is NULL is not wanted. All outputs have the
 * size that livestereo_get_info() gives. */
struct livestereo_frame {
    size_t size;
    struct livestereo_image left, right;  /* in: of the size and format of livestereo_open() */
    struct livestereo_image disparity;    /* out: DISP16 or PX32F; with mode=stereo */
    struct livestereo_image confidence;   /* out: CONF8 */
    struct livestereo_image motion;       /* out: FLOW16; with mode=motion */
    struct livestereo_image rectified[2]; /* out: GRAY8 if the input is, else RGB8 */
    /* With temporal_mode=on, or auto in a sequence, a frame depends on the one before it if its
     * number is higher by 1 to 8, and on none otherwise. */
    int64_t number;
    /* A cudaStream_t, or NULL for the default stream. With CUDA memory the frame begins after the
     * work that is in this stream when livestereo_start() is called, and work that is put into it
     * later waits for the results. */
    void *stream;
    /* Out, with mode=stereo and a geometry in metres (else -ENOTSUP): MM16 or M32F, and XYZ32F.
     * Where the confidence is below min_confidence both are unknown. */
    struct livestereo_image depth, points;
    int min_confidence; /* 0 to 255 */
    uint64_t reserved[8];
};
LIVESTEREO_SIZED_INIT(livestereo_frame)
#define LIVESTEREO_FRAME LIVESTEREO_SIZED(livestereo_frame)

/* Begins a frame and returns; with the CPU backend it returns when the frame is done. The memory of
 * all images belongs to the library until livestereo_wait() has returned for this frame; with CUDA
 * memory, work in the frame's stream may use it before that. With a GPU, pictures in memory that is
 * not page-locked (livestereo_alloc()) are copied before it returns. -EINVAL: a size, format or
 * pointer is wrong; -EBUSY: as many frames are in flight as livestereo_get_info() allows. */
LIVESTEREO_API int livestereo_start(struct livestereo *stereo,
                                    const struct livestereo_frame *frame);

enum livestereo_stage { /* parts of a frame that are timed */
                        LIVESTEREO_UPLOAD,
                        LIVESTEREO_RECTIFY,
                        LIVESTEREO_SMOOTH,
                        LIVESTEREO_COST,
                        LIVESTEREO_AGGREGATE,
                        LIVESTEREO_BP,
                        LIVESTEREO_WTA,
                        LIVESTEREO_CHECK,
                        LIVESTEREO_REFINE,
                        LIVESTEREO_DOWNLOAD
};
enum { LIVESTEREO_MAX_STAGES = 32 }; /* more than there are */

/* "cost", "bp"; NULL behind the last one, which a later version may have more of. */
LIVESTEREO_API const char *livestereo_stage_name(enum livestereo_stage stage);

struct livestereo_result {
    size_t size;
    double ms; /* from the start to the end of the frame, whenever that is waited for */
    /* The time of each stage, both views added up; stages that ran beside each other share the
     * time that they took together. A GPU measures them in some frames, and the others have the
     * times of up to 30 frames before. */
    double stage_ms[LIVESTEREO_MAX_STAGES];
    double left_bp_ms; /* belief propagation of the left view, from its start to its end */
    /* With bp_fast_converging: share of tiles that each half-step of the finest level updated. */
    int half_steps;
    float updated[64];
    uint64_t reserved[8];
};
LIVESTEREO_SIZED_INIT(livestereo_result)
#define LIVESTEREO_RESULT LIVESTEREO_SIZED(livestereo_result)

/* Waits for the oldest frame in flight. result may be NULL. 0 or the frame's error; -EINVAL: no
 * frame is in flight. Where backend=auto chose a GPU and it is lost, the frames in flight are
 * computed again by the CPU if their memory is the host's; livestereo_get_info() says so. */
LIVESTEREO_API int livestereo_wait(struct livestereo *stereo, struct livestereo_result *result);

/* The same for at most so long: -ETIMEDOUT where the frame is not done then; it stays in flight.
 * timeout_ms 0 only looks. */
LIVESTEREO_API int livestereo_wait_for(struct livestereo *stereo, double timeout_ms,
                                       struct livestereo_result *result);

/* Makes the next frame independent of earlier ones, as after a cut. */
LIVESTEREO_API int livestereo_forget(struct livestereo *stereo);

/* With mode=motion: pixels of a GRAY8 image, of the size of the maps, that are above 127 have no
 * data cost. The image is copied; NULL removes it. -EBUSY: a frame is in flight. With -EBUSY,
 * -EINVAL and -ENOMEM the earlier mask stays. */
LIVESTEREO_API int livestereo_set_mask(struct livestereo *stereo,
                                       const struct livestereo_image *mask);

struct livestereo_info {
    size_t size;
    const char *backend;  /* "cpu (avx2, 2 threads)", "cuda (NVIDIA H200)" */
    int width, height;    /* of the maps */
    int labels;           /* per pixel */
    int is_resampled[2];  /* 1: the picture of a side is resampled; 0: the rectified one is it */
    int frames_in_flight; /* how many may be started before one is waited for: 1 or 2 */
    int gpu_lost;         /* 1: a GPU was lost and the CPU computes since */
    size_t memory;        /* bytes that frames take on the device */
    int has_geometry;     /* 1: geometry is set */
    struct livestereo_geometry geometry;
    enum livestereo_backend kind; /* of backend */
    int min_disparity;            /* px, the first disparity; labels - 1 more is the last one */
    /* The largest part of the maps in which each pixel shows something of the left picture. Pixels
     * that do not, which there are with alpha or tables that reach beyond it, are unknown. */
    int valid_x, valid_y, valid_width, valid_height;
    double rotation[2][9]; /* with a rig: from each camera's frame to the rectified one; else 0 */
    uint64_t reserved[8];
};
LIVESTEREO_SIZED_INIT(livestereo_info)
#define LIVESTEREO_INFO LIVESTEREO_SIZED(livestereo_info)

/* The texts are valid until the next call with this handle. */
LIVESTEREO_API int livestereo_get_info(struct livestereo *stereo, struct livestereo_info *info);

/* Depth (MM16 or M32F) of a disparity map (DISP16) of the same size, both in host memory, as it
 * comes with a frame. -ENOTSUP: the baseline is not in metres. livestereo_error(NULL) has the
 * sentence. */
LIVESTEREO_API int livestereo_depth(const struct livestereo_geometry *geometry,
                                    const struct livestereo_image *disparity,
                                    const struct livestereo_image *depth);

/* The points of a disparity map that lie no farther than farthest (metres; 0: all): 6 floats each,
 * x y z in metres, red green blue 0 to 255, row by row, at most max points at xyzrgb. color: a
 * GRAY8 or RGB8 image of that size, or NULL. *count gets their number. Errors as
 * livestereo_depth(). */
LIVESTEREO_API int livestereo_points(const struct livestereo_geometry *geometry,
                                     const struct livestereo_image *disparity,
                                     const struct livestereo_image *color, double farthest,
                                     float *xyzrgb, size_t max, size_t *count);

enum { LIVESTEREO_MAX_LABELS = 512 };

/* The numbers that the last frame computed at one pixel. */
struct livestereo_probe {
    size_t size;
    int label, labels; /* the label chosen; how many there are */
    /* Label l stands for the disparity u + l px; with mode=motion for the motion u + l % u_count *
     * step, v + l / u_count * step px. */
    double u, v, step;
    int u_count, v_count;
    double cost[LIVESTEREO_MAX_LABELS],
        belief[LIVESTEREO_MAX_LABELS]; /* in the papers' units; lower is better, and
                                          INFINITY where a label was pruned */
    uint64_t reserved[8];
};
LIVESTEREO_SIZED_INIT(livestereo_probe)
#define LIVESTEREO_PROBE LIVESTEREO_SIZED(livestereo_probe)

/* -EBUSY: a frame is in flight. -ENOTSUP: the frame was computed in blocks, which keep no costs. */
LIVESTEREO_API int livestereo_get_probe(struct livestereo *stereo, int x, int y,
                                        struct livestereo_probe *probe);

/* The energy of the last frame's labels before refinement, in the papers' units. Errors as
 * livestereo_get_probe(). */
LIVESTEREO_API int livestereo_energy(struct livestereo *stereo, double *energy);

/* ---- a labelling problem of the caller's own, without a handle */

enum livestereo_number { LIVESTEREO_UINT8, LIVESTEREO_UINT16, LIVESTEREO_FLOAT32 };

enum livestereo_smoothness {
    LIVESTEREO_LINEAR,    /* V(l, m) = min(lambda |l - m|, truncation) */
    LIVESTEREO_QUADRATIC, /* V(l, m) = min(lambda (l - m)^2, truncation) */
    LIVESTEREO_POTTS,     /* V(l, m) = lambda where l and m differ, else 0 */
    LIVESTEREO_TABLE      /* V(l, m) = lambda table[l * labels + m] */
};

/* E(l) = sum_p D_p(l_p) + sum_(p,q) w_pq V(l_p, l_q) over the pixels p of a grid and their
 * horizontal and vertical neighbours; of an edge, p is the left or the upper pixel.
 *
 * It is solved by sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006) on the CPU,
 * with whole multiples of a power of two, the largest with which no number exceeds 2^26, to which
 * other numbers are rounded down; costs that exceed their pixel's least one by 1024 times the
 * largest V count as that much.
 * Energies are of the numbers themselves, and no labels have less than the bound. */
struct livestereo_problem {
    size_t size;
    int width, height, labels; /* 1 to 16384 px a side, 2 to LIVESTEREO_MAX_LABELS labels */
    enum livestereo_number number;
    const void *cost; /* D of pixel (x, y) and label l, finite, at cost + y * row_bytes + x *
                         pixel_bytes + l * label_bytes, in any order of the three */
    ptrdiff_t row_bytes, pixel_bytes, label_bytes; /* multiples of a number's bytes */
    enum livestereo_smoothness smoothness;
    double lambda, truncation;   /* 0 or more; truncation 0: V is not truncated */
    const float *table;          /* labels * labels, finite, 0 or more; of TABLE alone */
    const uint8_t *right, *down; /* w of the edge from a pixel to its right or lower neighbour,
                                    width * height each, row by row; NULL: 1. Those of the last
                                    column or row are not read */
    int sweeps;                  /* at most, 1 or more, over all pixels forwards and backwards */
    /* Gets energy and bound after each sweep. Another return than 0 ends the work, with the labels
     * so far. It must not call the library. NULL: none. */
    int (*after_sweep)(void *context, int sweep, double energy, double bound);
    void *context;
};
LIVESTEREO_SIZED_INIT(livestereo_problem)
#define LIVESTEREO_PROBLEM LIVESTEREO_SIZED(livestereo_problem)

struct livestereo_solution {
    size_t size;
    uint16_t *label; /* in: memory for width * height labels, row by row */
    double energy;   /* of the labels, in the units of the costs */
    double bound;    /* no labels have less energy */
    int sweeps;      /* done */
    uint64_t reserved[4];
};
LIVESTEREO_SIZED_INIT(livestereo_solution)
#define LIVESTEREO_SOLUTION LIVESTEREO_SIZED(livestereo_solution)

/* Finds labels of low energy. -EINVAL: the problem is none, or its smoothness so much larger
 * than its costs that 27 bits do not hold both; -ENOMEM. livestereo_error(NULL) has the sentence.
 */
LIVESTEREO_API int livestereo_solve(const struct livestereo_problem *problem,
                                    struct livestereo_solution *solution);

/* The message of the last call that failed on this handle, "" before; one sentence without a
 * newline, valid until the next call with it. NULL: that of the last call that failed in this
 * thread and had no handle. */
LIVESTEREO_API const char *livestereo_error(const struct livestereo *stereo);

/* Waits for frames in flight, frees everything and sets *stereo to NULL; NULL inside is fine. */
LIVESTEREO_API void livestereo_close(struct livestereo **stereo);

#ifdef __cplusplus
}
#endif

#endif
