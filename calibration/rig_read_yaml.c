/*
 * Rig files in YAML, of which JSON is a part: OpenCV's (one file, or intrinsics and extrinsics),
 * ROS camera_info pairs, Kalibr's camchain. The keys say which it is. The first refusal counts:
 * what is read after it, zeros or not, is thrown away. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig_private.h"
#include "calibration/yaml_tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct trees {
    struct rig_reading *in;
    struct yaml_tree tree[2];
    int count;
};

/* Looks in both files; *file gets the number of the one that has it. */
static yaml_node_t *find(struct trees *t, const char *const *keys, int *file) {
    for (int i = 0; i < t->count; i++) {
        yaml_node_t *node = yaml_find_any(&t->tree[i], t->tree[i].root, keys);
        if (node) {
            *file = i;
            return node;
        }
    }
    *file = 0;
    return NULL;
}

/* Exactly count numbers; zeros after a refusal. what: its name in that. */
static void take(struct trees *t, int file, yaml_node_t *node, const char *what, double *out,
                 int count) {
    if (count == 1 ? yaml_number(node, out)
                   : yaml_numbers(&t->tree[file], node, out, count) == count)
        return;
    memset(out, 0, (size_t)count * sizeof *out);
    if (node)
        rig_refuse(t->in, file, "%s: %d number%s expected", what, count, count > 1 ? "s" : "");
    else
        rig_refuse(t->in, file, "%s: is missing", what);
}

/* The same of a key that must be there. The file that has it. */
static int need(struct trees *t, const char *const *keys, double *out, int count) {
    int file;
    yaml_node_t *node = find(t, keys, &file);
    take(t, file, node, keys[0], out, count);
    return file;
}

static void set_matrix(struct trees *t, int file, const char *key, const double m[9],
                       struct camera *c) {
    if (!matrix_is_projection(m, 3))
        rig_refuse(t->in, file, "%s: is not [fx 0 cx; 0 fy cy; 0 0 1]", key);
    c->fx = m[0];
    c->cx = m[2];
    c->fy = m[4];
    c->cy = m[5];
}

#define MAX_TANGENTIAL 0.02 /* of p1, p2; those of real lenses are a tenth of it */

/* Four coefficients without the name of a model: radtan's or a fisheye's. */
static void doubt(struct trees *t, int file, const char *key, const double *k) {
    t->in->doubtful = key;
    if (fabs(k[2]) > MAX_TANGENTIAL || fabs(k[3]) > MAX_TANGENTIAL)
        rig_refuse(t->in, file,
                   "%s: four numbers without a lens model, and no lens has p1 p2 as large as "
                   "%.3g %.3g; write distortion_model: fisheye (or radtan) into the file",
                   key, k[2], k[3]);
}

/* Coefficients k[0..count-1]; model is the file's word for it, NULL where their count decides: four
 * of a fisheye then look like k1 k2 p1 p2. */
static void set_distortion(struct trees *t, int file, const char *key, const char *model,
                           const double *k, int count, struct camera *c) {
    static const struct {
        const char *word;
        enum distortion distortion;
        int max;
    } words[] = {{"plumb_bob", DISTORTION_RADTAN, 5},
                 {"radtan", DISTORTION_RADTAN, 5},
                 {"rational_polynomial", DISTORTION_RATIONAL, 8},
                 {"rational", DISTORTION_RATIONAL, 8},
                 {"equidistant", DISTORTION_FISHEYE, 4},
                 {"fisheye", DISTORTION_FISHEYE, 4},
                 {"none", DISTORTION_NONE, 0}};
    const char *word = model && *model ? model : "radtan";
    int max = -1;
    for (size_t i = 0; i < sizeof words / sizeof *words && max < 0; i++)
        if (strcmp(word, words[i].word) == 0) {
            c->distortion = words[i].distortion;
            max = words[i].max;
        }
    if (c->distortion == DISTORTION_RADTAN && count > max) {
        c->distortion = DISTORTION_RATIONAL;
        max = 8;
    }
    if (max < 0)
        rig_refuse(t->in, file,
                   "distortion model '%.40s': known are radtan (plumb_bob), "
                   "rational (rational_polynomial), fisheye (equidistant), none",
                   model);
    memset(c->k, 0, sizeof c->k);
    bool flat = true;
    for (int i = 0; i < count; i++) {
        if (i < max)
            c->k[i] = k[i];
        else if (k[i] != 0)
            rig_refuse(t->in, file,
                       "%s: coefficient %d is not 0; models with thin prisms or a "
                       "tilted sensor are not known here",
                       key, i + 1);
        flat &= k[i] == 0;
    }
    if (flat && c->distortion != DISTORTION_FISHEYE)
        c->distortion = DISTORTION_NONE;
    if (word != model && count == 4 && !flat)
        doubt(t, file, key, k);
}

