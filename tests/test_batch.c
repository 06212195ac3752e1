/*
 * Batches that are stopped and go on, are shared out, or meet in one folder. Rows are compared
 * without their times. SPDX-License-Identifier: MIT
 */
#include "app/batch_rows.h"
#include "tests/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Rows without the field before the last, in milliseconds. */
#define SAME_ROWS(a, b) \
    "diff <(sed 's/[^,]*,\\([^,]*\\)$/\\1/' $D/" a ") <(sed 's/[^,]*,\\([^,]*\\)$/\\1/' $D/" b ")"

/* Seven pairs, of which the sixth cannot be read and two have one name; all of them into whole/. */
static void make_input(void) {
    write_frames("in", 6);
    write_text("in/right/005.png", "");
    g_autofree char *left = path_in("in/left/003.pgm"), *right = path_in("in/right/003.pgm");
    g_assert_true(g_file_set_contents(left, "P5 40 20 255\n", -1, NULL));
    g_assert_true(g_file_set_contents(right, "P5 40 20 255\n", -1, NULL));
    expect_shell(0, "", "",
                 "for s in left right; do head -c 800 /dev/zero >>$D/in/$s/003.pgm; done");
    expect_shell(6, "6 pairs written", "005.png", "$B batch $D/in -o $D/whole " SMALL);
}

static void test_resume(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    make_input();
    /* stopped in the middle of its fourth row, and of a picture's name */
    expect_shell(0, "", "",
                 "cp -r $D/whole $D/out && cd $D/out && rm 004* 006* 003-*.png && "
                 "head -n 4 frames.csv >.frames.csv.part && echo -n '3,0.1,\"half' "
                 ">>.frames.csv.part && rm frames.csv && echo mine >001_disp16.png");
    expect_shell(6, "3 pairs written", "005.png", "$B batch $D/in -o $D/out --resume " SMALL);
    expect_shell(0, "", "", SAME_ROWS("whole/frames.csv", "out/frames.csv"));
    expect_shell(0, "", "",
                 "echo mine | cmp - $D/out/001_disp16.png && cd $D/whole && "
                 "for f in 00[2-6]*.png; do cmp $f $D/out/$f || exit 1; done");
    expect_shell(0, "", "", "test ! -e $D/out/.frames.csv.part");
    /* what is whole stays so; the damaged pair is tried again, by now it can be read */
    write_picture("in/right/005.png", 40, 20, 7);
    expect_shell(0, "1 pair written", "", "$B batch $D/in -o $D/out --resume " SMALL);
    expect_shell(0, "7\n", "", "grep -c ,ok $D/out/frames.csv");
    expect_shell(0, "", "", "$B batch $D/in -o $D/out --resume " SMALL);
    expect_shell(0, "7\n", "", "grep -c ,ok $D/out/frames.csv");
    /* other settings are another result */
    expect_error(1, "other settings", "batch %s/in -o %s/out --resume " SMALL " --set bp_levels=3",
                 folder, folder);
    expect_error(1, "other settings", "batch %s/in -o %s/out --resume --swap " SMALL, folder,
                 folder);
    expect_shell(0, "7\n", "",
                 "cat $D/out/.frames.csv.part $D/out/frames.csv 2>/dev/null | grep -c ,ok");
    expect_shell(0, "", "", "$B batch $D/in -o $D/out --resume --set threads=2 " SMALL);
}

