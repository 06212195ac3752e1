/*
 * Inputs that users of comparable programs met, with their right values: the folder field beside
 * LIVESTEREO_DATA, whose README.md this is as a test. A row is a line of the shell, run in that
 * folder ($F) with $B, $D as in cli.h, the sources ($S) and the README's options ($O; $R of run);
 * what it must print; and what the maps must be that it left in $D/out.
 * SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"

#include "image/pfm.h"

#include <math.h>

/* What maps must be, to 1 px: a number of px, from column FIRST_COLUMN on, or the map of
 * times_gap's pair whose number the map's name begins with: others hold the same pictures. */
enum { NOT_COMPARED = 0, SCENE = -1, FIRST_COLUMN = 40 };

static const struct row {
    const char *name, *line;
    int code;
    const char *out, *err;
    int maps;    /* how many .pfm there must be; 0: not looked at */
    double px;   /* or NOT_COMPARED, SCENE */
    double most; /* per cent that may be off */
} rows[] = {
    {"times_gap", "$B batch $O times_gap -o $D/out && cut -d, -f2 $D/out/frames.csv | xargs echo",
     0,
     "pts_s 1403636579.763556 1403636579.813556 1403636579.863556 1403636579.913555 "
     "1403636582.963556 1403636583.013556 1403636583.063555 1403636583.113555",
     "", 8, 0, 0},
    {"times_dso", "$B batch $O times_dso -o $D/out && cut -d, -f2 $D/out/frames.csv | xargs echo",
     0, "1403636579.913555 1403636582.963556 1403636583.013556", "", 8, 0, 0},
    {"names_gap",
     "$B batch $O names_gap -o $D/out && grep -c '/00000\\([0-7]\\)_left.*\\1_right' "
     "$D/out/frames.csv",
     0, "\n6\n", "2 pictures here", 6, SCENE, 0},
    {"pause", "$B batch $O pause.mcap -o $D/out && cut -d, -f1 $D/out/frames.csv | xargs echo", 0,
     "index 0 2 3 4 5 6", "no partner within 25 ms", 6, NOT_COMPARED, 0},
    {"mono16_12bit", "$B batch $O mono16_12bit.mcap -o $D/out", 0, "3 pairs", "12 bits are taken",
     3, SCENE, 0.5},
    {"transports", "$B batch $O transports.mcap -o $D/out", 0, "3 pairs", "image_rect/compressed",
     3, SCENE, 0.5},
    {"msgzstd", "$B batch $O msgzstd -o $D/out", 0, "3 pairs", "", 3, SCENE, 0.5},
    {"ros2bag", "$B batch $O ros2bag -o $D/out", 0, "3 pairs", "", 3, SCENE, 0.5},
    {"sbs_topic", "$B batch $O sbs_topic.mcap --pictures side-by-side -o $D/out", 0, "3 pairs", "",
     3, SCENE, 3},
    {"side_by_side.png", "$B batch $O side_by_side.png --pictures side-by-side -o $D/out", 0,
     "1 pair", "", 1, 6, 1},
    {"side_by_side.jpg", "$B batch $O side_by_side.jpg --pictures side-by-side -o $D/out", 0,
     "1 pair", "", 1, 6, 1},
    {"side_by_side.jps", "$B batch $O side_by_side.jps --pictures side-by-side -o $D/out", 0,
     "1 pair", "", 1, 6, 1},
    {"many_channels", "$B batch $O many_channels_8000.mcap -o $D/out", 3, "", "holds no pictures",
     0, NOT_COMPARED, 0},
    {"comma_slash", "bash comma_slash.sh $B", 0, "", "dir,/ok.mcap: holds no pictures", 0,
     NOT_COMPARED, 0},
    {"stereomode11", "$B batch $O stereomode11.mkv -o $D/out", 0, "3 pairs",
     "holds the right picture left", 3, SCENE, 3},
    {"gray10", "$B batch $O gray10.mkv -o $D/out", 3, "", "convert it to 8 bits", 0, NOT_COMPARED,
     0},
    {"unequal videos", "$B batch $O left8.mp4 right6.mp4 -o $D/out", 0, "6 pairs",
     "end with the shorter", 6, SCENE, 15},
    {"exif",
     "$B batch $O exif/left.jpg exif/right.jpg -o $D/out && cd $D/out && "
     "mv left.pfm 000000.pfm",
     0, "1 pair", "160x120", 1, SCENE, 3},
    {"m12",
     "cd $D && ln -s $S/examples examples && "
     "/usr/bin/python3 $F/m12.py && for n in 8 12 10 12dim; do $B batch --preset live "
     "--set disparity_range=48 --set backend=cpu --save pfm lay/m12/left$n.png "
     "lay/m12/right$n.png -o m$n && cmp m$n/left$n.pfm m8/left8.pfm || exit 1; done",
     0, "", "10 bits are taken", 0, NOT_COMPARED, 0},
    {"times_comma",
     "$B batch $O new/times_comma -o $D/out && cut -d, -f2 $D/out/frames.csv | xargs echo", 0,
     "pts_s 10.000000 11.250000 12.500000 14.750000", "", 4, NOT_COMPARED, 0},
    {"aerial",
     "$B batch $O --save ply new/left.png new/right.png --calib new/aerial.yml -o $D/out && "
     "head -c 300 $D/out/left.ply | grep -a vertex",
     0, "element vertex 1", "", 0, NOT_COMPARED, 0},
    {"metres of ROS", "$B calib check new/mm_left.yaml new/mm_right.yaml --unit mm", 0,
     "baseline 0.06 m", "", 0, NOT_COMPARED, 0},
    {"metres in doubt", "$B batch $O --save depth new/mm.mcap -o $D/out", 0, "2 pairs",
     "60 m apart", 0, NOT_COMPARED, 0},
    {"metres of messages",
     "$B batch $O --save depth --unit mm new/mm.mcap -o $D/out && "
     "/usr/bin/python3 -c \"import numpy as n; m = n.fromfile('$D/out/000000_depth.pfm', '<f4', "
     "offset=16)[-160 * 120:]; m = m[n.isfinite(m)]; assert .3 < n.median(m) < 3\"",
     0, "2 pairs", "", 0, NOT_COMPARED, 0},
    {"odd P", "$B calib check new/odd_left.yaml new/odd_right.yaml", 4, "", "are not rectified", 0,
     NOT_COMPARED, 0},
    {"r0", "$B batch $O --save pfm,depth new/r0.mcap -o $D/out", 0, "2 pairs", "", 4, NOT_COMPARED,
     0},
    {"rat14", "$B batch $O new/rat14.mcap -o $D/out", 0, "2 pairs", "", 2, NOT_COMPARED, 0},
    {"h264", "$B batch $O new/compressed_h264.mcap -o $D/out", 3, "", "holds h264", 0, NOT_COMPARED,
     0},
    {"thermal",
     "T='--preset default --set disparity_range=64 --set backend=cpu --save pfm -o' && $B batch $T "
     "$D/scene new/thermal/grey8_left.png new/thermal/grey8_right.png && "
     "mv $D/scene/grey8_left.pfm $D/scene/kelvin.pfm && $B batch $T $D/out "
     "new/thermal/kelvin_left.png new/thermal/kelvin_right.png",
     0, "1 pair", "lie close together", 1, SCENE, 0.5},
    {"starts_late",
     "$B batch $O new/starts_late.mkv -o $D/out && cut -d, -f2 $D/out/frames.csv | xargs echo", 0,
     "pts_s 0.400000 0.450000 0.500000 0.550000", "", 4, NOT_COMPARED, 0},
    {"late_left late_right",
     "$B batch $O new/late_left.mkv new/late_right.mkv -o $D/out && cut -d, -f1,2 "
     "$D/out/frames.csv | xargs echo",
     0, "index,pts_s 2,0.500000 3,0.550000 4,0.600000", "", 6, NOT_COMPARED, 0},
    {"mono", "$B batch $O new/mono.mkv -o $D/out", 3, "", "says that it holds one picture", 0,
     NOT_COMPARED, 0},
    {"booster", "$B batch $O new/booster/camera_00 new/booster/camera_02 -o $D/out", 0, "3 pairs",
     "", 3, NOT_COMPARED, 0},
    {"exchanged", "$B batch $O --save depth new/exchanged -o $D/out", 0, "2 pairs", "add --swap", 0,
     NOT_COMPARED, 0},
    {"exchanged mended",
     "! $B batch $O --save depth new/exchanged --swap -o $D/out 2>&1 | grep warning", 0, "", "", 2,
     NOT_COMPARED, 0},
    {"exchanged_info", "$B run $R new/exchanged_info.mcap", 0,
     "rig       left and right look exchanged", "add --swap", 0, NOT_COMPARED, 0},
    {"exchanged and turned",
     "$B run $R new/turned/right.png new/turned/left.png --calib new/turned/right.yml", 0, "",
     "by their rows: add --swap", 0, NOT_COMPARED, 0},
    {"one camera twice",
     "$B run $R new/turned/left.png new/turned/left.png --calib new/turned/right.yml", 0,
     "rig       both pictures are the same", "both pictures are the same", 0, NOT_COMPARED, 0},
    {"turned",
     "$B batch $O new/turned/left.png new/turned/right.png --calib new/turned/turned.yml -o $D/out",
     0, "1 pair", "R of the calibration is the other way round", 1, NOT_COMPARED, 0},
    {"turned, checked",
     "$B calib check new/turned/turned.yml new/turned/left.png new/turned/right.png", 0,
     "R of the calibration is the other way round", "", 0, NOT_COMPARED, 0},
    {"not turned",
     "! $B batch $O --set disparity_range=64 --save depth new/turned/left.png new/turned/right.png "
     "--calib new/turned/right.yml -o $D/out 2>&1 | grep warning && median 4.02",
     0, "", "", 1, NOT_COMPARED, 0},
    {"rectified, with P",
     "$B batch $O new/rectified/left.png new/rectified/right.png --calib new/rectified/with_P.yml "
     "-o $D/out",
     0, "1 pair", "rectified already, by their rows: add --rectified", 1, NOT_COMPARED, 0},
    {"rectified, with P, mended",
     "! $B batch $O --set disparity_range=64 --save depth new/rectified/left.png "
     "new/rectified/right.png --calib new/rectified/with_P.yml --rectified -o $D/out 2>&1 | grep "
     "warning && median 4.0",
     0, "", "", 1, NOT_COMPARED, 0},
    {"rectified, no P",
     "$B batch $O new/rectified/left.png new/rectified/right.png --calib new/rectified/no_P.yml "
     "--rectified -o $D/out",
     0, "1 pair", "does not say the focal length of the rectified pictures", 1, NOT_COMPARED, 0},
    {"truth negative", "$B eval --preset live --set disparity_range=32 new/truth_negative", 0,
     "truth_negative", "all truths are outside of the search", 0, NOT_COMPARED, 0},
};