/* Up to 14 coefficients. How many. */
static int take_lens(struct trees *t, int file, yaml_node_t *node, const char *key, double k[14]) {
    int count = yaml_numbers(&t->tree[file], node, k, 14);
    if (count >= 0 && count <= 14)
        return count;
    rig_refuse(t->in, file, "%s: up to 14 numbers expected", key);
    return 0;
}

/* The counts that OpenCV and Kalibr write. */
static void check_count(struct trees *t, int file, const char *key, int count) {
    if (count != 4 && count != 5 && count != 8 && count != 12 && count != 14)
        rig_refuse(t->in, file, "%s: 4, 5 or 8 numbers expected", key);
}

static const char *text_of(struct trees *t, const char *key) {
    int file;
    const char *const keys[] = {key, NULL};
    return yaml_text(find(t, keys, &file));
}

/* ---- OpenCV */

static const char *const opencv_matrix[2][5] = {{"M1", "cameraMatrix1", "camera_matrix_1", "K1"},
                                                {"M2", "cameraMatrix2", "camera_matrix_2", "K2"}};
static const char *const opencv_lens[2][4] = {{"D1", "distCoeffs1", "distortion_coefficients_1"},
                                              {"D2", "distCoeffs2", "distortion_coefficients_2"}};

static void opencv_size(struct trees *t, struct camera *c) {
    static const char *const sizes[] = {"image_size", "imageSize", NULL};
    static const char *const sides[2][4] = {
        {"image_width", "imageWidth", "imageSize_width", NULL},
        {"image_height", "imageHeight", "imageSize_height", NULL}};
    double size[2];
    int file;
    if (find(t, sides[0], &file) || find(t, sides[1], &file))
        for (int i = 0; i < 2; i++)
            need(t, sides[i], &size[i], 1);
    else if (find(t, sizes, &file))
        need(t, sizes, size, 2);
    else
        return;
    rig_take_size(t->in, file, "image_width, image_height", size, c);
}

static void opencv_camera(struct trees *t, int v, struct camera *c) {
    enum distortion given = t->in->options.model;
    double m[9], k[14];
    int file = need(t, opencv_matrix[v], m, 9);
    set_matrix(t, file, opencv_matrix[v][0], m, c);
    yaml_node_t *lens = find(t, opencv_lens[v], &file);
    if (lens) {
        int count = take_lens(t, file, lens, opencv_lens[v][0], k);
        if (count > 0)
            check_count(t, file, opencv_lens[v][0], count);
        set_distortion(t, file, opencv_lens[v][0],
                       given ? distortion_names[given] : text_of(t, "distortion_model"), k, count,
                       c);
    }
    opencv_size(t, c);
}

/* R1 R2 P1 P2: all four or none. */
static void opencv_rectification(struct trees *t, struct rig *rig) {
    static const char *const keys[4][2] = {{"R1"}, {"R2"}, {"P1"}, {"P2"}};
    int file;
    for (int i = 0; i < 4; i++)
        rig->has_rectification |= find(t, keys[i], &file) != NULL;
    for (int v = 0; v < 2 && rig->has_rectification; v++) {
        need(t, keys[v], rig->rotation[v], 9);
        need(t, keys[2 + v], rig->projection[v], 12);
    }
}

static void opencv_unit(struct trees *t) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}, {"unknown", 0}};
    static const char *const key[] = {"baseline_unit", NULL};
    int file;
    if (!find(t, key, &file))
        return;
    const char *text = text_of(t, key[0]);
    for (size_t i = 0; text && i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].name) == 0) {
            t->in->unit = units[i].metres;
            return;
        }
    rig_refuse(t->in, file, "baseline_unit: m, cm, mm or unknown expected");
}

static void read_opencv(struct trees *t, struct rig *rig) {
    static const char *const r[] = {"R", NULL}, *const tr[] = {"T", NULL};
    static const char *const rms[] = {"rms", "rms_stereo", NULL};
    int file;
    double turn[9], x;
    for (int v = 0; v < 2; v++)
        opencv_camera(t, v, &rig->camera[v]);
    if (!find(t, tr, &file) && t->count == 1)
        rig_refuse(t->in, 0, "T: is missing; give the extrinsics file too");
    need(t, tr, rig->T, 3);
    yaml_node_t *node = find(t, r, &file);
    int count = yaml_numbers(&t->tree[file], node, turn, 9);
    if (count == 9)
        memcpy(rig->R, turn, sizeof turn);
    else if (count == 3 && fabs(turn[0]) + fabs(turn[1]) + fabs(turn[2]) < 10)
        rotation_from_vector(turn, rig->R);
    else
        rig_refuse(t->in, file, "R: nine numbers (or a rotation vector's three) expected");
    opencv_rectification(t, rig);
    opencv_unit(t);
    if (yaml_number(yaml_find(&t->tree[0], t->tree[0].root, "rectified"), &x))
        rig->rectified = x != 0;
    if (yaml_number(find(t, rms, &file), &x))
        rig->rms = x;
}

