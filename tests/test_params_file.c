/*
 * Tests of settings files, presets and the reference page. Single thread; files go to a folder
 * of its own under the temporary one, removed at the end.
 * SPDX-License-Identifier: MIT
 */
#include "config/params_file.h"
#include "tests/params_rows.h"
#include "tests/folder.h"
#include "tests/test.h"

#include <fcntl.h>
#include <locale.h>

#define PRESETS "config/presets"

static char *dump_text(const struct params *p, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    g_assert_nonnull(out);
    g_assert_cmpint(params_dump(p, out), ==, 0);
    fclose(out);
    return text;
}

TEST("/params_file/dump_and_parse", test_dump_and_parse) {
    for (int k = 0; k < 20; k++) {
        struct params p, again;
        size_t length;
        random_params(&p);
        g_autofree char *text = dump_text(&p, &length);
        params_default(&again);
        g_assert_cmpint(params_parse(&again, text, length, "dump"), ==, 0);
        assert_same(&p, &again);
        for (int i = 0; i < param_count; i++) {
            g_autofree char *line = g_strdup_printf("\n%s=", param_table[i].name);
            g_assert_nonnull(strstr(text, line));
            g_assert_nonnull(strstr(text, param_table[i].help));
        }
    }
}

static guint entries(const char *below) {
    g_autoptr(GDir) dir = g_dir_open(below, 0, NULL);
    guint count = 0;
    while (g_dir_read_name(dir))
        count++;
    return count;
}

TEST("/params_file/save_and_load", test_save_and_load) {
    g_autofree char *path = path_in("saved.ini");
    guint before = entries(folder);
    for (int k = 0; k < 5; k++) {
        struct params p, again;
        random_params(&p);
        params_default(&again);
        g_assert_cmpint(params_save(&p, path, NULL), ==, 0);
        g_assert_cmpint(params_load(&again, path), ==, 0);
        assert_same(&p, &again);
        g_assert_cmpuint(entries(folder), ==, before + 1);

        again.row_offset = 1.5; /* what is left out keeps its value */
        g_assert_cmpint(params_save(&p, path, "rectification"), ==, 0);
        g_assert_cmpint(params_load(&again, path), ==, 0);
        g_assert_cmpfloat(again.row_offset, ==, 1.5);
        again.row_offset = p.row_offset;
        assert_same(&p, &again);
    }
    g_unlink(path);
}

TEST("/params_file/save_refused", test_save_refused) {
    struct params p = default_params();
    g_autofree char *missing = g_build_filename(folder, "no", "file.ini", NULL);
    stderr_says(missing, "make the folder first",
                g_assert_cmpint(params_save(&p, missing, NULL), ==, -ENOENT));

    /* The rename fails over a folder; what was written beside it must go. */
    g_autofree char *taken = path_in("taken.ini");
    g_assert_cmpint(g_mkdir(taken, 0755), ==, 0);
    guint before = entries(folder);
    stderr_says(taken, "directory", g_assert_cmpint(params_save(&p, taken, NULL), ==, -EIO));
    g_assert_cmpuint(entries(folder), ==, before);
    g_rmdir(taken);

    FILE *full = fopen("/dev/full", "w");
    if (full) {
        stderr_says("cannot write", "space", g_assert_cmpint(params_dump(&p, full), ==, -ENOSPC));
        fclose(full);
    }
}

static void parse_refused_bytes(const char *text, size_t length, int rc, const char *first) {
    struct params p, before;
    random_params(&before);
    p = before;
    stderr_says("livestereo: error: some.ini: ", first,
                g_assert_cmpint(params_parse(&p, text, length, "some.ini"), ==, rc));
    assert_same(&p, &before);
}

static void parse_refused(const char *text, int rc, const char *first) {
    parse_refused_bytes(text, strlen(text), rc, first);
}

TEST("/params_file/parse_refused", test_parse_refused) {
    parse_refused("[livestereo]\nbp_levels=3\nbp_itertions=5\n", -ENOENT,
                  "no parameter \"bp_itertions\"; did you mean bp_iterations?");
    parse_refused("[livestereo]\nbp_levels=3\nbp_levels=11\n", -ERANGE, "from 1 to 10");
    parse_refused("[livestereo]\nbp_levels=3\nfill=maybe\n", -EINVAL, "give true or false");
    parse_refused("[livestereo]\nbp_levels=\n", -EINVAL, "bp_levels: \"\"");
    parse_refused("[livestereo]\nbp_levels[de]=4\n", -ENOENT, "no parameter \"bp_levels[de]\"");
    parse_refused("[livestereo]\nbp_levels=3\n[camera]\nx=1\n", -EINVAL, "[camera]");
    parse_refused("[LiveStereo]\nbp_levels=3\n", -EINVAL, "did you mean [livestereo]?");
    parse_refused("bp_levels=3\n", -EINVAL, "");
    parse_refused("[livestereo]\nbp_levels 3\n", -EINVAL, "bp_levels 3");
    parse_refused("[livestereo\n", -EINVAL, "");
    parse_refused("# only a comment\n", -EINVAL, "[livestereo]");
    parse_refused("", -EINVAL, "empty");
    parse_refused_bytes("[livestereo]\nbp_levels=3\n\0\n", 26, -EINVAL, "binary");
    parse_refused("\x89PNG\r\n\x1a\n", -EINVAL, "");

    size_t length = (1 << 20) + 1;
    g_autofree char *large = g_strnfill(length, '\n');
    g_strlcpy(large, "[livestereo]", length);
    large[strlen(large)] = '\n';
    parse_refused_bytes(large, length, -EFBIG, "1 MiB");
    struct params p = default_params();
    g_assert_cmpint(params_parse(&p, large, length - 1, "large.ini"), ==, 0);
}

