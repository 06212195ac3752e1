/*
 * The program as its users meet it: exit codes, one clear line for what is wrong, whole files or
 * none. SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"

#include "config/params_file.h"
#include "include/livestereo.h"

/* The rows of refusals.txt, where there is no display; nothing is written. */
CLI_TEST_PLAIN("/cli/usage", test_usage) {
    int rows = 0;
    g_autofree char *text = NULL;
    g_unsetenv("DISPLAY");
    g_unsetenv("WAYLAND_DISPLAY");
    g_assert_true(g_file_get_contents("tests/refusals.txt", &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) row = g_strsplit(*line, " | ", 3);
        if (**line == '#' || !**line)
            continue;
        g_assert_cmpuint(g_strv_length(row), ==, 3);
        expect_error_limited(0, atoi(row[0]), row[1], row[2]);
        rows++;
    }
    g_assert_cmpint(rows, >, 50);
    g_autoptr(GDir) left = g_dir_open(folder, 0, NULL);
    g_assert_null(g_dir_read_name(left));
}

/* Pictures that no decoder here reads are named for what they are. */
CLI_TEST("/cli/other-pictures", test_other_pictures) {
    static const struct {
        const char *name, *bytes, *kind;
    } cases[] = {{"a.gif", "GIF89a..........", "of a kind (gif) that is not read"},
                 {"b.tif", "II*\0............", "is a TIFF picture"},
                 {"c.webp", "RIFF....WEBPVP8 ", "of a kind (webp) that is not read"},
                 {"d.png", "GIF89a..........", "convert it to PNG"},
                 {"e.avif",
                  "\0\0\0\x10"
                  "ftypavif....",
                  "it holds no track"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = path_in(cases[i].name);
        g_assert_true(g_file_set_contents(path, cases[i].bytes, 16, NULL));
        expect_error(3, cases[i].kind, "run %s %s", path, path);
    }
}

CLI_TEST_PLAIN("/cli/help", test_help) {
    g_autofree char *help = expect_success("--help");
    const char *commands[] = {"run", "batch", "eval"};
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_assert_nonnull(strstr(help, commands[i]));
        g_autofree char *own = expect_success("%s --help", commands[i]);
        g_assert_nonnull(strstr(own, "--set"));
        g_assert_nonnull(strstr(own, "Examples:"));
    }
    static const char *const takers[] = {"view", "run", "record"};
    static const char *const sources[] = {"v4l2:LEFT,RIGHT", "sbs:DEVICE",    "gst:PIPELINE",
                                          "FILE [FILE]",     "left_%06d.png", "FOLDER",
                                          "synth:[KEY=VALUE"};
    for (size_t i = 0; i < G_N_ELEMENTS(takers); i++) {
        g_autofree char *own = expect_success("%s --help", takers[i]);
        for (size_t k = 0; k < G_N_ELEMENTS(sources); k++)
            g_assert_nonnull(strstr(own, sources[k]));
    }
    static const char *const grouped[] = {"view", "run",
                                          "motion"}; /* on a terminal of 80 columns */
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(grouped); i++) {
        bool all = i % 2;
        g_autofree char *own = expect_success("%s --help%s", grouped[i / 2], all ? "-all" : "");
        g_auto(GStrv) lines = g_strsplit(own, "\n", -1);
        for (char **line = lines; *line; line++)
            g_assert_cmpint(strlen(*line), <=, 80);
        g_assert_nonnull(strstr(own, "--set"));
        g_assert_true((strstr(own, "--rotate180") != NULL) == all);
        g_assert_true((strstr(own, "\nCalibration:\n") != NULL) == all);
    }
    g_autofree char *version = expect_success("--version");
    g_assert_true(g_str_has_prefix(version, "livestereo "));
    g_autofree char *params = expect_success("--help-params");
    g_assert_nonnull(strstr(params, "disparity_range"));
}