/* ---- ROS */

enum ros_key { ROS_K, ROS_D, ROS_R, ROS_P, ROS_WIDTH, ROS_HEIGHT, ROS_KEYS };

/* As files name what a camera_info holds, messages of ROS 2 and of ROS 1, and, behind LEFT. and
 * RIGHT., ORB_SLAM's settings. */
static const char *const ros_keys[ROS_KEYS][5] = {
    {"camera_matrix", "k", "K", "LEFT.K", "RIGHT.K"},
    {"distortion_coefficients", "d", "D", "LEFT.D", "RIGHT.D"},
    {"rectification_matrix", "r", "R", "LEFT.R", "RIGHT.R"},
    {"projection_matrix", "p", "P", "LEFT.P", "RIGHT.P"},
    {"image_width", "width", NULL, "LEFT.width", "RIGHT.width"},
    {"image_height", "height", NULL, "LEFT.height", "RIGHT.height"}};

static yaml_node_t *ros_find(struct yaml_tree *tree, int v, enum ros_key key) {
    const char *const keys[] = {ros_keys[key][3 + v], ros_keys[key][0], ros_keys[key][1],
                                ros_keys[key][2], NULL};
    return yaml_find_any(tree, tree->root, keys);
}

/* Each camera has a file of its own, but in ORB_SLAM's settings. */
static struct yaml_tree *ros_tree(struct trees *t, int v) {
    return &t->tree[t->count > 1 ? v : 0];
}

static void ros_need(struct trees *t, int v, enum ros_key key, double *out, int count) {
    struct yaml_tree *tree = ros_tree(t, v);
    take(t, (int)(tree - t->tree), ros_find(tree, v, key), ros_keys[key][0], out, count);
}

/* Lens and size. */
static void ros_lens(struct trees *t, int v, struct rig *rig) {
    struct yaml_tree *tree = ros_tree(t, v);
    struct camera *c = &rig->camera[v];
    double m[9], k[14], size[2];
    const char *model = yaml_text(yaml_find(tree, tree->root, "distortion_model"));
    int file = (int)(tree - t->tree);
    ros_need(t, v, ROS_K, m, 9);
    set_matrix(t, file, ros_keys[ROS_K][0], m, c);
    int count = take_lens(t, file, ros_find(tree, v, ROS_D), ros_keys[ROS_D][0], k);
    set_distortion(t, file, ros_keys[ROS_D][0], model && *model ? model : "plumb_bob", k, count, c);
    ros_need(t, v, ROS_WIDTH, &size[0], 1);
    ros_need(t, v, ROS_HEIGHT, &size[1], 1);
    rig_take_size(t->in, file, "image_width, image_height", size, c);
}

static double ros_number(struct yaml_tree *tree, yaml_node_t *node, const char *key) {
    double x = 0;
    yaml_number(yaml_find(tree, node, key), &x);
    return x;
}

/* REP 104: K, P and the size are those of the whole sensor; the pictures are its region of interest
 * (none: all of it), binned. do_rectify does not change that. */
