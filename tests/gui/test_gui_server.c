/*
 * What the display server has to say to the window, by xdotool and Xlib: its mouse and keyboard,
 * the button that closes it, and how long it takes from a key to the picture that answers it.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/keysym.h>

#define ANSWERS 60
#define POLL_US 500

static void send_key(Display *display, Window window, KeySym symbol) {
    XKeyEvent key = {.display = display,
                     .window = window,
                     .root = DefaultRootWindow(display),
                     .same_screen = True,
                     .keycode = XKeysymToKeycode(display, symbol)};
    key.type = KeyPress;
    XSendEvent(display, window, True, KeyPressMask, (XEvent *)&key);
    key.type = KeyRelease;
    XSendEvent(display, window, True, KeyReleaseMask, (XEvent *)&key);
    XFlush(display);
}

/* The button of a window's frame sends a message, and the program ends as if q was pressed. */
GUI_TEST("/gui/close-button", test_close_button) {
    struct gui_program p = gui_begin("", GUI_SOURCE ",rate=30");
    Display *display = XOpenDisplay(NULL);
    g_assert_nonnull(display);
    Window window = gui_window();
    XEvent event = {.xclient = {.type = ClientMessage,
                                .window = window,
                                .message_type = XInternAtom(display, "WM_PROTOCOLS", False),
                                .format = 32}};
    event.xclient.data.l[0] = (long)XInternAtom(display, "WM_DELETE_WINDOW", False);
    g_assert_cmpint(XSendEvent(display, window, False, NoEventMask, &event), !=, 0);
    XCloseDisplay(display);
    gui_wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 0);
    gui_forget(&p);
}

/* Docks group the window by its class, which leads them to the icon of the desktop file. */
GUI_TEST("/gui/class", test_class) {
    AUTO(gui_quit) struct gui_program p = gui_begin("--paused", GUI_SOURCE);
    Display *display = XOpenDisplay(NULL);
    g_assert_nonnull(display);
    XClassHint hint;
    g_assert_cmpint(XGetClassHint(display, gui_window(), &hint), !=, 0);
    g_assert_cmpstr(hint.res_class, ==, "livestereo");
    XFree(hint.res_class);
    XFree(hint.res_name);
    XCloseDisplay(display);
}

static GBytes *look_at(Display *display, Window window, struct gui_rect at) {
    XImage *image = XGetImage(display, window, at.x, at.y, (unsigned)at.width, (unsigned)at.height,
                              AllPlanes, ZPixmap);
    g_assert_nonnull(image);
    GBytes *bytes = g_bytes_new(image->data, (gsize)image->bytes_per_line * (gsize)image->height);
    XDestroyImage(image);
    return bytes;
}

/* ms from sending a key until that part of the window shows something else. */
static double answer_ms(Display *display, Window window, struct gui_rect at) {
    GBytes *before = look_at(display, window, at);
    gint64 begin = g_get_monotonic_time(), now = begin;
    send_key(display, window, XK_c);
    for (gboolean same = TRUE; same;) {
        g_usleep(POLL_US);
        GBytes *after = look_at(display, window, at);
        now = g_get_monotonic_time();
        same = g_bytes_equal(before, after);
        g_bytes_unref(after);
        g_assert_cmpint(now - begin, <, GUI_WAIT_S * G_TIME_SPAN_SECOND);
    }
    g_bytes_unref(before);
    return (double)(now - begin) / 1e3;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* While compute takes every core for longer than a second a frame, a key is answered; how soon is
 * told, not judged: it depends on the machine. */
GUI_TEST("/gui/answers", test_answers) {
    AUTO(gui_quit) struct gui_program p = {0};
    double ms[ANSWERS];
    gui_start(&p,
              "--set backend=cpu --set disparity_range=96 --set bp_iterations=10 --set lr_check=bp"
              " --set threads=0 --window 1600x900",
              "synth:width=1280,height=720,range=96");
    Display *display = XOpenDisplay(NULL);
    g_assert_nonnull(display);
    Window window = gui_window();
    struct gui_rect at = gui_find(&p, "picture");
    for (int i = 0; i < ANSWERS; i++) {
        ms[i] = answer_ms(display, window, at);
        g_usleep(20000 + 7919 * (gulong)i % 50000); /* not in step with anything */
    }
    XCloseDisplay(display);
    qsort(ms, ANSWERS, sizeof(ms[0]), by_size);
    g_test_message("key to picture: %.1f ms median, %.1f ms 95 %%, %.1f ms longest of %d",
                   ms[ANSWERS / 2], ms[ANSWERS * 95 / 100], ms[ANSWERS - 1], ANSWERS);
}

/* A point of a widget, by the display's mouse; a click there. */
static void click_by_display(const struct gui_program *p, Window window, const char *name) {
    struct gui_rect at = gui_find(p, name);
    gui_tool("xdotool mousemove --window %lu %d %d click 1", window, at.x + at.width / 2,
             at.y + at.height / 2);
}

/* The display's own mouse and keyboard, which other tests go without: a key, a click, and text. */
GUI_TEST("/gui/real-input", test_real_input) {
    struct gui_program p = gui_open("--paused", GUI_SOURCE);
    Window window = gui_window();
    gui_tool("xdotool windowfocus --sync %lu", window);
    g_assert_true(gui_is(&p, "state", "colormap", "turbo"));
    gui_tool("xdotool key c");
    gui_wait_for(&p, gui_is(&p, "state", "colormap", "cividis"));
    click_by_display(&p, window, "picture");
    gui_wait_for(&p, gui_number(&p, "state", "probes") == 1);
    click_by_display(&p, window, "tab.all");
    gui_wait_for(&p, gui_is_visible(&p, "param_search"));
    click_by_display(&p, window, "param_search");
    gui_wait_for(&p, gui_is(&p, "state", "typing", "1"));
    gui_tool("xdotool type lambda");
    gui_wait_for(&p, gui_is(&p, "state", "searched", "lambda"));
    gui_tool("xdotool key Return");
    gui_wait_for(&p, gui_is(&p, "state", "typing", "0"));
    gui_tool("xdotool key q");
    gui_wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 0);
    gui_forget(&p);
}
