/*
 * What readers, signals, descriptors and odd files do to the program: it reports, and ends as its
 * exit codes say. SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"

#include <signal.h>
#include <sys/stat.h>

/* Where the reader of its standard output goes away it ends as others do, without a word. */
CLI_TEST("/cli/reader-gone", test_reader_gone) {
    AUTO(outcome_free) struct outcome o = shell("$B --help-params | true; exit ${PIPESTATUS[0]}");
    g_assert_true(o.code == 128 + SIGPIPE || o.code == 0);
    g_assert_cmpstr(o.err, ==, "");
}

/* Messages of a program whose standard streams are closed do not land in its files. */
CLI_TEST("/cli/closed-streams", test_closed_streams) {
    write_frames("in", 3);
    write_text("in/right/002.png", "not a picture");
    expect_shell(6, "", "", "$B batch $D/in -o $D/out " SMALL " <&- >&- 2>&-");
    g_auto(GStrv) lines = read_lines("out/frames.csv");
    g_assert_cmpint(g_strv_length(lines), ==, 5);
    g_assert_true(g_str_has_prefix(lines[0], "index,"));
    g_assert_true(g_str_has_suffix(lines[2], "damaged"));
    expect_shell(1, "", "standard output", "$B --help >&-");
}

/* Waits until the file at path holds something. */
static void wait_for_text(const char *path) {
    struct stat about = {0};
    while (stat(path, &about) != 0 || about.st_size == 0)
        g_usleep(10000);
}

/* A pair in a thousand seconds: the end must not wait for the next one. As many as can be: of the
 * one at hand nothing is left behind (with AddressSanitizer). */
CLI_TEST("/cli/quit-while-paced", test_quit_while_paced) {
    static const char *const words[] = {"run --rate 0.001 --save-disparity", "run --save-disparity",
                                        "record --rate 0.001 -o"},
                             *const signs[] = {"a000000.png", "b000000.png", "rec.csv"},
                             *const targets[] = {"a%06d.png", "b%06d.png", "rec.mkv"};
    for (int i = 0; i < 3; i++) {
        g_autofree char *sign = path_in(signs[i]), *target = path_in(targets[i]);
        g_autofree char *line =
            g_strdup_printf("%s %s %s " SYNTH " " SMALL, binary(), words[i], target);
        if (i == 2)
            g_setenv("LSAN_OPTIONS", "detect_leaks=0", TRUE); /* GStreamer's */
        g_auto(GStrv) argv = g_strsplit(line, " ", -1);
        GPid pid;
        GError *error = NULL;
        g_spawn_async(NULL, argv, NULL,
                      G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                          G_SPAWN_STDERR_TO_DEV_NULL,
                      NULL, NULL, &pid, &error);
        g_assert_no_error(error);
        wait_for_text(sign);
        g_assert_cmpint(kill(pid, SIGINT), ==, 0);
        int status;
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, 0);
    }
}