/* The presets are the program's own, wherever it lies and whatever is installed. */
CLI_TEST_PLAIN("/cli/presets-compiled-in", test_presets_compiled_in) {
    g_autofree char *program = NULL, *copy = path_in("livestereo"), *out = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(binary(), &program, &length, NULL));
    g_assert_true(g_file_set_contents_full(copy, program, (gssize)length, G_FILE_SET_CONTENTS_NONE,
                                           0700, NULL));
    const char *argv[] = {copy, "--list-presets", NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)(gpointer)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               &out, NULL, NULL, NULL));
    g_assert_true(g_str_has_prefix(out, "best\nbrunton2006\nclouds\n"));
    g_assert_nonnull(strstr(out, "\nyang2006\n"));
}

/* Options, presets, parameters, and the values of both kinds of lists. words: as bash splits
 * them. */
CLI_TEST_PLAIN("/cli/completion/values", test_completion_values) {
    static const char *const cases[][2] = {
        {"'record' '--rot'", "--rotate180"},
        {"'run' '--preset' 'yang'", "yang2006 yang2006_tuned"},
        {"'run' '--preset' 'li'", "liang2011_teddy liang2011_tsukuba liang2011_venus live"},
        {"'run' '--set' 'disparity_'", "disparity_range="},
        {"'run' '--set' 'data_cost' '='", "ad ad_census bt bt_sum bt_sum_squared census ssd"},
        {"'run' '--set' 'subpixel' '=' 'eq'", "equiangular"},
        {"'run' '--set' 'fill' '=' 't'", "true"},
        {"'run' '--flip' 'b'", "both"},
        {"'calibrate' '--model' '=' 'ra'", "radtan rational"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *script =
            g_strdup_printf("source packaging/share/bash-completion/completions/livestereo\n"
                            "compopt() { :; }\n"
                            "COMP_WORDS=(\"$0\" %s) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                            "_livestereo\n"
                            "printf '%%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort | paste -sd' '\n",
                            cases[i][0]);
        const char *argv[] = {"bash", "-c", script, binary(), NULL};
        g_autofree char *out = NULL;
        g_assert_true(g_spawn_sync(NULL, (char **)(gpointer)argv, NULL, G_SPAWN_SEARCH_PATH, NULL,
                                   NULL, &out, NULL, NULL, NULL));
        g_test_message("%s: %s", cases[i][0], out);
        g_assert_cmpstr(g_strchomp(out), ==, cases[i][1]);
    }
}

/* default < preset < config file < --set */
CLI_TEST("/cli/precedence", test_precedence) {
    write_text("preset.ini", "[livestereo]\nbp_levels=2\nbp_iterations=2\nmedian_radius=0\n");
    write_text("config.ini", "[livestereo]\nbp_iterations=3\nmedian_radius=3\n");
    g_autofree char *text = expect_success(
        "run --dump-config --set median_radius=4 --config $D/config.ini --preset $D/preset.ini");
    g_assert_nonnull(strstr(text, "\nbp_levels=2\n"));
    g_assert_nonnull(strstr(text, "\nbp_iterations=3\n"));
    g_assert_nonnull(strstr(text, "\nmedian_radius=4\n"));

    /* The user's own settings stand in for the defaults, not below a preset. */
    write_text("livestereo/livestereo.ini", "[livestereo]\nsmooth_sigma=0.3\n");
    g_autofree char *own = expect_success("run --dump-config --set median_radius=4");
    g_assert_nonnull(strstr(own, "\nsmooth_sigma=0.3\n"));
    g_autofree char *preset = expect_success("run --dump-config --preset $D/preset.ini");
    g_assert_null(strstr(preset, "\nsmooth_sigma=0.3\n"));
    write_text("livestereo/livestereo.ini", "[livestereo]\nsmoth_sigma=0.3\n");
    expect_error(2, "smoth_sigma", "run --dump-config");
    expect_error(2, "Unknown option --dump-config", "list --dump-config");
    struct outcome cameras = run_limited(0, "list"); /* which needs no settings */
    g_assert_cmpint(cameras.code, ==, 0);
    g_assert_nonnull(strstr(cameras.err, "smoth_sigma"));
    g_assert_nonnull(strstr(cameras.err, "the defaults are taken for now"));
    outcome_free(&cameras);
}

CLI_TEST("/cli/bad-sources", test_bad_sources) {
    write_picture("l.png", 40, 20, 0);
    write_picture("r.png", 40, 20, 3);
    write_picture("small.png", 39, 20, 3);
    write_picture("thin.png", 1, 20, 0);
    write_picture("two.png", 2, 20, 0);
    write_picture("empty/left/x", 2, 2, 0);
    g_autofree char *x = path_in("empty/left/x");
    g_remove(x);
    g_autofree char *r = path_in("r.png"), *bytes = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(r, &bytes, &length, NULL));
    g_autofree char *damaged = path_in("damaged.png");
    g_assert_true(g_file_set_contents(damaged, bytes, (gssize)length / 2, NULL));

    expect_error(3, "nosuch.png", "run " SMALL " $D/l.png $D/nosuch.png");
    expect_error(3, "damaged.png", "run " SMALL " $D/damaged.png $D/r.png");
    expect_error(3, "small.png", "run " SMALL " $D/l.png $D/small.png");
    expect_error(3, "empty", "run " SMALL " $D/empty");
    expect_error(3, "thin.png", "run " SMALL " $D/thin.png $D/thin.png");
    expect_error(3, "at least 3x2", "run --set disparity_range=2 $D/two.png $D/two.png");
    expect_error(2, "disparity_range 64", "run $D/l.png $D/r.png");
    expect_error(2, "disparity_range 40", "run --set disparity_range=40 $D/l.png $D/r.png");
    g_autofree char *weights = path_in("cut.features");
    g_assert_true(g_file_set_contents(weights, "livestereo-features 1\n", -1, NULL));
    expect_error(2, "no line licence:", "run --weights %s synth:", weights);
    expect_error(2, "cut.features", "batch --weights %s synth: $D/out", weights);
    expect_error(2, "bp_schedule", "run --set smoothness=quadratic " SMALL " $D/l.png $D/r.png");
    g_autofree char *fine = expect_success("run " SMALL " $D/l.png $D/r.png");
    g_assert_nonnull(strstr(fine, "1 computed"));
}

