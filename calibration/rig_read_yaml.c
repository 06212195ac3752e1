/*
 * Rig files in YAML, of which JSON is a part: OpenCV's (one file, or intrinsics and extrinsics;
 * also its XML), ROS camera_info pairs, Kalibr's camchain, ORB_SLAM's settings, DepthAI's
 * calibration of OAK cameras. The keys say which it is. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig_private.h"
#include "calibration/yaml_tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Exactly count numbers of a key that must be there. */
static int need(struct trees *t, const char *const *keys, double *out, int count) {
    int file;
    yaml_node_t *node = find(t, keys, &file);
    if (!node)
        return rig_refuse(t->in, file, "%s: is missing", keys[0]);
    if (yaml_numbers(&t->tree[file], node, out, count) != count)
        return rig_refuse(t->in, file, "%s: %d numbers expected", keys[0], count);
    return 0;
}

static int set_matrix(struct trees *t, int file, const char *key, const double m[9],
                      struct camera *c) {
    if (m[1] != 0 || m[3] != 0 || m[6] != 0 || m[7] != 0 || m[8] != 1)
        return rig_refuse(t->in, file, "%s: is not [fx 0 cx; 0 fy cy; 0 0 1]", key);
    c->fx = m[0];
    c->cx = m[2];
    c->fy = m[4];
    c->cy = m[5];
    return 0;
}

#define MAX_TANGENTIAL 0.02 /* of p1, p2; those of real lenses are a tenth of it */

/* Four coefficients without the name of a model: radtan's or a fisheye's. */
static int doubt(struct trees *t, int file, const char *key, const double *k) {
    if (fabs(k[2]) <= MAX_TANGENTIAL && fabs(k[3]) <= MAX_TANGENTIAL) {
        t->in->doubtful = key;
        return 0;
    }
    return rig_refuse(t->in, file,
                      "%s: four numbers without a lens model, and no lens has p1 p2 as large as "
                      "%.3g %.3g; write distortion_model: fisheye (or radtan) into the file",
                      key, k[2], k[3]);
}

/* Coefficients k[0..count-1]; model is the file's word for it, NULL where their count tells: four
 * of a fisheye cannot be told from k1 k2 p1 p2 then. */
static int set_distortion(struct trees *t, int file, const char *key, const char *model,
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
        return rig_refuse(t->in, file,
                          "distortion model '%.40s': known are radtan (plumb_bob), "
                          "rational (rational_polynomial), fisheye (equidistant), none",
                          model);
    memset(c->k, 0, sizeof c->k);
    for (int i = 0; i < count; i++) {
        if (i < max)
            c->k[i] = k[i];
        else if (k[i] != 0)
            return rig_refuse(t->in, file,
                              "%s: coefficient %d is not 0; models with thin prisms or a "
                              "tilted sensor are not known here",
                              key, i + 1);
    }
    int flat = 1;
    for (int i = 0; i < 8; i++)
        flat &= c->k[i] == 0;
    if (flat && c->distortion != DISTORTION_FISHEYE)
        c->distortion = DISTORTION_NONE;
    return word == model || count != 4 || flat ? 0 : doubt(t, file, key, k);
}