/* Whatever is wrong with one pair is that pair's: the rest is computed, and each has its row. */
CLI_TEST("/cli/bad-pairs", test_bad_pairs) {
    write_frames("in", 8);
    g_autofree char *link = path_in("in/left/001.png"), *dir = path_in("in/left/003.png"),
                    *fifo = path_in("in/right/004.png"), *closed = path_in("in/left/005.png");
    g_assert_cmpint(g_remove(link) | g_remove(dir) | g_remove(fifo), ==, 0);
    g_assert_cmpint(symlink("nowhere", link), ==, 0);
    g_assert_cmpint(mkdir(dir, 0700), ==, 0);
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    g_assert_cmpint(chmod(closed, 0), ==, 0);
    write_text("in/right/006.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    write_text("in/left/007.png", "P5 99999 2 255\n");
    bool all_may_read = geteuid() == 0;
    expect_shell(6, all_may_read ? "3 pairs written" : "2 pairs written", "001.png",
                 "$B batch $D/in -o $D/out " SMALL);
    g_auto(GStrv) lines = read_lines("out/frames.csv");
    g_assert_cmpint(g_strv_length(lines), ==, 10);
    g_assert_true(exists("out/002_disp16.png") && !exists("out/001_disp16.png"));
    static const char *const status[] = {"damaged", "ok",      "damaged", "damaged",
                                         "",        "damaged", "damaged", "ok"};
    for (int i = 0; i < 8; i++)
        g_assert_true(g_str_has_suffix(lines[i + 1], status[i]));
}

/* Names of files in the table and in JSON do not steer the terminal. */
CLI_TEST_PLAIN("/cli/eval-names", test_eval_names) {
    write_frames("set", 2);
    write_text("set/pair.ini", "[pair]\ndisparity_scale=1\ndisparities=8\n");
    expect_shell(0, "", "",
                 "cd $D/set && mv left/001.png left/$'\\e[2Ja\\xc2\\x9b1m.png' && "
                 "mv right/001.png right/$'\\e[2Ja\\xc2\\x9b1m.png' && cp -r left disp_left");
    expect_shell(0, "set/?[2Ja??1m ", "", "$B eval " SMALL " $D/set");
    expect_shell(0, "set/\\u001b[2Ja\\u009b1m\"", "", "$B eval --json " SMALL " $D/set");
}

/* Settings and calibrations are regular files of sane size; nothing waits for others or reads them
 * without end. */
CLI_TEST_PLAIN("/cli/odd-files", test_odd_files) {
    g_autofree char *fifo = path_in("fifo.ini"), *large = path_in("large.ini");
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    write_text("large.ini", "");
    g_assert_cmpint(truncate(large, (off_t)1 << 40), ==, 0);
    const char *const paths[] = {fifo, "/dev/zero", large, folder};
    const char *const why[] = {"no regular file", "no regular file", "too large", "directory"};
    for (int i = 0; i < 4; i++) {
        expect_error(2, why[i], "run " SYNTH " --config %s", paths[i]);
        if (i != 3) /* a folder's name is that of a preset to look for */
            expect_error(2, why[i], "run " SYNTH " --preset %s", paths[i]);
        expect_error(4, why[i], "run " SYNTH " " SMALL " --calib %s", paths[i]);
        expect_error(1, why[i], "record " SYNTH " --frames 1 -o $D/r%d.mkv --calib %s", i,
                     paths[i]);
    }
    write_frames("in", 2);
    expect_shell(0, "2 pairs", "",
                 "mkfifo $D/in/pair.ini $D/in/calib.txt && "
                 "timeout 60 $B batch $D/in -o $D/out " SMALL);
}

/* Numbers are checked where they come in: finite, in range. */
CLI_TEST_PLAIN("/cli/numbers", test_numbers) {
    static const char *const bad[] = {"nan", "inf", "-inf", "1e-300", "-1e-300", "1e300", "-1"};
    static const char *const options[] = {
        "run " SYNTH " --rate",       "record " SYNTH " --rate", "view " SYNTH " --rate",
        "record " SYNTH " --seconds", "view " SYNTH " --start",  "run " SYNTH " --sync-tolerance",
        "view " SYNTH " --ui-scale",  "run " SYNTH " --scale",   "run " SYNTH " --alpha",
        "calibrate x --outlier"};
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(bad); k++) {
            bool tiny_is_fine = strstr(options[i], "1e") || strstr(options[i], "--s") ||
                                strstr(options[i], "--alpha") || strstr(options[i], "--outlier");
            if (tiny_is_fine && strcmp(bad[k], "1e-300") == 0)
                continue;
            expect_error(2, "--", "%s %s", options[i], bad[k]);
        }
    expect_error(3, "rate", "run synth:rate=nan");
}

/* Pictures that are too wide, or too narrow to be halved, are refused by every command alike. */
CLI_TEST_PLAIN("/cli/sizes", test_sizes) {
    static const char *const sizes[] = {"width=32772,height=4", "width=2,height=4",
                                        "width=64,height=16385"};
    static const char *const commands[] = {"run", "record -o $D/a.mkv"};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(commands); k++) {
            g_autofree char *line =
                g_strdup_printf("$B %s " SMALL " \"gst:videotestsrc ! video/x-raw,format=RGB,%s ! "
                                "appsink name=both\"",
                                commands[k], sizes[i]);
            expect_shell(3, "", "2 to 16384 a side", line);
        }
    g_assert_cmpint(count_files("."), ==, 0);
}

/* No stage needs a large stack. */
CLI_TEST("/cli/small-stack", test_small_stack) {
    expect_shell(0, "2 shown", "",
                 "ulimit -s 512; $B run " SYNTH " --frames 2 " SMALL
                 " --set median_radius=2 --set lr_check=warp --set cost_smoothing=cross");
}