/* Where the folder is, and the program, for a line of the shell. */
static char *preamble(void) {
    const char *shared = g_getenv("LIVESTEREO_DATA");
    g_autofree char *field = g_build_filename(shared ? shared : "../shared/data", "../field", NULL);
    g_autofree char *program = g_canonicalize_filename(binary(), NULL);
    if (!g_file_test(field, G_FILE_TEST_IS_DIR))
        return NULL;
    return g_strdup_printf(
        "S=$PWD && cd '%s' && B='%s' F=$PWD && O='--preset live --set disparity_range=32 "
        "--save pfm --set backend=cpu' R='--preset live --set disparity_range=64' && "
        "median() { /usr/bin/python3 -c \"import numpy as n; m = n.fromfile("
        "'$D/out/left_depth.pfm', '<f4', offset=16)[-320 * 240:]; "
        "assert abs(n.median(m[n.isfinite(m)]) - $1) < .1\"; } && ",
        field, program);
}

static float *read_map(const char *path, int *width, int *height) {
    float *map;
    g_assert_cmpint(pfm_read(path, &map, width, height), ==, 0);
    return map;
}

/* Per cent of a map's pixels that are off by more than 1 px. */
static double wrong(const char *path, double px) {
    int width, height, scene_width, scene_height;
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *below = g_strdup_printf("scene/%.6s.pfm", name), *scene_path = path_in(below);
    g_autofree float *map = read_map(path, &width, &height), *scene = NULL;
    long bad = 0, count = 0;
    if (px == SCENE) {
        scene = read_map(scene_path, &scene_width, &scene_height);
        g_assert_true(width == scene_width && height == scene_height);
    }
    for (int y = 0; y < height; y++)
        for (int x = scene ? 0 : FIRST_COLUMN; x < width; x++, count++)
            bad += !(fabs(map[y * width + x] - (scene ? scene[y * width + x] : px)) <= 1);
    return 100.0 * (double)bad / (double)count;
}

