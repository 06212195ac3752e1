/*
 * The window on live sources: the banner over a source that
 * is away and comes back, exchange, recording by its key. The cameras are GStreamer's test
 * sources, which need no device. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"
#include "tests/gui/gui.h"

#define SIDE(pattern, more, name)                                                        \
    "videotestsrc is-live=true pattern=" pattern " ! video/x-raw,format=I420,width=160," \
    "height=120,framerate=20/1 ! " more "videoconvert ! appsink name=" name " "
#define CAMERAS(more) "'gst:" SIDE("smpte", more, "left") SIDE("smpte", "", "right") "'"

/* Mean grey level of the middle of the picture on screen. */
static double level(const struct gui_program *p) {
    OWN_IMAGE part = gui_part(p, "picture", 0.33, 0.67);
    double mean = gui_level(&part);
    return mean;
}

GUI_TEST("/gui-live/swap", test_swap) {
    GUI_PROGRAM p =
        gui_begin("--stats", "'gst:" SIDE("white", "", "left") SIDE("black", "", "right") "'");
    gui_tab(&p, "rig");
    gui_run_until(&p, "view-left", "view", "left");
    gui_wait_for(&p, level(&p) >= 200);
    gui_click_until(&p, "camera_swap", "state", "swap", "1");
    gui_wait_for(&p, level(&p) <= 50);
}

static gboolean lost(const struct gui_program *p) {
    g_autofree char *banner = gui_look(p, "state", "banner");
    return banner && strstr(banner, "gives no frames");
}

static gboolean has_status(const struct gui_program *p) {
    return gui_look(p, "place", "status.work") != NULL;
}

/* The source fails every two seconds and is started again: picture and program stay. The banner may
 * be gone when the window is looked at, and comes again. */
GUI_TEST("/gui-live/banner", test_banner) {
    GUI_PROGRAM p = gui_begin("", CAMERAS("identity error-after=40 ! "));
    gui_wait_for(&p, lost(&p) && has_status(&p));
    long stands_at = gui_number(&p, "state", "frame");
    g_assert_cmpint(stands_at, >, 0);
    gui_wait_for(&p, !lost(&p) && gui_number(&p, "state", "frame") > stands_at + 1);
}

/* What the key recorded plays, with the exchange that was on. */
GUI_TEST("/gui-live/record", test_record) {
    GUI_PROGRAM p = {0};
    gui_start(&p, "", "'gst:" SIDE("white", "", "left") SIDE("black", "", "right") "'");
    gui_run_until(&p, "swap", "swap", "1");
    long first = gui_number(&p, "state", "frame");
    gui_wait_for(&p, gui_number(&p, "state", "frame") > first + 10); /* none on its way */
    gui_run_until(&p, "record", "recording", "1");
    gui_run_until(&p, "swap", "message",
                  "Left and right stay as they are while recording (r ends it)"); /* not now */
    g_assert_true(gui_is(&p, "state", "swap", "1"));
    first = gui_number(&p, "state", "frame");
    gui_wait_for(&p, gui_number(&p, "state", "frame") > first + 20);
    gui_run_until(&p, "record", "recording", "0");
    g_autofree char *path = gui_written(&p, ".mkv"), *last = path_in("last.png");
    g_autofree char *report =
        gui_run_tool("%s run %s %s --save-picture %s", g_getenv("LIVESTEREO_BIN"),
                     "--set disparity_range=16 --set bp_iterations=2", path, last);
    long pairs = 0;
    g_assert_cmpint(sscanf(report, "frames %ld captured", &pairs), ==, 1);
    g_assert_cmpint(pairs, >=, 1); /* a busy machine drops some */
    struct image picture;
    g_assert_cmpint(picture_read(last, &picture), ==, 0);
    g_assert_cmpint(picture.data[0], <, 50); /* the right camera's black */
    picture_free(&picture);
}