/* A recording brings its calibration; --calib overrules it, one that is damaged is refused. */
CLI_TEST_PLAIN("/cli/own-calibration", test_own_calibration) {
    write_text("rig.yml", RIG);
    write_text("other.yml", "x");
    expect_shell(0, "3 pairs", "", "$B record " SYNTH " --frames 3 -o $D/a.mkv --calib $D/rig.yml");
    expect_shell(0, "", "a.calibration.yml: is taken",
                 "R=\"$B run " SMALL " --save-disparity\" && $R $D/own.png $D/a.mkv && "
                 "$R $D/same.png --calib $D/rig.yml $D/a.mkv && cmp $D/own.png $D/same.png && "
                 "mv $D/a.calibration.yml $D/kept.yml && $R $D/raw.png $D/a.mkv && "
                 "mv $D/kept.yml $D/a.calibration.yml && ! cmp -s $D/own.png $D/raw.png");
    expect_shell(4, "", "other.yml", "$B run $D/a.mkv " SMALL " --calib $D/other.yml");
    expect_shell(0, "3 pairs", "", "$B record $D/a.mkv -o $D/b.mkv && cmp $D/[ab].calibration.yml");
    write_text("a.calibration.yml", "x");
    expect_shell(4, "", "a.calibration.yml", "$B run $D/a.mkv " SMALL);
}

/* A file that was cut off fails in each command, however many of its pairs could be read. */
CLI_TEST("/cli/cut", test_cut) {
    expect_shell(0, "50 pairs", "",
                 "$B record " SYNTH " --frames 50 -o $D/a.mkv && "
                 "truncate -s $(($(stat -c %s $D/a.mkv) * 3 / 10)) $D/a.mkv");
    expect_shell(3, "pairs written", "though 50 were recorded", "$B batch $D/a.mkv -o $D/o " SMALL);
    expect_shell(3, "captured", "though 50 were recorded", "$B run $D/a.mkv " SMALL);
    expect_shell(3, "pairs", "though 50 were recorded", "$B record $D/a.mkv -o $D/b.mkv");
    /* wherever it was cut, within the first pair for instance */
    expect_shell(0, "", "",
                 "B=$(realpath $B); cd $D; $B record " SYNTH ",noise=20 --frames 2 -o p.mkv && "
                 "for k in $(seq 1 15); do cp p.csv q.csv; cp p.recording.ini q.recording.ini; "
                 "head -c $(($(stat -c %s p.mkv) * k / 20)) p.mkv >q.mkv; rm -f r.*; "
                 "timeout 60 $B record q.mkv -o r.mkv 2>said; code=$?; "
                 "test $code = 3 -a $(grep -c error: said) = 1 || exit $code; done");
    write_frames("in", 4);
    write_text("in/right/002.png", "cut");
    expect_shell(6, "1 damaged", "002.png", "$B run $D/in " SMALL);
    expect_shell(6, "3 pairs", "002.png", "$B record $D/in -o $D/c.mkv");
}

/* With -q standard output holds nothing. */
CLI_TEST("/cli/quiet", test_quiet) {
    expect_shell(0, "0\n", "",
                 "$B run -q " SYNTH " --frames 1 " SMALL " --save-picture $D/p.png "
                 "| wc -c; exit ${PIPESTATUS[0]}");
    AUTO(outcome_free) struct outcome o = shell("$B record -q " SYNTH " --frames 3 -o $D/a.mkv");
    g_assert_cmpstr(o.out, ==, "");
}

static bool starts_in(int mb) {
    g_autofree char *line = g_strdup_printf("ulimit -v %d000; exec $B --version", mb);
    AUTO(outcome_free) struct outcome o = shell(line);
    bool starts = o.code == 0;
    return starts;
}

/* From where its libraries can be loaded to where all is written, one line says that memory is too
 * little: 1, or 3 where the source cannot even be opened. */
CLI_TEST("/cli/little-memory", test_little_memory) {
    int mb = 120, code;
    while (mb <= 2000 && !starts_in(mb))
        mb += 20;
    if (mb > 2000) {
        g_test_skip("sanitizers take more address space than can be limited");
        return;
    }
    write_text("rig.yml", "%YAML:1.0\nimage_width: 750\nimage_height: 500\n"
                          "M1: [450, 0, 375, 0, 450, 250, 0, 0, 1]\nD1: [0.1, 0, 0, 0]\n"
                          "M2: [450, 0, 375, 0, 450, 250, 0, 0, 1]\nD2: [0, 0, 0, 0]\n"
                          "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.1, 0, 0]\nbaseline_unit: m\n");
    do {
        g_autofree char *line = g_strdup_printf(
            "ulimit -v %d000; exec $B batch synth:width=750,height=500,range=8,frames=1 -o $D/o "
            "--set disparity_range=8 --set threads=1 --save ply,depth16,color --calib $D/rig.yml",
            mb);
        struct outcome o = shell(line);
        bool unopened = o.code == 3 && strstr(o.err, "no memory for the scene");
        if ((o.code != 0 && o.code != 1 && !unopened) || error_lines(o.err) != (o.code != 0))
            g_error("%s\nexit code %d:\n%s", line, o.code, o.err);
        code = o.code;
        outcome_free(&o);
        mb += 20;
    } while (code != 0 && mb <= 2000);
    g_assert_cmpint(code, ==, 0);
}