static int set_size(struct trees *t, int file, const char *what, double width, double height,
                    struct camera *c) {
    if (!(width >= 1 && width <= 65536 && height >= 1 && height <= 65536) ||
        width != floor(width) || height != floor(height))
        return rig_refuse(t->in, file, "%s: picture size %g x %g", what, width, height);
    c->width = (int)width;
    c->height = (int)height;
    return 0;
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

static int opencv_size(struct trees *t, struct camera *c) {
    static const char *const sizes[] = {"image_size", "imageSize", NULL};
    static const char *const widths[] = {"image_width", "imageWidth", "imageSize_width", NULL};
    static const char *const heights[] = {"image_height", "imageHeight", "imageSize_height", NULL};
    double size[2];
    int file, unused;
    yaml_node_t *w = find(t, widths, &file), *h = find(t, heights, &unused);
    if (w || h) {
        if (!yaml_number(w, &size[0]) || !yaml_number(h, &size[1]))
            return rig_refuse(t->in, file, "image_width, image_height: two numbers expected");
        return set_size(t, file, "image_width, image_height", size[0], size[1], c);
    }
    if (!find(t, sizes, &file))
        return 0;
    int error = need(t, sizes, size, 2);
    return error ? error : set_size(t, file, sizes[0], size[0], size[1], c);
}

static int opencv_camera(struct trees *t, int v, struct camera *c) {
    enum distortion given = t->in->options.model;
    double m[9] = {0}, k[14];
    int file;
    int error = need(t, opencv_matrix[v], m, 9);
    if (error)
        return error;
    find(t, opencv_matrix[v], &file);
    error = set_matrix(t, file, opencv_matrix[v][0], m, c);
    yaml_node_t *lens = error ? NULL : find(t, opencv_lens[v], &file);
    if (lens) {
        int count = yaml_numbers(&t->tree[file], lens, k, 14);
        if (count != 0 && count != 4 && count != 5 && count != 8 && count != 12 && count != 14)
            return rig_refuse(t->in, file, "%s: 4, 5 or 8 numbers expected", opencv_lens[v][0]);
        error = set_distortion(t, file, opencv_lens[v][0],
                               given ? distortion_names[given] : text_of(t, "distortion_model"), k,
                               count, c);
    }
    return error ? error : opencv_size(t, c);
}

/* R1 R2 P1 P2: all four or none. */
static int opencv_rectification(struct trees *t, struct rig *rig) {
    static const char *const rotation[2][2] = {{"R1"}, {"R2"}}, *const projection[2][2] = {{"P1"},
                                                                                           {"P2"}};
    int file, here = 0;
    for (int v = 0; v < 2; v++)
        here += (find(t, rotation[v], &file) != NULL) + (find(t, projection[v], &file) != NULL);
    if (here == 0)
        return 0;
    int error = 0;
    for (int v = 0; v < 2 && !error; v++) {
        error = need(t, rotation[v], rig->rotation[v], 9);
        if (!error)
            error = need(t, projection[v], rig->projection[v], 12);
    }
    rig->has_rectification = 1;
    return error;
}

static int opencv_unit(struct trees *t, struct rig *rig) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}};
    static const char *const key[] = {"baseline_unit", NULL};
    int file;
    if (!find(t, key, &file))
        return 0;
    const char *text = text_of(t, key[0]);
    for (size_t i = 0; text && i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].name) == 0) {
            rig_set_unit(rig, units[i].metres);
            return 0;
        }
    if (text && strcmp(text, "unknown") == 0)
        return 0;
    return rig_refuse(t->in, file, "baseline_unit: m, cm, mm or unknown expected");
}