/* The start page calibrates the cameras that are open, be they of two makes. */
GUI_TEST("/gui-live/calibrate", test_calibrate) {
    if (!chessboard_available()) {
        g_test_skip("needs libopencv-calib3d-dev and libopencv-video-dev");
        return;
    }
    struct gui_program p = gui_begin("", CAMERAS(""));
    gui_key(&p, "n");
    gui_until(&p, "state", "parts", "start=1 log=0");
    gui_click_leaving(&p, "start.calibrate");
    gui_until(&p, "state", "views", "0");
    gui_key(&p, "q");
    gui_wait_end(&p, 4); /* no rig was written */
    gui_forget(&p);
}

/* A pair after which none comes is recorded as it stands, once, whatever is set meanwhile. Its map
 * takes so long that a slider is followed by a preview, which ends while recording, too. */
GUI_TEST("/gui-live/record-still", test_record_still) {
    GUI_PROGRAM p = gui_begin("--set threads=1 --set bp_iterations=1000",
                              "synth:width=320,height=240,range=16,frames=1");
    gui_until(&p, "state", "ended", "1");
    gui_settle(&p);
    gui_run_until(&p, "record", "recording", "1");
    gui_drag(&p, "discontinuity_weight", 0.3, 0.6, 1);
    gui_settle(&p);
    gui_run_action(&p, "record");
    g_autofree char *said = NULL;
    gui_wait_for(&p, (g_free(said), said = gui_look(&p, "state", "message")) &&
                         g_str_has_prefix(said, "Recorded 1 pair: /"));
    g_autofree char *path = gui_written(&p, ".mkv");
    g_autofree char *report =
        gui_run_tool("%s run --set disparity_range=16 %s", g_getenv("LIVESTEREO_BIN"), path);
    long pairs = 0;
    g_assert_cmpint(sscanf(report, "frames %ld captured", &pairs), ==, 1);
    g_assert_cmpint(pairs, ==, 1);
}

/* Pictures are recorded whole, and so are the settings of what is computed at a third of the size:
 * the disparities searched are those of whole pictures. The notice plays it. */
GUI_TEST("/gui-live/record-small", test_record_small) {
    GUI_PROGRAM p = gui_begin("", "synth:width=160,height=120,range=16,frames=60");
    g_assert_true(gui_is(&p, "value", "disparity_range", "16"));
    gui_tab(&p, "all");
    gui_click_until(&p, "scale.1/3", "state", "part", "0 0 53x40 0.3333");
    gui_settle(&p);
    gui_run_until(&p, "record", "recording", "1");
    gui_run_until(&p, "record", "recording", "0");
    g_autofree char *path = gui_written(&p, ".mkv"), *text = NULL,
                    *ini = g_strdup_printf("%.*s.ini", (int)strlen(path) - 4, path);
    g_assert_true(g_file_get_contents(ini, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "disparity_range=16\n"));
    gui_click_until(&p, "toast.play", "state", "source", path);
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "part", "0 0 160x120 1.0000"));
    g_assert_true(gui_has(&p, "state", "nearest")); /* in metres, as the scene was */
    gui_run_action(&p, "start"); /* and it is the first of what was opened before */
    gui_wait_for(&p, gui_is_visible(&p, "start.recent0"));
}

/* Pairs a second are counted anew after the size changes, and after another source is opened: they
 * are never below zero. */
static void expect_rates(const struct gui_program *p) {
    for (int i = 0; i < 40; i++) {
        long before = gui_number(p, "state", "frame");
        gui_run_action(p, "step-forward");
        gui_wait_for(p, gui_number(p, "state", "frame") == before + 1);
        g_autofree char *rates = gui_look(p, "state", "rates");
        g_assert_nonnull(rates);
        if (strchr(rates, '-'))
            g_error("rates %s", rates);
    }
}