CLI_TEST("/cli/run-picture", test_run_picture) {
    g_autofree char *out = expect_success("run synth:width=48,height=32,range=8 --frames 3 " SMALL
                                          " --save-picture $D/p.png");
    g_assert_nonnull(strstr(out, "3 computed"));
    g_assert_nonnull(strstr(out, "bad-1.0"));
    g_assert_nonnull(strstr(out, "\nflicker   0."));
    g_assert_nonnull(strstr(out, "\nTEPE      "));
    g_assert_nonnull(strstr(out, "\nrate      "));
    g_autofree char *one = expect_success("run synth:width=48,height=32,range=8 --frames 1 " SMALL);
    g_assert_null(strstr(one, "\nrate "));
    g_autofree char *path = path_in("p.png");
    struct image picture;
    g_assert_cmpint(picture_read(path, &picture), ==, 0);
    g_assert_cmpint(picture.width, ==, 96);
    g_assert_cmpint(picture.height, ==, 32);
    picture_free(&picture);
    expect_error(1, "no/p.png",
                 "run synth:width=48,height=32,range=8 --frames 1 " SMALL
                 " --save-picture $D/no/p.png");
}

CLI_TEST("/cli/batch", test_batch) {
    write_frames("in", 5);
    g_autofree char *out = expect_success("batch $D/in -o $D/a/out --save disp16,pfm,color " SMALL);
    g_assert_nonnull(strstr(out, "5 pairs written"));
    g_assert_cmpint(count_files("a/out"), ==, 16);
    g_assert_true(exists("a/out/001_disp16.png") && exists("a/out/005.pfm") &&
                  exists("a/out/003_color.png"));
    g_auto(GStrv) lines = read_lines("a/out/frames.csv");
    g_assert_cmpint(g_strv_length(lines), ==, 7); /* head, 5 rows, nothing after the last newline */
    for (int i = 0; i < 5; i++) {
        g_autofree char *start = g_strdup_printf("%d,", i);
        g_assert_true(g_str_has_prefix(lines[i + 1], start));
        g_assert_true(g_str_has_suffix(lines[i + 1], ",ok"));
    }

    /* colours: hatched where filled in, black below a confidence, and the map is the same */
    static const char *const looks[] = {"mark_filled=true", "mark_filled=false", "hide_below=255"};
    for (size_t i = 0; i < G_N_ELEMENTS(looks); i++)
        must("batch $D/in -o $D/a/look%d --save disp16,color,sigma " SMALL
             " --set lr_check=warp --set refinement=off --set %s",
             (int)i, looks[i]);
    expect_shell(0, "1\n1\n3\n", "",
                 "cd $D/a && for what in disp16.png sigma.pfm color.png; do "
                 "sha256sum look?/001_$what | cut -c1-64 | sort -u | wc -l; done");
    must("batch $D/in/left/%%03d.png $D/in/right/%%03d.png -o $D/b " SMALL);
    g_assert_cmpint(count_files("b"), ==, 6);
    expect_error(2, "batch computes one source", "batch $D/in $D/in -o $D/c " SMALL);
}