static void ros_region(struct trees *t, int v, struct rig *rig) {
    struct yaml_tree *tree = ros_tree(t, v);
    yaml_node_t *roi = yaml_find(tree, tree->root, "roi");
    struct camera *c = &rig->camera[v];
    double *p = rig->projection[v];
    double left = ros_number(tree, roi, "x_offset"), top = ros_number(tree, roi, "y_offset");
    double width = ros_number(tree, roi, "width"), height = ros_number(tree, roi, "height");
    double by_x = fmax(ros_number(tree, tree->root, "binning_x"), 1);
    double by_y = fmax(ros_number(tree, tree->root, "binning_y"), 1);
    bool whole = width == 0 && height == 0 && left == 0 && top == 0;
    if (whole) {
        width = c->width;
        height = c->height;
    }
    if (!(left >= 0 && top >= 0 && left + width <= c->width && top + height <= c->height))
        rig_refuse(t->in, v, "roi: %g, %g, %g x %g is no part of the sensor's %d x %d", left, top,
                   width, height, c->width, c->height);
    if (whole && by_x == 1 && by_y == 1)
        return;
    rig_take_size(t->in, v, "roi, binning", (double[2]){floor(width / by_x), floor(height / by_y)},
                  c);
    int w = t->in->options.width, h = t->in->options.height;
    if (w > 0 && (w != c->width || h != c->height))
        rig_refuse(t->in, v,
                   "roi, binning: they leave %d x %d of the sensor, but the pictures are "
                   "%d x %d; record pictures and camera_info of one setting",
                   c->width, c->height, w, h);
    c->cx = (c->cx - left + 0.5) / by_x - 0.5;
    c->cy = (c->cy - top + 0.5) / by_y - 0.5;
    c->fx /= by_x;
    c->fy /= by_y;
    p[2] = (p[2] - left + 0.5) / by_x - 0.5;
    p[6] = (p[6] - top + 0.5) / by_y - 0.5;
    p[0] /= by_x;
    p[3] /= by_x;
    p[5] /= by_y;
}

static void ros_camera(struct trees *t, int v, struct rig *rig) {
    ros_lens(t, v, rig);
    ros_need(t, v, ROS_R, rig->rotation[v], 9);
    ros_need(t, v, ROS_P, rig->projection[v], 12);
    if (!(rig->projection[v][0] > 0))
        rig_refuse(t->in, v, "projection_matrix: focal length %g", rig->projection[v][0]);
    ros_region(t, v, rig);
}

static void read_ros(struct trees *t, struct rig *rig) {
    bool both = yaml_find(&t->tree[0], t->tree[0].root, ros_keys[ROS_K][4]) != NULL;
    if (t->count == 1 && !both && t->in->options.one_camera) {
        ros_lens(t, 0, rig);
        ros_region(t, 0, rig);
        rig_make_one_camera(rig);
        return;
    }
    if (t->count != (both ? 1 : 2))
        rig_refuse(t->in, 0,
                   both ? "holds both cameras; give no other file"
                        : "holds one camera; give the left camera's file and the right's");
    for (int v = 0; v < 2; v++)
        ros_camera(t, v, rig);
    rig->has_rectification = 1;
    t->in->unit = 1; /* REP 103 */
    rig_pose_from_rectification(rig);
    const double *l = rig->projection[0], *r = rig->projection[1];
    if (l[3] < 0 && r[3] == 0 && !t->in->options.exchanged)
        rig_refuse(t->in, 0,
                   "projection_matrix: its fourth number, -fx * baseline, is %g: it is the right "
                   "camera's; give the left camera's first, or exchange the pictures where they "
                   "are, too",
                   l[3]);
    if (rig_baseline(rig) >= 1e-6)
        return;
    if (r[7] != 0)
        rig_refuse(t->in, t->count - 1,
                   "projection_matrix: holds a baseline along the columns: the cameras stand one "
                   "above the other; turn the pictures by 90 degrees before calibrating");
    if (r[3] == 0)
        rig_refuse(t->in, t->count - 1,
                   "projection_matrix: its fourth number is 0; it holds "
                   "-fx * baseline in the right camera's file (calibrate as a stereo pair)");
    rig_refuse(t->in, t->count - 1,
               "projection_matrix: its fourth number, -fx * baseline, is %g in the left "
               "camera's file too, where it must be 0: both are the right camera's",
               l[3]);
}

/* ---- Kalibr */

static void kalibr_camera(struct trees *t, yaml_node_t *node, const char *name, struct camera *c) {
    struct yaml_tree *tree = &t->tree[0];
    double m[4], k[14], size[2];
    char what[40];
    const char *model = yaml_text(yaml_find(tree, node, "camera_model"));
    const char *lens = yaml_text(yaml_find(tree, node, "distortion_model"));
    int count = 0;
    if (model && strcmp(model, "pinhole") != 0)
        rig_refuse(t->in, 0, "%s: camera_model %.40s: only pinhole is known here", name, model);
    snprintf(what, sizeof what, "%s: intrinsics", name);
    take(t, 0, yaml_find(tree, node, "intrinsics"), what, m, 4);
    snprintf(what, sizeof what, "%s: resolution", name);
    take(t, 0, yaml_find(tree, node, "resolution"), what, size, 2);
    yaml_node_t *given = yaml_find(tree, node, "distortion_coeffs");
    bool has_lens = lens && strcmp(lens, "none") != 0;
    snprintf(what, sizeof what, "%s: distortion_coeffs", name);
    if (!lens)
        rig_refuse(t->in, 0, "%s: distortion_model: is missing", name);
    if (given || has_lens)
        count = take_lens(t, 0, given, what, k);
    if (has_lens)
        check_count(t, 0, what, count);
    *c = (struct camera){.fx = m[0], .fy = m[1], .cx = m[2], .cy = m[3]};
    set_distortion(t, 0, "distortion_coeffs", lens, k, count, c);
    rig_take_size(t->in, 0, "resolution", size, c);
}