GUI_TEST("/gui-live/rates", test_rates) {
    GUI_PROGRAM p = gui_begin("--rate 200", "synth:width=160,height=120,range=16,frames=1000");
    gui_wait_for(&p, gui_number(&p, "state", "frame") > 200);
    gui_run_until(&p, "pause", "paused", "1");
    struct gui_rect at = gui_find(&p, "picture");
    gui_tab(&p, "all");
    gui_click(&p, "scale.1/2");
    gui_wait_for(&p, !gui_is(&p, "state", "part", "0 0 160x120 1.0000"));
    gui_settle(&p);
    expect_rates(&p);
    gui_quit(&p);
    /* Nor are they 0 where a frame takes longer than what is counted at a time. */
    p = gui_begin("--rate 1", "synth:width=160,height=120,range=16,frames=1000");
    gui_wait_for(&p, gui_number(&p, "state", "frame") > 2);
    for (long first = gui_number(&p, "state", "frame");
         gui_number(&p, "state", "frame") < first + 4;) {
        g_autofree char *rates = gui_look(&p, "state", "rates");
        double shown;
        g_assert_cmpint(sscanf(rates, "%*f %*f %lf", &shown), ==, 1);
        g_assert_cmpfloat(shown, >, 0);
        gui_move(&p, at.x + at.width * 0.4, at.y + at.height * 0.4);
        gui_move(&p, at.x + at.width * 0.5, at.y + at.height * 0.5);
    }
}

/* What sets a parameter over the network, as Foxglove does; prints what it is then. */
static const char client[] =
    "import asyncio, json, sys, websockets\n"
    "async def main():\n"
    "    async with websockets.connect('ws://127.0.0.1:' + sys.argv[1],\n"
    "                                  subprotocols=['foxglove.websocket.v1']) as s:\n"
    "        await s.send(json.dumps({'op': 'setParameters', 'id': 'set',\n"
    "                                 'parameters': [{'name': 'fill', 'value': False}]}))\n"
    "        while True:\n"
    "            answer = await s.recv()\n"
    "            if isinstance(answer, str) and json.loads(answer).get('id') == 'set':\n"
    "                return print(*[p['value'] for p in json.loads(answer)['parameters']\n"
    "                               if p['name'] == 'fill'])\n"
    "asyncio.run(asyncio.wait_for(main(), 60))\n";

/* What is sent is ended and begun again by the button; a window at rest takes what a client sets.
 */
GUI_TEST("/gui-live/send", test_send) {
    GUI_PROGRAM p = {0};
    const char *python = g_getenv("PYTHON") ? g_getenv("PYTHON") : "/usr/bin/python3";
    g_autofree char *there = gui_run_tool("%s -c \"import importlib.util as i; "
                                          "print(i.find_spec('websockets') is not None)\"",
                                          python);
    if (strcmp(there, "True") != 0) {
        g_test_skip("needs python3-websockets");
        return;
    }
    g_autofree char *port = gui_run_tool("%s -c \"import socket; s = socket.socket(); "
                                         "s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])\"",
                                         python);
    g_autofree char *options = g_strdup_printf("--paused --stats --out foxglove:%s", port);
    gui_start(&p, options, GUI_SOURCE);
    gui_settle(&p);
    g_autofree char *script = g_build_filename(p.folder, "client.py", NULL);
    g_assert_true(g_file_set_contents(script, client, -1, NULL));
    g_assert_true(gui_is(&p, "state", "sends", "1"));
    gui_click_until(&p, "send", "state", "sends", "0");
    g_autofree char *refused = gui_run_tool("%s %s %s", python, script, port);
    g_assert_cmpstr(refused, ==, "");
    gui_click_until(&p, "send", "state", "sends", "1");
    g_assert_true(gui_is(&p, "value", "fill", "true"));
    g_autofree char *value = gui_run_tool("%s %s %s", python, script, port);
    g_assert_cmpstr(value, ==, "False");
    gui_until(&p, "value", "fill", "false");
    gui_settle(&p);
    gui_run_action(&p, "undo"); /* as if it were set here */
    gui_until(&p, "value", "fill", "true");
}
