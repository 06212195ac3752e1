/*
 * What the display server has to say to the window, by xdotool and Xlib: its mouse and keyboard,
 * and the button that closes it.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>

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
    gui_wait_end(&p, 0);
    gui_forget(&p);
}

/* Docks group the window by its class, which leads them to the icon of the desktop file. */
GUI_TEST("/gui/class", test_class) {
    GUI_PROGRAM p = gui_begin("--paused", GUI_SOURCE);
    Display *display = XOpenDisplay(NULL);
    g_assert_nonnull(display);
    XClassHint hint;
    g_assert_cmpint(XGetClassHint(display, gui_window(), &hint), !=, 0);
    g_assert_cmpstr(hint.res_class, ==, "livestereo");
    XFree(hint.res_class);
    XFree(hint.res_name);
    XCloseDisplay(display);
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
    gui_until(&p, "state", "colormap", "cividis");
    click_by_display(&p, window, "picture");
    gui_wait_for(&p, gui_number(&p, "state", "probes") == 1);
    click_by_display(&p, window, "tab.all");
    gui_wait_for(&p, gui_is_visible(&p, "param_search"));
    click_by_display(&p, window, "param_search");
    gui_until(&p, "state", "typing", "1");
    gui_tool("xdotool type lambda");
    gui_until(&p, "state", "searched", "lambda");
    gui_tool("xdotool key Return");
    gui_until(&p, "state", "typing", "0");
    gui_tool("xdotool key q");
    gui_wait_end(&p, 0);
    gui_forget(&p);
}