TEST("/params_file/partial_file", test_partial_file) {
    static const char text[] = "# c\n[livestereo]\n bp_levels = 3 \r\nfill = off\n";
    struct params p, expected;
    random_params(&p);
    expected = p;
    expected.bp_levels = 3;
    expected.fill = 0;
    g_assert_cmpint(params_parse(&p, text, sizeof text - 1, "partial.ini"), ==, 0);
    assert_same(&p, &expected);
}

TEST("/params_file/load_refused", test_load_refused) {
    struct params p = default_params();
    g_autofree char *missing = path_in("missing.ini"), *large = path_in("large.ini");
    stderr_says(missing, "No such file", g_assert_cmpint(params_load(&p, missing), ==, -ENOENT));
    stderr_says(folder, "directory", g_assert_cmpint(params_load(&p, folder), ==, -EISDIR));
    int fd = g_creat(large, 0644);
    g_assert_cmpint(ftruncate(fd, 3 << 20), ==, 0);
    close(fd);
    stderr_says(large, "too large", g_assert_cmpint(params_load(&p, large), ==, -EFBIG));
    g_unlink(large);
}

TEST("/params_file/locale", test_locale) {
    if (!comma_locale())
        return;
    test_dump_and_parse();
    setlocale(LC_ALL, "C");
}

/* What is compiled in says what the files say. */
TEST("/params_file/presets", test_presets) {
    struct params named, read, defaults;
    params_default(&defaults);
    g_assert_cmpint(preset_load(&named, "default"), ==, 0);
    assert_same(&named, &defaults);
    if (!g_file_test(PRESETS, G_FILE_TEST_IS_DIR)) {
        g_test_skip("needs to run in the source tree");
        return;
    }
    g_auto(GStrv) names = preset_names();
    g_assert_cmpuint(g_strv_length(names), ==, entries(PRESETS));
    for (char **name = names; *name; name++) {
        g_autofree char *path = g_strconcat(PRESETS "/", *name, ".ini", NULL);
        random_params(&read);
        named = read;
        g_assert_cmpint(preset_load_over(&named, *name), ==, 0);
        g_assert_cmpint(preset_load_over(&read, path), ==, 0);
        assert_same(&named, &read);
    }
}

/* An included preset is read first, wherever the key stands; only the program's own are. */
TEST("/params_file/include", test_include) {
    struct params p, plain;
    const char *text = "[livestereo]\nmedian_radius=2\ninclude=plain\n";
    g_assert_cmpint(preset_load(&plain, "plain"), ==, 0);
    random_params(&p);
    p.median_radius = 1;
    g_assert_cmpint(params_parse(&p, text, strlen(text), "some.ini"), ==, 0);
    g_assert_cmpint(p.median_radius, ==, 2);
    g_assert_cmpint(p.lr_check, ==, plain.lr_check);
    g_assert_cmpint(p.subpixel, ==, plain.subpixel);

    parse_refused("[livestereo]\ninclude=\n", -EINVAL, "no preset \"\" comes with");
    parse_refused("[livestereo]\ninclude=nobody\n", -EINVAL, "no preset \"nobody\" comes with");
    parse_refused("[livestereo]\ninclude=../presets/plain\n", -EINVAL, "no preset");
    write_text("livestereo/presets/mine.ini", text);
    parse_refused("[livestereo]\ninclude=mine\n", -EINVAL, "no preset \"mine\" comes with");
}

/* Whether a parameter means nothing to the paper presets, or is the pictures' own: they do not
 * name it. */