CLI_TEST("/cli/ranges", test_ranges) {
    write_pair("in", 40);
    expect_error(2, "disparity_range 40", "batch $D/in -o $D/out --set disparity_range=40");
    expect_error(2, "min_disparity=0",
                 "batch $D/in -o $D/out --set disparity_range=8 --set min_disparity=40");
    expect_error(2, "min_disparity=0",
                 "batch $D/in -o $D/out --set disparity_range=8 --set min_disparity=-47");
    g_assert_false(exists("out"));
    g_autofree char *one =
        expect_success("batch $D/in -o $D/out --set disparity_range=8 --set min_disparity=39");
    g_assert_nonnull(strstr(one, "1 pair written"));
}

CLI_TEST("/cli/unwritable", test_unwritable) {
    write_frames("in", 2);
    write_text("file", "");
    expect_error(1, "file", "batch $D/in -o $D/file/out " SMALL);
    expect_error(1, "/proc/nowhere", "batch $D/in -o /proc/nowhere " SMALL);
}

/* A limit on file sizes stands for the full disk: write() fails after part of the file is there. No
 * picture is that small; the first line of frames.csv is. */
enum { FULL_AFTER = 64 };

CLI_TEST("/cli/full-disk", test_full_disk) {
    write_frames("in", 3);
    const char *kinds[] = {"disp16", "pfm", "color"};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *words =
            g_strdup_printf("batch $D/in -o $D/%s --save %s " SMALL, kinds[i], kinds[i]);
        expect_error_limited(FULL_AFTER, 1, "001", words);
        g_assert_cmpint(count_files(kinds[i]), ==, 1); /* nothing whole, so frames.csv alone */
    }
    expect_error_limited(FULL_AFTER, 1, "p.png",
                         "run synth:width=48,height=32,range=8 --frames 1 " SMALL
                         " --save-picture $D/p.png");
    g_assert_false(exists("p.png"));
}

