/*
 * Rig files in YAML: OpenCV's (one file, or intrinsics and extrinsics), ROS camera_info pairs,
 * Kalibr's camchain. The keys say which it is. No state.
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

/* Coefficients k[0..count-1]; model is the file's word for it, NULL where their count tells. */
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
    int max = 0, known = !model || !*model;
    if (known) {
        c->distortion = count > 5 ? DISTORTION_RATIONAL : DISTORTION_RADTAN;
        max = count > 5 ? 8 : 5;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words && !known; i++)
        if (strcmp(model, words[i].word) == 0) {
            c->distortion = words[i].distortion;
            max = words[i].max;
            known = 1;
        }
    if (!known)
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
    return 0;
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

static int opencv_camera(struct trees *t, int v, struct camera *c) {
    static const char *const widths[] = {"image_width", "imageWidth", "imageSize_width", NULL};
    static const char *const heights[] = {"image_height", "imageHeight", "imageSize_height", NULL};
    double m[9] = {0}, k[14], width, height;
    int file, unused;
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
        error =
            set_distortion(t, file, opencv_lens[v][0], text_of(t, "distortion_model"), k, count, c);
    }
    yaml_node_t *w = find(t, widths, &file), *h = find(t, heights, &unused);
    if (!error && (w || h)) {
        if (!yaml_number(w, &width) || !yaml_number(h, &height))
            return rig_refuse(t->in, file, "image_width, image_height: two numbers expected");
        error = set_size(t, file, "image_width, image_height", width, height, c);
    }
    return error;
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

/* Lens and size. */
static int ros_lens(struct trees *t, int v, struct rig *rig) {
    struct yaml_tree *tree = &t->tree[v];
    struct camera *c = &rig->camera[v];
    double m[9] = {0}, k[14], width, height;
    yaml_node_t *root = tree->root;
    if (yaml_numbers(tree, yaml_find(tree, root, "camera_matrix"), m, 9) != 9)
        return rig_refuse(t->in, v, "camera_matrix: nine numbers expected");
    int error = set_matrix(t, v, "camera_matrix", m, c);
    if (error)
        return error;
    int count = yaml_numbers(tree, yaml_find(tree, root, "distortion_coefficients"), k, 14);
    if (count < 0 || count > 14)
        return rig_refuse(t->in, v, "distortion_coefficients: up to 14 numbers expected");
    error = set_distortion(t, v, "distortion_coefficients",
                           yaml_text(yaml_find(tree, root, "distortion_model")), k, count, c);
    if (error)
        return error;
    if (!yaml_number(yaml_find(tree, root, "image_width"), &width) ||
        !yaml_number(yaml_find(tree, root, "image_height"), &height))
        return rig_refuse(t->in, v, "image_width, image_height: two numbers expected");
    return set_size(t, v, "image_width, image_height", width, height, c);
}

static int ros_camera(struct trees *t, int v, struct rig *rig) {
    struct yaml_tree *tree = &t->tree[v];
    yaml_node_t *root = tree->root;
    int error = ros_lens(t, v, rig);
    if (error)
        return error;
    if (yaml_numbers(tree, yaml_find(tree, root, "rectification_matrix"), rig->rotation[v], 9) != 9)
        return rig_refuse(t->in, v, "rectification_matrix: nine numbers expected");
    if (yaml_numbers(tree, yaml_find(tree, root, "projection_matrix"), rig->projection[v], 12) !=
        12)
        return rig_refuse(t->in, v, "projection_matrix: twelve numbers expected");
    if (!(rig->projection[v][0] > 0))
        return rig_refuse(t->in, v, "projection_matrix: focal length %g", rig->projection[v][0]);
    return 0;
}

static int read_ros(struct trees *t, struct rig *rig) {
    if (t->count == 1 && t->in->options.one_camera) {
        int error = ros_lens(t, 0, rig);
        if (!error)
            rig_make_one_camera(rig);
        return error;
    }
    if (t->count != 2)
        return rig_refuse(t->in, 0,
                          "holds one camera; give the left camera's file and the right's");
    for (int v = 0; v < 2; v++) {
        int error = ros_camera(t, v, rig);
        if (error)
            return error;
    }
    rig->has_rectification = 1;
    rig->metric = 1; /* REP 103 */
    rig_pose_from_rectification(rig);
    if (rig_baseline(rig) < 1e-6)
        return rig_refuse(t->in, 1,
                          "projection_matrix: its fourth number is 0; it holds "
                          "-fx * baseline in the right camera's file (calibrate as a stereo pair)");
    return 0;
}

/* ---- Kalibr */

static int kalibr_camera(struct trees *t, yaml_node_t *node, const char *name, struct camera *c) {
    struct yaml_tree *tree = &t->tree[0];
    double m[4], k[4] = {0}, size[2];
    const char *model = yaml_text(yaml_find(tree, node, "camera_model"));
    const char *lens = yaml_text(yaml_find(tree, node, "distortion_model"));
    if (model && strcmp(model, "pinhole") != 0)
        return rig_refuse(t->in, 0, "%s: camera_model %.40s: only pinhole is known here", name,
                          model);
    if (yaml_numbers(tree, yaml_find(tree, node, "intrinsics"), m, 4) != 4)
        return rig_refuse(t->in, 0, "%s: intrinsics: four numbers expected", name);
    if (yaml_numbers(tree, yaml_find(tree, node, "resolution"), size, 2) != 2)
        return rig_refuse(t->in, 0, "%s: resolution: two numbers expected", name);
    int count = yaml_numbers(tree, yaml_find(tree, node, "distortion_coeffs"), k, 4);
    if (!lens)
        return rig_refuse(t->in, 0, "%s: distortion_model: is missing", name);
    if (count != 4 && strcmp(lens, "none") != 0)
        return rig_refuse(t->in, 0, "%s: distortion_coeffs: four numbers expected", name);
    *c = (struct camera){.fx = m[0], .fy = m[1], .cx = m[2], .cy = m[3]};
    int error = set_distortion(t, 0, "distortion_coeffs", lens, k, count == 4 ? 4 : 0, c);
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

static int read_trees(struct trees *t, struct rig *rig) {
    static const char *const ros[] = {"camera_matrix", NULL}, *const kalibr[] = {"cam0", "cam1",
                                                                                 NULL};
    static const char *const extrinsics[] = {"T", "R", NULL};
    int file;
    if (find(t, opencv_matrix[0], &file) || find(t, opencv_matrix[1], &file))
        return read_opencv(t, rig);
    if (find(t, ros, &file))
        return read_ros(t, rig);
    if (find(t, kalibr, &file))
        return read_kalibr(t, rig);
    if (find(t, extrinsics, &file))
        return rig_refuse(t->in, file, "holds no cameras (M1, M2); give the intrinsics file too");
    return rig_refuse(t->in, 0,
                      "is no calibration that is known here: no M1 (OpenCV), camera_matrix "
                      "(ROS) or cam0 (Kalibr)");
}

int rig_read_yaml(struct rig_reading *in, struct rig *rig) {
    struct trees t = {.in = in};
    int error = 0;
    for (int i = 0; i < in->count && !error; i++) {
        error = yaml_tree_open(&t.tree[i], in->files[i].text, in->files[i].length, in->why,
                               sizeof in->why);
        in->at = i;
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