static int read_opencv(struct trees *t, struct rig *rig) {
    static const char *const r[] = {"R", NULL}, *const tr[] = {"T", NULL};
    int error = 0;
    for (int v = 0; v < 2 && !error; v++)
        error = opencv_camera(t, v, &rig->camera[v]);
    if (!error) {
        int file;
        if (!find(t, tr, &file) && t->count == 1)
            return rig_refuse(t->in, 0, "T: is missing; give the extrinsics file too");
        error = need(t, tr, rig->T, 3);
    }
    if (!error) {
        int file;
        yaml_node_t *node = find(t, r, &file);
        double turn[9];
        int count = yaml_numbers(node ? &t->tree[file] : NULL, node, turn, 9);
        if (count == 9)
            memcpy(rig->R, turn, sizeof turn);
        else if (count == 3 && fabs(turn[0]) + fabs(turn[1]) + fabs(turn[2]) < 10)
            rotation_from_vector(turn, rig->R);
        else
            return rig_refuse(t->in, file,
                              "R: nine numbers (or a rotation vector's three) expected");
    }
    if (!error)
        error = opencv_rectification(t, rig);
    if (!error)
        error = opencv_unit(t, rig);
    double x;
    if (yaml_number(yaml_find(&t->tree[0], t->tree[0].root, "rectified"), &x))
        rig->rectified = x != 0;
    static const char *const rms[] = {"rms", "rms_stereo", NULL};
    int file;
    if (yaml_number(find(t, rms, &file), &x))
        rig->rms = x;
    return error;
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

/* Exactly count numbers. */
static int ros_need(struct trees *t, int v, enum ros_key key, double *out, int count) {
    struct yaml_tree *tree = ros_tree(t, v);
    if (yaml_numbers(tree, ros_find(tree, v, key), out, count) == count)
        return 0;
    return rig_refuse(t->in, t->count > 1 ? v : 0, "%s: %d numbers expected", ros_keys[key][0],
                      count);
}

/* Lens and size. */
static int ros_lens(struct trees *t, int v, struct rig *rig) {
    struct yaml_tree *tree = ros_tree(t, v);
    struct camera *c = &rig->camera[v];
    double m[9] = {0}, k[14], width, height;
    const char *model = yaml_text(yaml_find(tree, tree->root, "distortion_model"));
    int file = t->count > 1 ? v : 0;
    int error = ros_need(t, v, ROS_K, m, 9);
    if (!error)
        error = set_matrix(t, file, ros_keys[ROS_K][0], m, c);
    if (error)
        return error;
    int count = yaml_numbers(tree, ros_find(tree, v, ROS_D), k, 14);
    if (count < 0 || count > 14)
        return rig_refuse(t->in, file, "distortion_coefficients: up to 14 numbers expected");
    error = set_distortion(t, file, "distortion_coefficients",
                           model && *model ? model : "plumb_bob", k, count, c);
    if (error)
        return error;
    if (!yaml_number(ros_find(tree, v, ROS_WIDTH), &width) ||
        !yaml_number(ros_find(tree, v, ROS_HEIGHT), &height))
        return rig_refuse(t->in, file, "image_width, image_height: two numbers expected");
    return set_size(t, file, "image_width, image_height", width, height, c);
}

static double ros_number(struct yaml_tree *tree, yaml_node_t *node, const char *key) {
    double x = 0;
    yaml_number(yaml_find(tree, node, key), &x);
    return x;
}

/* REP 104: K, P and the size are those of the whole sensor; the pictures are its region of interest
 * (none: all of it), binned. do_rectify does not change that. */
static int ros_region(struct trees *t, int v, struct rig *rig) {
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
        return rig_refuse(t->in, v, "roi: %g, %g, %g x %g is no part of the sensor's %d x %d", left,
                          top, width, height, c->width, c->height);
    if (whole && by_x == 1 && by_y == 1)
        return 0;
    int error = set_size(t, v, "roi, binning", floor(width / by_x), floor(height / by_y), c);
    int w = t->in->options.width, h = t->in->options.height;
    if (!error && w > 0 && (w != c->width || h != c->height))
        return rig_refuse(t->in, v,
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
    return error;
}

static int ros_camera(struct trees *t, int v, struct rig *rig) {
    int error = ros_lens(t, v, rig);
    if (!error)
        error = ros_need(t, v, ROS_R, rig->rotation[v], 9);
    if (!error)
        error = ros_need(t, v, ROS_P, rig->projection[v], 12);
    if (error)
        return error;
    if (!(rig->projection[v][0] > 0))
        return rig_refuse(t->in, v, "projection_matrix: focal length %g", rig->projection[v][0]);
    return ros_region(t, v, rig);
}

static int read_ros(struct trees *t, struct rig *rig) {
    bool both = yaml_find(&t->tree[0], t->tree[0].root, ros_keys[ROS_K][4]) != NULL;
    if (t->count == 1 && !both && t->in->options.one_camera) {
        int error = ros_lens(t, 0, rig);
        if (!error)
            error = ros_region(t, 0, rig);
        if (!error)
            rig_make_one_camera(rig);
        return error;
    }
    if (t->count != (both ? 1 : 2))
        return rig_refuse(t->in, 0,
                          both ? "holds both cameras; give no other file"
                               : "holds one camera; give the left camera's file and the right's");
    for (int v = 0; v < 2; v++) {
        int error = ros_camera(t, v, rig);
        if (error)
            return error;
    }
    rig->has_rectification = 1;
    rig->metric = 1; /* REP 103 */
    rig_pose_from_rectification(rig);
    const double *l = rig->projection[0], *r = rig->projection[1];
    if (rig_baseline(rig) >= 1e-6)
        return 0;
    if (r[3] == 0)
        return rig_refuse(t->in, t->count - 1,
                          "projection_matrix: its fourth number is 0; it holds "
                          "-fx * baseline in the right camera's file (calibrate as a stereo pair)");
    return rig_refuse(t->in, t->count - 1,
                      "projection_matrix: its fourth number, -fx * baseline, is %g in the left "
                      "camera's file too, where it must be 0: both are the right camera's",
                      l[3]);
}

/* ---- Kalibr */

static int kalibr_camera(struct trees *t, yaml_node_t *node, const char *name, struct camera *c) {
    struct yaml_tree *tree = &t->tree[0];
    double m[4], k[8] = {0}, size[2];
    const char *model = yaml_text(yaml_find(tree, node, "camera_model"));
    const char *lens = yaml_text(yaml_find(tree, node, "distortion_model"));
    if (model && strcmp(model, "pinhole") != 0)
        return rig_refuse(t->in, 0, "%s: camera_model %.40s: only pinhole is known here", name,
                          model);
    if (yaml_numbers(tree, yaml_find(tree, node, "intrinsics"), m, 4) != 4)
        return rig_refuse(t->in, 0, "%s: intrinsics: four numbers expected", name);
    if (yaml_numbers(tree, yaml_find(tree, node, "resolution"), size, 2) != 2)
        return rig_refuse(t->in, 0, "%s: resolution: two numbers expected", name);
    int count = yaml_numbers(tree, yaml_find(tree, node, "distortion_coeffs"), k, 8);
    if (!lens)
        return rig_refuse(t->in, 0, "%s: distortion_model: is missing", name);
    if (count != 4 && count != 5 && count != 8 && strcmp(lens, "none") != 0)
        return rig_refuse(t->in, 0, "%s: distortion_coeffs: 4, 5 or 8 numbers expected", name);
    *c = (struct camera){.fx = m[0], .fy = m[1], .cx = m[2], .cy = m[3]};
    int error = set_distortion(t, 0, "distortion_coeffs", lens, k, count > 0 ? count : 0, c);
    return error ? error : set_size(t, 0, "resolution", size[0], size[1], c);
}

static int read_kalibr(struct trees *t, struct rig *rig) {
    struct yaml_tree *tree = &t->tree[0];
    yaml_node_t *right = yaml_find(tree, tree->root, "cam1");
    double pose[16];
    if (t->count > 1)
        return rig_refuse(t->in, 1, "is one file too many: %s holds both cameras",
                          t->in->files[0].name);
    if (!right)
        return rig_refuse(t->in, 0, "cam1: is missing; it holds one camera only");
    int error = kalibr_camera(t, yaml_find(tree, tree->root, "cam0"), "cam0", &rig->camera[0]);
    if (!error)
        error = kalibr_camera(t, right, "cam1", &rig->camera[1]);
    if (error)
        return error;
    if (yaml_numbers(tree, yaml_find(tree, right, "T_cn_cnm1"), pose, 16) != 16)
        return rig_refuse(t->in, 0, "cam1: T_cn_cnm1: 4 x 4 numbers expected");
    for (int i = 0; i < 3; i++) {
        memcpy(rig->R + 3 * i, pose + 4 * i, 3 * sizeof *pose);
        rig->T[i] = pose[4 * i + 3];
    }
    rig->metric = 1;
    return 0;
}

/* ---- ORB_SLAM's settings of version 1.0; older ones name cameras as LEFT.K, see above */

static int orb_number(struct trees *t, const char *of, const char *name, double *out) {
    char key[32];
    snprintf(key, sizeof key, "%s.%s", of, name);
    if (yaml_number(yaml_find(&t->tree[0], t->tree[0].root, key), out))
        return 0;
    return rig_refuse(t->in, 0, "%s: a number expected", key);
}

static int orb_camera(struct trees *t, int v, const char *type, struct camera *c) {
    static const char *const cameras[2] = {"Camera1", "Camera2"};
    static const char *const names[2][4] = {{"k1", "k2", "p1", "p2"}, {"k1", "k2", "k3", "k4"}};
    double *const number[4] = {&c->fx, &c->fy, &c->cx, &c->cy};
    static const char *const number_names[4] = {"fx", "fy", "cx", "cy"};
    double k[5] = {0}, width = 0, height = 0;
    bool fisheye = strcmp(type, "KannalaBrandt8") == 0, pinhole = strcmp(type, "PinHole") == 0;
    int count = pinhole ? 5 : 4, error = 0;
    for (int i = 0; i < 4 && !error; i++)
        error = orb_number(t, cameras[v], number_names[i], number[i]);
    for (int i = 0; i < 4 && !error && (fisheye || pinhole); i++)
        error = orb_number(t, cameras[v], names[fisheye][i], &k[i]);
    if (!error && pinhole)
        yaml_number(yaml_find(&t->tree[0], t->tree[0].root, v ? "Camera2.k3" : "Camera1.k3"),
                    &k[4]);
    if (!error)
        error = set_distortion(t, 0, cameras[v], fisheye ? "fisheye" : "radtan", k, count, c);
    if (!error)
        error = orb_number(t, "Camera", "width", &width);
    if (!error)
        error = orb_number(t, "Camera", "height", &height);
    return error ? error : set_size(t, 0, "Camera.width, Camera.height", width, height, c);
}

static int read_orb(struct trees *t, struct rig *rig) {
    static const char *const pose_key[] = {"Stereo.T_c1_c2", NULL};
    const char *type = text_of(t, "Camera.type");
    double pose[16], baseline;
    if (!type ||
        (strcmp(type, "PinHole") && strcmp(type, "KannalaBrandt8") && strcmp(type, "Rectified")))
        return rig_refuse(t->in, 0, "Camera.type: PinHole, KannalaBrandt8 or Rectified expected");
    int error = orb_camera(t, 0, type, &rig->camera[0]);
    if (!error && strcmp(type, "Rectified") == 0) {
        const struct camera *c = &rig->camera[0];
        error = orb_number(t, "Stereo", "b", &baseline);
        rig->camera[1] = *c;
        if (!error)
            rig_make_rectified(rig, c->fx, c->fy, c->cx, c->cx, c->cy, baseline);
    } else if (!error) {
        double back[9];
        error = orb_camera(t, 1, type, &rig->camera[1]);
        if (!error)
            error = need(t, pose_key, pose, 16);
        if (error)
            return error;
        /* it takes points of the right camera to the left one */
        const double R[9] = {pose[0], pose[1], pose[2], pose[4], pose[5],
                             pose[6], pose[8], pose[9], pose[10]};
        const double at[3] = {-pose[3], -pose[7], -pose[11]};
        matrix_transpose(R, back);
        memcpy(rig->R, back, sizeof rig->R);
        matrix_apply(rig->R, at, rig->T);
    }
    rig->metric = 1;
    return error;
}

/* ---- DepthAI's JSON of OAK cameras; lengths in cm */

/* The camera of a socket: cameraData is a list of [socket, camera]. */
static yaml_node_t *oak_find(struct trees *t, double socket) {
    struct yaml_tree *tree = &t->tree[0];
    yaml_node_t *list = yaml_find(tree, tree->root, "cameraData");
    double x;
    for (int i = 0; yaml_item(tree, list, i); i++) {
        yaml_node_t *entry = yaml_item(tree, list, i);
        if (yaml_number(yaml_item(tree, entry, 0), &x) && x == socket)
            return yaml_item(tree, entry, 1);
    }
    return NULL;
}

static int oak_camera(struct trees *t, yaml_node_t *node, const char *key, struct camera *c) {
    struct yaml_tree *tree = &t->tree[0];
    double m[9], k[14], width, height, type;
    if (yaml_numbers(tree, yaml_find(tree, node, "intrinsicMatrix"), m, 9) != 9 ||
        !yaml_number(yaml_find(tree, node, "cameraType"), &type) ||
        !yaml_number(yaml_find(tree, node, "width"), &width) ||
        !yaml_number(yaml_find(tree, node, "height"), &height))
        return rig_refuse(t->in, 0,
                          "%s: the camera of this socket lacks cameraType, intrinsicMatrix, width "
                          "or height in cameraData",
                          key);
    int count = yaml_numbers(tree, yaml_find(tree, node, "distortionCoeff"), k, 14);
    if (count < 0 || count > 14)
        return rig_refuse(t->in, 0, "distortionCoeff: up to 14 numbers expected");
    int error = set_matrix(t, 0, "intrinsicMatrix", m, c);
    if (!error) /* of a fisheye, whose type is 1, the first four count */
        error = set_distortion(t, 0, "distortionCoeff", type == 1 ? "fisheye" : "rational", k,
                               count, c);
    return error ? error : set_size(t, 0, "width, height", width, height, c);
}

/* Pose of the camera that all others are given by, from that of a socket, link by link. */
static int oak_pose(struct trees *t, double socket, double R[9], double T[3]) {
    struct yaml_tree *tree = &t->tree[0];
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const char *const axes[3] = {"x", "y", "z"};
    memcpy(R, identity, sizeof identity);
    memset(T, 0, 3 * sizeof *T);
    for (int links = 0; links < 8; links++) {
        yaml_node_t *pose = yaml_find(tree, oak_find(t, socket), "extrinsics");
        yaml_node_t *shift = yaml_find(tree, pose, "translation");
        double turn[9], x;
        if (!yaml_number(yaml_find(tree, pose, "toCameraSocket"), &socket))
            break;
        if (socket == -1)
            return 0;
        if (yaml_numbers(tree, yaml_find(tree, pose, "rotationMatrix"), turn, 9) != 9)
            break;
        matrix_multiply(turn, R, R);
        matrix_apply(turn, T, T);
        for (int i = 0; i < 3; i++) {
            if (!yaml_number(yaml_find(tree, shift, axes[i]), &x))
                return rig_refuse(t->in, 0, "extrinsics: translation: x, y, z expected");
            T[i] += x;
        }
    }
    return rig_refuse(t->in, 0, "extrinsics: they do not lead from camera to camera");
}

static int read_oak(struct trees *t, struct rig *rig) {
    static const char *const keys[2] = {"leftCameraSocket", "rightCameraSocket"};
    struct yaml_tree *tree = &t->tree[0];
    yaml_node_t *pair = yaml_find(tree, tree->root, "stereoRectificationData");
    double R[2][9], T[2][3], back[9];
    for (int v = 0; v < 2; v++) {
        double socket;
        if (!yaml_number(yaml_find(tree, pair, keys[v]), &socket))
            return rig_refuse(t->in, 0, "stereoRectificationData: %s expected", keys[v]);
        int error = oak_camera(t, oak_find(t, socket), keys[v], &rig->camera[v]);
        if (!error)
            error = oak_pose(t, socket, R[v], T[v]);
        if (error)
            return error;
    }
    matrix_transpose(R[1], back);
    matrix_multiply(back, R[0], rig->R);
    for (int i = 0; i < 3; i++)
        T[0][i] -= T[1][i];
    matrix_apply(back, T[0], rig->T);
    rig_set_unit(rig, 1e-2);
    return 0;
}

/* ---- which of them it is */

static int read_trees(struct trees *t, struct rig *rig) {
    static const char *const ros[] = {"camera_matrix", "LEFT.K", NULL};
    static const char *const kalibr[] = {"cam0", "cam1", NULL}, *const oak[] = {"cameraData", NULL};
    static const char *const orb[] = {"Camera1.fx", NULL}, *const extrinsics[] = {"T", "R", NULL};
    static const char *const k[] = {"k", "K", NULL}, *const p[] = {"p", "P", NULL};
    static const char *const vins[] = {"body_T_cam0", "projection_parameters", NULL};
    int file;
    if (find(t, opencv_matrix[0], &file) || find(t, opencv_matrix[1], &file))
        return read_opencv(t, rig);
    if (find(t, ros, &file) || (find(t, k, &file) && find(t, p, &file)))
        return read_ros(t, rig);
    if (find(t, kalibr, &file))
        return read_kalibr(t, rig);
    if (find(t, orb, &file))
        return read_orb(t, rig);
    if (find(t, oak, &file))
        return read_oak(t, rig);
    if (find(t, vins, &file))
        return rig_refuse(t->in, file,
                          "is VINS's, with lenses and poses in several files; write one file of "
                          "OpenCV's form: M1 D1 M2 D2 of cam0_calib and cam1_calib, and R T of "
                          "inverse(body_T_cam1) body_T_cam0");
    if (find(t, extrinsics, &file))
        return rig_refuse(t->in, file, "holds no cameras (M1, M2); give the intrinsics file too");
    return rig_refuse(t->in, 0,
                      "is no calibration that is known here: no M1 (OpenCV), camera_matrix "
                      "(ROS), cam0 (Kalibr), Camera1.fx (ORB_SLAM) or cameraData (DepthAI)");
}

/* XML is turned into YAML by the caller's function. */
static int open_tree(struct trees *t, int i) {
    struct rig_reading *in = t->in;
    const struct rig_text *file = &in->files[i];
    size_t blank = 0;
    while (blank < file->length && strchr(" \t\r\n", file->text[blank]))
        blank++;
    in->at = i;
    if (blank == file->length || file->text[blank] != '<')
        return yaml_tree_open(&t->tree[i], file->text, file->length, in->why, sizeof in->why);
    if (!in->options.from_xml)
        return rig_refuse(in, i,
                          "is XML, which only the program reads; convert it to YAML with that");
    char *yaml = in->options.from_xml(file->text, file->length, in->why, sizeof in->why);
    if (!yaml)
        return -EBADMSG;
    int error = yaml_tree_open(&t->tree[i], yaml, strlen(yaml), in->why, sizeof in->why);
    free(yaml);
    return error;
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
        error = read_trees(&t, rig);
    }
    while (t.count > 0)
        yaml_tree_close(&t.tree[--t.count]);
    return error;
}