/* A recording that is ended at any moment: by Ctrl-C or TERM it is whole or not there at all;
 * killed, it plays as far as it goes, or is refused in a line. */
CLI_TEST("/cli/record-ended", test_record_ended) {
    static const char *const signals[] = {"INT", "TERM", "KILL"};
    for (int i = 0; i < 30; i++) {
        const char *signal = signals[i % 3];
        double after_s = g_test_rand_double_range(0.02, 0.5);
        bool begun = i / 3 % 2; /* counted from the first file on, however slow the start is */
        g_autofree char *end =
            begun ? g_strdup_printf("& while kill -0 $! && [ ! -e $D/%d/a.csv ]; do sleep 0.01; "
                                    "done; sleep %.2f; kill -%s $!; wait $!",
                                    i, after_s, signal)
                  : g_strdup("");
        g_autofree char *limit =
            begun ? g_strdup("")
                  : g_strdup_printf("timeout --foreground -s %s %.2f", signal, after_s);
        g_autofree char *line = g_strdup_printf(
            "mkdir $D/%d; %s $B record " SYNTH " --rate 200 -o $D/%d/a.mkv >/dev/null %s; ls $D/%d",
            i, limit, i, end, i);
        AUTO(outcome_free) struct outcome made = shell(line);
        g_autofree char *play = g_strdup_printf("$B run " SMALL " $D/%d/a.mkv", i);
        AUTO(outcome_free) struct outcome played = shell(play);
        bool nothing = made.out[0] == 0, killed = i % 3 == 2; /* rows may lack their pictures */
        if (nothing ? played.code != 3 : played.code != 0 && !(killed && played.code == 3))
            g_error("%s\nleft %s\nexit code %d:\n%s%s\nrecord said:\n%s", line, made.out,
                    played.code, played.out, played.err, made.err);
        g_assert_cmpint(error_lines(played.err), ==, played.code == 3);
    }
}

/* Pictures can be read and tables end with a line, whatever is in a folder. */
static void expect_whole(const char *path) {
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *below = g_build_filename(path, name, NULL), *text = NULL;
        struct image picture;
        size_t length;
        if (g_file_test(below, G_FILE_TEST_IS_DIR)) {
            expect_whole(below);
        } else if (g_str_has_suffix(name, ".png")) {
            g_assert_cmpint(picture_read(below, &picture), ==, 0);
            picture_free(&picture);
        } else if (g_str_has_suffix(name, ".csv") || g_str_has_suffix(name, ".yml")) {
            g_assert_true(g_file_get_contents(below, &text, &length, NULL));
            g_assert_true(length > 0 && text[length - 1] == '\n');
        }
    }
}

/* Commands that are ended at any moment leave no half file. */
CLI_TEST("/cli/ended", test_ended) {
    static const char *const signals[] = {"INT", "TERM", "KILL"};
    static const struct {
        const char *line;
        double most_s; /* that it is left alone */
    } commands[] = {{"run " SYNTH " " SMALL " --rate 2000 --save-disparity $D/o/%06d.png", 0.3},
                    {"batch $D/in -o $D/o " SMALL " --save disp16,color", 0.1},
                    {"eval --repeat 9 " SMALL " --save $D/o $D/pair", 0.1},
                    {"calib convert $D/rig.yml -o $D/o/rig.yml --size 24x16", 0.02}};
    write_frames("in", 40);
    write_pair("pair", 48);
    write_picture("pair/disp_left.png", 48, 20, 5);
    write_text("pair/pair.ini", "[pair]\ndisparity_scale=32\ndisparities=8\n");
    write_text("rig.yml", RIG);
    for (size_t k = 0; k < G_N_ELEMENTS(commands); k++)
        for (int i = 0; i < 24; i++) {
            double after_s = g_test_rand_double_range(0.001, commands[k].most_s);
            g_autofree char *line = g_strdup_printf(
                "rm -rf $D/o; mkdir $D/o; timeout --foreground -k 600 -s %s %.4f $B %s",
                signals[i % 3], after_s, commands[k].line);
            AUTO(outcome_free) struct outcome o = shell(line);
            g_autofree char *below = path_in("o");
            if (i % 3 != 2 && o.code == 137)
                g_error("%s\ndid not end:\n%s", line, o.err);
            expect_whole(below);
        }
}