/* What is read is not written over, whatever its name. */
CLI_TEST("/cli/inputs-spared", test_inputs_spared) {
    write_frames("in", 3);
    expect_shell(0, "", "",
                 "cd $D && for i in 1 2 3; do cp in/left/00$i.png l_00000$i.png; "
                 "cp in/right/00$i.png r_00000$i.png; done && cp l_000001.png left.png && "
                 "ln left.png other.png && md5sum *.png >sums");
    expect_error(1, "l_000001.png: is an input",
                 "run $D/l_%%06d.png $D/r_%%06d.png " SMALL " --save-disparity $D/l_%%06d.png");
    expect_error(2, "other.png: is an input",
                 "run $D/left.png $D/r_000001.png " SMALL " --save-picture $D/other.png");
    expect_shell(0, "", "", "cd $D && rm l_000000.png && md5sum --quiet -c sums");
    expect_shell(0, "", "",
                 "mkdir $D/pair && cp $D/left.png $D/pair && "
                 "cd $D/pair && cp left.png right.png && cp left.png disp_left.png && "
                 "printf '[pair]\\ndisparity_scale=4\\n' >pair.ini");
    expect_error(1, "pair/left.png: is an input",
                 "eval " SMALL " $D/pair --confidence $D/pair/left.png");
    expect_shell(0, "", "", "cmp $D/left.png $D/pair/left.png");
}

CLI_TEST_PLAIN("/cli/eval", test_eval) {
    write_pair("set", 40);
    g_autofree char *truth_path = path_in("set/disp_left.png");
    uint16_t truth[40 * 20];
    for (int i = 0; i < 40 * 20; i++)
        truth[i] = i % 40 < 3 ? 0 : 3 * 256;
    g_assert_cmpint(picture_write16(truth_path, truth, 40, 20), ==, 0);
    write_text("set/pair.ini", "[pair]\ndisparity_scale=256\ndisparities=8\n");

    g_autofree char *json = expect_success("eval --json --set threads=1 $D/set");
    g_assert_true(g_str_has_prefix(json, "{\"name\": \"set\", \"group\": "));
    g_assert_nonnull(strstr(json, "\"nonocc\": null, \"all\": {\"bad1\": "));
    g_assert_true(g_str_has_suffix(json, "}\n"));
    g_assert_null(strchr(strchr(json, '\n') + 1, '\n'));
    g_assert_nonnull(strstr(json, "\"disc\": null"));
    const char *keys[] = {"bad2", "bad3",  "mean",    "bad05",  "rms", "whole", "d1",
                          "auc1", "best3", "density", "energy", "ms",  "within"};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *key = g_strdup_printf("\"%s\": ", keys[i]);
        const char *at = strstr(json, key);
        g_assert_nonnull(at);
        char *end;
        double value = g_ascii_strtod(at + strlen(key), &end);
        g_assert_true(end != at + strlen(key) && value >= 0);
    }
    g_assert_nonnull(strstr(json, "\"parameters\": {"));
    g_assert_nonnull(strstr(json, "\"disparity_range\": 8,")); /* of pair.ini */
    /* run finds the truth that lies beside the pictures, too */
    g_autofree char *found = expect_success("run $D/set --set threads=1 --set disparity_range=8");
    g_assert_nonnull(strstr(found, "D1        0.00 % of what both cameras see"));

    const char *bad1 = strstr(json, "\"bad1\": ") + strlen("\"bad1\": ");
    g_assert_cmpfloat(g_ascii_strtod(bad1, NULL), <, 20); /* the moved texture is found */

    g_autofree char *table =
        expect_success("eval --save $D/e --confidence $D/counts.csv --set threads=1 $D/set");
    g_autofree char *counts_path = path_in("counts.csv"), *counts = NULL;
    g_assert_true(g_file_get_contents(counts_path, &counts, NULL, NULL));
    g_assert_true(g_str_has_prefix(counts, "set,"));
    expect_error(1, "nosuch", "eval --confidence $D/nosuch/c.csv --set threads=1 $D/set");
    g_assert_nonnull(strstr(table, "\nmean "));
    g_assert_true(exists("e/set_color.png") && exists("e/set_error.png"));
    expect_error(2, "disparity_range 40", "eval --set disparity_range=40 $D/set");
    expect_error(3, "nosuch", "eval $D/nosuch");
    write_text("set/pair.ini", "[pair]\n");
    expect_error(3, "pair.ini", "eval $D/set");
    write_text("set/pair.ini", "[pair]\ndisparity_scale=256\ndisparities=1000\n");
    expect_error(2, "1000", "eval $D/set");
}
