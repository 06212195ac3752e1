/*
 * Every n-th failure of write, fsync, rename, open, mkdir and pthread_create, and of every
 * allocation, GLib's included, in one run of each command (tests/preload_faults.c makes them fail):
 * the exit code is one of the manual's and tells what is there, the error is one line, no file has
 * its final name before it is whole, nothing hangs.
 * Of each kind LIVESTEREO_FAULTS calls are tried (default 6, 0 for all), the same ones in every
 * run. LIVESTEREO_FAULTS=sites tries all, except where a command allocates more than MANY times: of
 * each call site there, as preload_faults.c tells them apart, the first call, the last and the one
 * in the middle are tried. SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"

static const struct {
    const char *name;
    int errors[4]; /* 0 after the last */
} kinds[] = {{"write", {ENOSPC, EIO, EINTR}},
             {"fsync", {EIO, ENOSPC, EINTR}},
             {"rename", {EIO, ENOSPC}},
             {"open", {EMFILE, EIO, EINTR, ENOSPC}},
             {"mkdir", {ENOSPC, EIO}},
             {"thread", {EAGAIN}},
             {"memory", {ENOMEM}}};

/* $O is the folder that a command writes to. */
static const struct command {
    const char *name, *line;
} commands[] = {
    {"run", "run " SYNTH " --frames 3 " SMALL " --save-disparity $O/%06d.png"},
    {"batch", "batch $D/in -o $O/out " SMALL " --save disp16,color"},
    {"record", "record " SYNTH " --frames 3 -o $O/a.mkv"},
    {"play", "run $D/in.mkv " SMALL},
    {"eval", "eval " SMALL " --save $O/maps $D/pair"},
    {"calib", "calib convert $D/rig.yml -o $O/left.yaml,$O/right.yaml --unit m"},
    {"list", "list"},
    {"calibrate", "calibrate --headless --board 9x6 -o $O/rig.yml $C/left0[467].jpg "
                  "$C/right0[467].jpg"},
};

enum { MANY = 1000, OF_SITE = 3 };

/* Call n of a kind fails; of those from one site, where one is named. */
struct fault {
    long n;
    int error;
    char site[17];
};

/* Runs a command with a fault, with none where n is 0; *report gets what preload_faults.c wrote,
 * NULL where the program did not come to its end. */
static struct outcome attempt(const struct command *c, const char *kind, const struct fault *fault,
                              char **report) {
    g_autofree char *line = g_strdup_printf(
        "rm -rf $D/o $D/calls; mkdir $D/o; export O=$D/o C=${LIVESTEREO_DATA:-../shared/data}"
        "/calibration/opencv GST_REGISTRY=$D/registry GST_REGISTRY_FORK=no; "
        "exec timeout -s KILL 600 env LIVESTEREO_FAULT=\"%s %ld %d $D/calls %s\" "
        "LD_PRELOAD=$(dirname $B)/preload_faults.so $B %s",
        kind, fault->n, fault->error, fault->site, c->line);
    struct outcome o = shell(line);
    g_autofree char *path = path_in("calls");
    *report = NULL;
    if (g_file_get_contents(path, report, NULL, NULL) && !**report)
        g_clear_pointer(report, g_free);
    return o;
}

/* The files below a folder: those of the first run by name, with their sizes. */
static void list_files(GHashTable *files, const char *path, size_t cut) {
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        struct stat about;
        if (g_file_test(below, G_FILE_TEST_IS_DIR))
            list_files(files, below, cut);
        else if (stat(below, &about) == 0)
            g_hash_table_insert(files, g_strdup(below + cut), GSIZE_TO_POINTER(about.st_size));
    }
}

static GHashTable *files_made(void) {
    g_autofree char *path = g_build_filename(folder, "o", NULL);
    GHashTable *files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    list_files(files, path, strlen(path) + 1);
    return files;
}

/* Whether files of this name hold the same bytes whenever they are made. */
static bool repeats(const char *name) {
    return !g_str_has_suffix(name, ".csv") && !g_str_has_suffix(name, ".mkv") &&
           !g_str_has_suffix(name, ".ini");
}

/* Whether a library ended the program where it had no memory: the dynamic loader with exit code
 * 127; GLib and C++ by abort(), with a line of their own; by a message that
 * G_DEBUG=fatal-criticals makes an end; or since it does not look at what malloc() returns. */
static bool ended_by_library(const struct outcome *o) {
    static const char *const words[] = {
        "failed to allocate",        "std::bad_alloc",
        "GLib (gthread-posix.c)",    "g_param_spec_int64: assertion", /* libgstlibav */
        "crash in libgcrypt.",       "crash in libgstlibav.",
        "crash in libopencv_flann.", "crash in liborc-",
        "crash in generated code", /* liborc's */
        "crash in libpixman-1.",
    };
    if (o->code == 127)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strstr(o->err, words[i]))
            return true;
    return false;
}

/* What is wrong with what a faulty run left, or NULL. */
static const char *fault_of(const struct outcome *o, GHashTable *whole) {
    g_autoptr(GHashTable) made = files_made();
    GHashTableIter at;
    gpointer name, size;
    if (o->code < 0 || o->code == 2 || o->code == 5 || o->code > 6)
        return o->code < 0 ? "hangs or is ended by a signal" : "has no such exit code";
    int lines = 0; /* one for each pair of several that fails */
    for (const char *line = o->err; (line = strstr(line, "livestereo: error: ")); line++)
        lines++;
    if (o->code == 0 ? lines : lines < 1 || (lines > 1 && o->code != 6 && o->code != 4))
        return "does not say it in one line";
    g_hash_table_iter_init(&at, whole);
    while (o->code == 0 && g_hash_table_iter_next(&at, &name, &size))
        if (!g_hash_table_contains(made, name))
            return "claims a file that is not there";
    g_hash_table_iter_init(&at, made);
    while (g_hash_table_iter_next(&at, &name, &size))
        if (g_hash_table_contains(whole, name) && repeats(name) &&
            g_hash_table_lookup(whole, name) != size)
            return "leaves half a file";
    return NULL;
}