static bool is_idle(const struct params *p, const struct param_info *info) {
    static const char *const idle[] = {
        "machine",           "search",       "rectification", "cameras",      "census_weight",
        "census_truncation", "cross_height", "cross_step",    "surface_step", "hide_below",
        "mark_filled",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(idle); i++)
        if (strcmp(info->name, idle[i]) == 0 || strcmp(info->group, idle[i]) == 0)
            return true;
    const char *name = info->name;
    bool checkerboard = p->bp_schedule == BP_SCHEDULE_CHECKERBOARD;
    if (g_str_has_prefix(name, "motion_"))
        return p->mode != MODE_MOTION;
    if (g_str_has_prefix(name, "tile_"))
        return p->bp_schedule != BP_SCHEDULE_TILES;
    if (strcmp(name, "bp_damping") == 0 || strcmp(name, "smoothness") == 0)
        return checkerboard;
    if (g_str_has_prefix(name, "edge_step_") || strcmp(name, "edge_difference") == 0)
        return p->edge_factor_1 == 1 && p->edge_factor_2 == 1;
    if (strcmp(name, "edge_weakens") == 0)
        return p->edge_factor_1 == 1 && p->edge_factor_2 == 1;
    if (strcmp(name, "occlusion_levels") == 0)
        return !p->occlusion_masks;
    if (g_str_has_prefix(name, "bp_iterations_"))
        return name[strlen("bp_iterations_")] - '0' >= p->bp_levels;
    return false;
}

/* A paper's preset names all that matters to it, so that a new default does not change it. */
TEST("/params_file/papers_stand_alone", test_papers_stand_alone) {
    static const char *const papers[] = {
        "brunton2006",     "felzenszwalb2006", "grauergray2008", "liang2011_tsukuba",
        "liang2011_venus", "liang2011_teddy",  "xu2009",         "xu2009_indoor",
        "xu2009_sobel",    "xu2009_residual",  "yang2006",       "yang2006_tuned"};
    for (size_t n = 0; n < G_N_ELEMENTS(papers); n++) {
        struct params min, max;
        for (int i = 0; i < param_count; i++) {
            g_assert_cmpint(param_put(&min, &param_table[i], param_table[i].min), ==, 0);
            g_assert_cmpint(param_put(&max, &param_table[i], param_table[i].max), ==, 0);
        }
        g_assert_cmpint(preset_load_over(&min, papers[n]), ==, 0);
        g_assert_cmpint(preset_load_over(&max, papers[n]), ==, 0);
        for (int i = 0; i < param_count; i++) {
            const struct param_info *info = &param_table[i];
            if (!is_idle(&min, info) && param_get(&min, info) != param_get(&max, info))
                g_error("%s does not say %s", papers[n], info->name);
        }
    }
}

/* By name: the user's folder comes first, where the window may have saved what is not known today:
 * it is left out, which is said once. An unknown preset changes nothing. */
TEST("/params_file/preset_names", test_preset_names) {
    struct params p, before;
    write_text("livestereo/presets/yang2006.ini", "[livestereo]\nbp_levels=9\n");
    params_default(&before);
    before.bp_levels = 9;
    random_params(&p);
    g_assert_cmpint(preset_load(&p, "yang2006"), ==, 0);
    assert_same(&p, &before);

    write_text("livestereo/presets/yang2006.ini", "[livestereo]\nbp_levels=3\nbp_level=9\n");
    struct stderr_of caught = stderr_begin();
    before.bp_levels = 3;
    for (int i = 0; i < 2; i++) {
        g_assert_cmpint(preset_load(&p, "yang2006"), ==, 0);
        assert_same(&p, &before);
    }
    stderr_one_line(caught, "yang2006.ini", "no parameter \"bp_level\"; it is left out");
    stderr_says("no preset \"yang2007\"", "; did you mean yang2006?",
                g_assert_cmpint(preset_load(&p, "yang2007"), ==, -ENOENT));
    stderr_says("no preset \"\"", "yang2006", g_assert_cmpint(preset_load(&p, ""), ==, -ENOENT));
    stderr_says("yang2007.ini", "No such file",
                g_assert_cmpint(preset_load(&p, "yang2007.ini"), ==, -ENOENT));
    assert_same(&p, &before);

    remove_tree(folder);
    g_assert_cmpint(preset_load(&p, "liang2011_venus"), ==, 0);
}

TEST("/params_file/help", test_help) {
    g_autofree char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    params_help(out);
    fclose(out);
    for (int i = 0; i < param_count; i++) {
        g_autofree char *name = g_strdup_printf("\n  %s  ", param_table[i].name);
        g_autofree char *group = g_strdup_printf("\n\n%s\n", param_table[i].group);
        char *found = strstr(text, name), *heading = strstr(text, group);
        if (!found || strstr(found + 1, name) || !heading || strstr(heading + 1, group))
            g_error("%s or its group is not on the page once", param_table[i].name);
    }
    char *levels =
        g_strdup_printf("  bp_levels  1 to 10, default %d, LIVE\n", (int)row("bp_levels")->def);
    g_assert_nonnull(strstr(text, levels));
    g_free(levels);
    g_assert_nonnull(strstr(text, "  backend  auto|cpu|cuda, default auto, START\n"));
}