static void read_kalibr(struct trees *t, struct rig *rig) {
    struct yaml_tree *tree = &t->tree[0];
    yaml_node_t *right = yaml_find(tree, tree->root, "cam1");
    double pose[16];
    if (t->count > 1)
        rig_refuse(t->in, 1, "is one file too many: %s holds both cameras", t->in->files[0].name);
    if (!right)
        rig_refuse(t->in, 0, "cam1: is missing; it holds one camera only");
    kalibr_camera(t, yaml_find(tree, tree->root, "cam0"), "cam0", &rig->camera[0]);
    kalibr_camera(t, right, "cam1", &rig->camera[1]);
    take(t, 0, yaml_find(tree, right, "T_cn_cnm1"), "cam1: T_cn_cnm1", pose, 16);
    for (int i = 0; i < 3; i++) { /* the upper rows */
        memcpy(rig->R + 3 * i, pose + 4 * i, 3 * sizeof *pose);
        rig->T[i] = pose[4 * i + 3];
    }
    t->in->unit = 1;
}

/* ---- which of them it is */

#define WRITE_OPENCV                                                                           \
    "write one file of OpenCV's form: M1 D1 M2 D2 of its cameras, and R T, which take points " \
    "of the left one to the right one"

static void read_trees(struct trees *t, struct rig *rig) {
    static const char *const k[] = {"k", "K", NULL}, *const p[] = {"p", "P", NULL};
    static const struct {
        const char *keys[5];
        void (*read)(struct trees *t, struct rig *rig); /* or */
        const char *refusal;
    } kinds[] = {{{"M1", "cameraMatrix1", "camera_matrix_1", "K1"}, read_opencv, NULL},
                 {{"M2", "cameraMatrix2", "camera_matrix_2", "K2"}, read_opencv, NULL},
                 {{"camera_matrix", "LEFT.K"}, read_ros, NULL},
                 {{"cam0", "cam1"}, read_kalibr, NULL},
                 {{"body_T_cam0", "projection_parameters", "value0", "Camera1.fx"},
                  NULL,
                  "is that of a SLAM program (VINS, Basalt, ORB_SLAM); " WRITE_OPENCV},
                 {{"cameraData"}, NULL, "is DepthAI's; " WRITE_OPENCV},
                 {{"T", "R"}, NULL, "holds no cameras (M1, M2); give the intrinsics file too"}};
    int file;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool messages = kinds[i].read == read_ros && find(t, k, &file) && find(t, p, &file);
        if (!find(t, kinds[i].keys, &file) && !messages)
            continue;
        if (kinds[i].read)
            kinds[i].read(t, rig);
        else
            rig_refuse(t->in, file, "%s", kinds[i].refusal);
        return;
    }
    rig_refuse(t->in, 0,
               "is no calibration that is known here: no M1 (OpenCV), camera_matrix (ROS) or cam0 "
               "(Kalibr)");
}

static int open_tree(struct trees *t, int i) {
    struct rig_reading *in = t->in;
    const struct rig_text *file = &in->files[i];
    size_t blank = 0;
    while (blank < file->length && strchr(" \t\r\n", file->text[blank]))
        blank++;
    in->at = i;
    if (blank < file->length && file->text[blank] == '<')
        return rig_refuse(in, i,
                          "is XML; write it as YAML, as OpenCV's FileStorage does where the name "
                          "ends in .yml");
    return yaml_tree_open(&t->tree[i], file->text, file->length, in->why, sizeof in->why);
}

int rig_read_yaml(struct rig_reading *in, struct rig *rig) {
    struct trees t = {.in = in};
    int error = 0;
    for (int i = 0; i < in->count && !error; i++) {
        error = open_tree(&t, i);
        t.count += !error;
    }
    if (!error) {
        in->at = 0;
        read_trees(&t, rig);
        for (int i = 0; i < t.count; i++)
            if (t.tree[i].twice)
                rig_refuse(in, i, "%s: stands there twice", t.tree[i].twice);
        error = in->refused ? -EBADMSG : 0;
    }
    while (t.count > 0)
        yaml_tree_close(&t.tree[--t.count]);
    return error;
}