/* The pairs that a recording holds play, however it ended: without a word if the program said that
 * all went well, else with one line about those that are missing. Of the three in the whole file
 * each takes about a third of the bytes. */
static bool plays(int code, GHashTable *whole) {
    g_autoptr(GHashTable) made = files_made();
    size_t bytes = GPOINTER_TO_SIZE(g_hash_table_lookup(made, "a.mkv"));
    if (bytes == 0)
        return true;
    size_t held = 3 * bytes / GPOINTER_TO_SIZE(g_hash_table_lookup(whole, "a.mkv")), played = 0;
    AUTO(outcome_free) struct outcome o = shell("$B run " SMALL " $D/o/a.mkv");
    if (g_str_has_prefix(o.out, "frames "))
        sscanf(o.out, "frames %*d captured, %zu", &played);
    bool fine = code == 0 || o.code == 0
                    ? o.code == 0 && error_lines(o.err) == 0
                    : (o.code == 3 || o.code == 6) && error_lines(o.err) == 1 && played >= held;
    return fine;
}

/* Which faults of a kind are tried, from the report of a run without any. */
static GArray *faults_to_try(const char *report, size_t kind, int wanted, bool sites,
                             GRand *random) {
    GArray *faults = g_array_new(FALSE, TRUE, sizeof(struct fault));
    g_auto(GStrv) lines = g_strsplit(report, "\n", -1);
    long all = atol(lines[0]);
    int errors = 0;
    while (errors < 4 && kinds[kind].errors[errors])
        errors++;
    if (sites && strcmp(kinds[kind].name, "memory") == 0 && all > MANY) {
        for (char **line = lines + 1; *line; line++) {
            struct fault f = {.error = kinds[kind].errors[0]};
            long calls;
            if (sscanf(*line, "%16s %ld", f.site, &calls) == 2)
                for (long i = 0; i < MIN(calls, OF_SITE); i++) {
                    f.n = 1 + i * (calls - 1) / (MIN(calls, OF_SITE) - (calls > 1));
                    g_array_append_val(faults, f);
                }
        }
        return faults;
    }
    for (long i = 0; i < (wanted ? MIN(wanted, all) : all * errors); i++) {
        struct fault f = {1 + i / errors, kinds[kind].errors[i % errors], ""};
        if (wanted) {
            f.n = g_rand_int_range(random, 1, (gint32)all + 1);
            f.error = kinds[kind].errors[g_rand_int_range(random, 0, errors)];
        }
        g_array_append_val(faults, f);
    }
    return faults;
}

TEST_ROWS("/faults", commands, test_command) {
    const struct command *c = row;
    const char *given = g_getenv("LIVESTEREO_FAULTS");
    int wanted = given ? atoi(given) : 6, lost_of_all = 0;
    bool sites = g_strcmp0(given, "sites") == 0;
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    const struct fault none = {0};
    char *report;
    g_autofree char *views = strstr(c->line, "$C") ? data_path("calibration/opencv") : NULL;
    if (strstr(c->line, "$C") && !views)
        return;
    write_frames("in", 2);
    write_pair("pair", 48);
    write_text("rig.yml", RIG);
    write_picture("pair/disp_left.png", 48, 20, 5);
    write_text("pair/pair.ini", "[pair]\ndisparity_scale=32\ndisparities=8\n");
    expect_shell(0, "recorded", "", "$B record " SYNTH " --frames 3 -o $D/in.mkv");
    struct outcome first = attempt(c, "write", &none, &report); /* writes GStreamer's registry */
    outcome_free(&first);
    g_free(report);
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        struct outcome good = attempt(c, kinds[k].name, &none, &report);
        g_autoptr(GHashTable) whole = files_made();
        if (good.code != 0 || !report)
            g_error("%s: exit code %d\n%s", c->line, good.code, good.err);
        outcome_free(&good);
        long all = atol(report);
        int lost = 0, late = 0, libraries = 0;
        g_autoptr(GArray) faults = faults_to_try(report, k, wanted, sites, random);
        g_free(report);
        for (guint i = 0; i < faults->len; i++) {
            const struct fault *f = &g_array_index(faults, struct fault, i);
            AUTO(outcome_free) struct outcome o = attempt(c, kinds[k].name, f, &report);
            bool library = ended_by_library(&o);
            const char *why = library ? NULL : fault_of(&o, whole);
            if (!why && strcmp(c->name, "record") == 0 && !plays(o.code, whole))
                why = "leaves a recording that does not play";
            if (why)
                g_printerr("# %s: %s %ld of %ld %s, %s: exit code %d, %s\n%s", c->name,
                           kinds[k].name, f->n, all, f->site, g_strerror(f->error), o.code, why,
                           o.err);
            lost += why != NULL;
            libraries += library;
            late += report && atol(report) < f->n;
            g_free(report);
        }
        g_test_message("%s: %ld calls, %u faults tried, %d lost, %d ended by a library, %d came "
                       "after the last call",
                       kinds[k].name, all, faults->len - (guint)late, lost, libraries, late);
        lost_of_all += lost;
    }
    g_assert_cmpint(lost_of_all, ==, 0);
}
