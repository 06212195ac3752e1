/*
 * The program on recordings, as its users meet it: inputs of batch, cameras that hang upside down
 * or were exchanged, every disparity of run those of batch. Runs the binary that
 * LIVESTEREO_BIN names (default build/livestereo). SPDX-License-Identifier: MIT
 */
#include "image/pixel_format.h"
#include "tests/cli.h"

#include <sys/wait.h>

#define SCENE "synth:width=64,height=48,range=8,frames=6"

/* Both folders have the same maps. */
static void same_maps(const char *a, const char *b) {
    g_autofree char *line = g_strdup_printf("for i in 0 1 2 3 4 5; do f=00000${i}_disp16.png && "
                                            "cmp $D/%s/$f $D/%s/$f || exit; done",
                                            a, b);
    expect_shell(0, "", "", line);
}

/* A recording of the scene, and what is computed of it: as of the scene itself, by run as by
 * batch. */
CLI_TEST("/cli-cameras/recording", test_recording) {
    must("record " SCENE " -o $D/a.mkv");
    must("batch " SCENE " -o $D/scene " SMALL);
    must("batch $D/a.mkv -o $D/played " SMALL);
    same_maps("scene", "played");
    expect_shell(0, "", "", "mkdir $D/live");
    must("run $D/a.mkv --save-disparity $D/live/%%06d_disp16.png --set temporal_mode=off " SMALL);
    same_maps("scene", "live");
}

/* Whatever holds more than one pair is averaged by run as by the window, and not by batch. */
CLI_TEST("/cli-cameras/sequence", test_sequence) {
    expect_shell(0, "", "",
                 "S=synth:width=160,height=120,range=16,noise=2,frames=4,color=0; "
                 "W=\"" SMALL " --set temporal_mode\"; mkdir $D/auto $D/on $D/off && "
                 "for mode in auto on off; do "
                 "$B run -q $S --save-disparity $D/$mode/%06d_disp16.png $W=$mode || exit 1; done "
                 "&& $B batch -q $S -o $D/batch $W=auto && rm $D/batch/frames.csv && "
                 "diff -r $D/auto $D/on && ! diff -rq $D/auto $D/off >$D/differ && "
                 "diff -r $D/batch $D/off");
    static const char why[] = "without a calibration depth is not averaged";
    expect_shell(0, "", why, "$B run " SCENE ",row_offset=0.1 " SMALL);
    AUTO(outcome_free)
    struct outcome one = shell("$B run " SCENE ",row_offset=0.1,frames=1 " SMALL);
    g_assert_null(strstr(one.err, why));
}

/* Pictures turned on disk are those turned by the option. */
CLI_TEST("/cli-cameras/turned", test_turned) {
    must("record " SCENE " -o $D/a.mkv");
    must("batch $D/a.mkv -o $D/turned --rotate180 both --flip R --swap " SMALL);
    must("record $D/a.mkv -o $D/b.mkv --rotate180 both --flip R --swap");
    must("batch $D/b.mkv -o $D/again " SMALL);
    same_maps("turned", "again");
    must(
        "batch $D/b.mkv -o $D/back --rotate180 both --flip L --swap " SMALL); /* all of it undone */
    must("batch $D/a.mkv -o $D/plain " SMALL);
    same_maps("plain", "back");
}

CLI_TEST("/cli-cameras/pictures", test_pictures) {
    must("batch synth:width=64,height=48,range=8,frames=1,color=0 -o $D/left --save left " SMALL);
    expect_shell(0, "", "", "mv $D/left/*_left.png $D/0.png");
    g_autofree char *path = path_in("0.png"), *to = path_in("turned.png");
    OWN_IMAGE image = {0};
    g_assert_cmpint(picture_read(path, &image), ==, 0);
    image_rotate180(&image);
    g_assert_cmpint(picture_write(to, &image), ==, 0);
    must("batch $D/0.png $D/0.png -o $D/option --rotate180 R " SMALL);
    must("batch $D/0.png $D/turned.png -o $D/disk " SMALL);
    expect_shell(0, "", "", "cmp $D/option/0_disp16.png $D/disk/0_disp16.png");
    expect_error(2, "rotate180", "batch $D/0.png $D/0.png -o $D/option --rotate180 X");
    expect_error(2, "element livestereo", "run " SCENE " --out gst:fakesink " SMALL);
}

/* Rectified pictures are not rectified again. */
CLI_TEST("/cli-cameras/rectified", test_rectified) {
    write_text("rig.yml", "M1: [60, 0, 31, 0, 60, 23, 0, 0, 1]\nD1: [-0.3, 0, 0, 0, 0]\n"
                          "M2: [60, 0, 31, 0, 60, 23, 0, 0, 1]\nD2: [-0.3, 0, 0, 0, 0]\n"
                          "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.1, 0, 0]\n");
    must("record " SCENE " -o $D/a.mkv --rectified --calib $D/rig.yml");
    must("batch " SCENE " -o $D/plain " SMALL);
    must("batch $D/a.mkv -o $D/noted --calib $D/a.calibration.yml --unit m " SMALL);
    same_maps("plain", "noted");
    must("batch " SCENE " -o $D/maps --calib $D/rig.yml --unit m " SMALL);
    expect_shell(1, "differ", "", "cmp $D/plain/000000_disp16.png $D/maps/000000_disp16.png");
}