static void check_maps(const struct row *row) {
    g_autofree char *out = path_in("out");
    GDir *dir = g_dir_open(out, 0, NULL);
    const char *name;
    int maps = 0;
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        if (!g_str_has_suffix(name, ".pfm"))
            continue;
        g_autofree char *path = g_build_filename(out, name, NULL);
        double bad = row->px == NOT_COMPARED ? 0 : wrong(path, row->px);
        g_test_message("%s: %.2f %% off", name, bad);
        if (bad > row->most)
            g_error("%s: %s: %.2f %% of the pixels are off", row->name, name, bad);
        maps++;
    }
    g_dir_close(dir);
    g_assert_cmpint(maps, ==, row->maps);
}

static void test_row(void *fixture, const void *data) {
    const struct row *row = data;
    g_autofree char *before = preamble();
    (void)fixture;
    if (!before) {
        g_test_skip("needs the folder field beside LIVESTEREO_DATA");
        return;
    }
    g_autofree char *line = g_strconcat(before, row->line, NULL);
    g_autofree char *scene = g_strconcat(before, "$B batch $O times_gap -q -o $D/scene", NULL);
    if (row->px == SCENE)
        expect_shell(0, "", "", scene);
    expect_shell(row->code, row->out, row->err, line);
    if (row->maps)
        check_maps(row);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strconcat("/field/", rows[i].name, NULL);
        g_test_add_vtable(name, 0, &rows[i], set_up, test_row, tear_down);
    }
    g_autofree char *lists = gst_tell_sanitizers();
    int status = g_test_run();
    remove_tree(lists);
    return status;
}