static void test_parts(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    make_input();
    expect_shell(0, "", "",
                 "for k in 3 1 2; do $B batch $D/in -o $D/out --part $k/3 " SMALL
                 " >/dev/null 2>&1 & done; wait; ls $D/out/frames-2-of-3.csv >/dev/null");
    expect_shell(0, "", "", "mv $D/out/frames-2-of-3.csv $D/kept");
    expect_error(1, "frames-2-of-3.csv", "batch --merge %s/out", folder);
    g_assert_false(exists("out/frames.csv"));
    expect_shell(0, "", "", "mv $D/kept $D/out/frames-2-of-3.csv && $B batch --merge $D/out");
    expect_shell(0, "", "", SAME_ROWS("whole/frames.csv", "out/frames.csv"));
    expect_shell(0, "", "", "diff -r -x frames.csv $D/whole $D/out");
    expect_error(1, "--part", "batch --merge %s/out", folder);
    expect_error(1, "other settings", "batch %s/in -o %s/out --part 1/3 --save pfm " SMALL, folder,
                 folder);
    static const char *const bad[] = {"0/3", "4/3", "1", "1/0", "1/3x", "-1/3", "a/b"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        expect_error(2, "--part", "batch %s/in -o %s/no --part %s", folder, folder, bad[i]);
    expect_error(2, "--merge", "batch %s/in --merge %s/out", folder, folder);
}

/* A source without files of its own: every pair is read, a share is computed. */
static void test_parts_of_recording(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    expect_shell(0, "", "",
                 "$B record synth:width=48,height=32,range=8 --frames 7 -o $D/a.mkv && "
                 "$B batch $D/a.mkv -o $D/whole " SMALL);
    expect_shell(0, "3 pairs", "", "$B batch $D/a.mkv -o $D/out --part 2/2 " SMALL);
    expect_shell(0, "4 pairs", "",
                 "$B batch $D/a.mkv -o $D/out --part 1/2 " SMALL " && $B batch --merge $D/out");
    expect_shell(0, "", "", SAME_ROWS("whole/frames.csv", "out/frames.csv"));
}

/* Two batches do not write into one folder; parts do, one of each. */
static void test_one_at_a_time(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    make_input();
    expect_shell(0, "", "", "cp -r $D/whole $D/out && cp $D/out/frames.csv $D/before.csv");
    g_autofree char *out = path_in("out");
    int fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    g_assert_cmpint(flock(fd, LOCK_EX), ==, 0);
    expect_error(1, "another batch", "batch %s/in -o %s/out " SMALL, folder, folder);
    expect_error(1, "another batch", "batch %s/in -o %s/out --part 1/2 " SMALL, folder, folder);
    expect_shell(0, "", "", "diff $D/before.csv $D/out/frames.csv");
    g_assert_cmpint(flock(fd, LOCK_SH), ==, 0); /* as another part would */
    expect_error(1, "another batch", "batch %s/in -o %s/out " SMALL, folder, folder);
    expect_shell(0, "1 pair written", "", "$B batch $D/in -o $D/out --part 3/7 " SMALL);
    close(fd);
}

/* Killed: no table of an earlier run beside new pictures; it can go on. */
static void test_killed(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_frames("in", 40);
    g_autofree char *line =
        g_strdup_printf("%s batch %s/in -o %s/out " SMALL, binary(), folder, folder);
    expect_shell(0, "40 pairs", "", "$B batch $D/in -o $D/out " SMALL);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    for (int round = 0; round < 3; round++) {
        GPid pid;
        g_autofree char *part = path_in("out/.frames.csv.part");
        struct stat about;
        int status;
        g_assert_true(g_spawn_async(NULL, argv, NULL,
                                    G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                                        G_SPAWN_STDERR_TO_DEV_NULL,
                                    NULL, NULL, &pid, NULL));
        while (waitpid(pid, &status, WNOHANG) == 0)
            if (stat(part, &about) == 0 && about.st_size > 300 * (round + 1))
                kill(pid, SIGKILL);
        if (WIFSIGNALED(status))
            g_assert_false(exists("out/frames.csv"));
        expect_shell(0, "", "", "$B batch $D/in -o $D/out --resume " SMALL);
        expect_shell(0, "40\n", "", "grep -c ,ok $D/out/frames.csv");
    }
}

static void test_rows(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    bool ok;
    g_assert_cmpint(batch_row_index("7,0.1,\"a,b\",0,99,1,ok", &ok), ==, 7);
    g_assert_true(ok);
    g_assert_cmpint(batch_row_index("12,,\"a\",,,,damaged", &ok), ==, 12);
    g_assert_false(ok);
    static const char *const bad[] = {
        BATCH_HEADER, "", "-1,,ok", "7", "7ok", "7,0.1,\"a", "99999999999999999999,,ok", " 7,,ok"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_cmpint(batch_row_index(bad[i], &ok), ==, -1);
    const char *const texts[] = {"x\n3,a,ok\n1,a,damaged\n0,a,ok\n9,cut", "1,b,ok\n3,b,damaged\n"};
    g_autofree char *joined = batch_rows_join(texts, 2);
    g_assert_cmpstr(joined, ==, BATCH_HEADER "\n0,a,ok\n1,b,ok\n3,a,ok\n");
}

int main(int argc, char **argv) {
    static const struct cli_test tests[] = {
        {"/batch/rows", test_rows},
        {"/batch/resume", test_resume},
        {"/batch/parts", test_parts},
        {"/batch/parts-of-recording", test_parts_of_recording},
        {"/batch/one-at-a-time", test_one_at_a_time},
        {"/batch/killed", test_killed},
    };
    return cli_run(argc, argv, tests, G_N_ELEMENTS(tests));
}
