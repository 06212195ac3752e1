/*
 * The window of render/window.h, with GLFW 3.3. GLFW's callbacks only append to a ring buffer of
 * events.
 * SPDX-License-Identifier: MIT
 */
#include "render/window.h"

#include "base/log.h"

#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <X11/Xlib.h>
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct window {
    GLFWwindow *glfw;
    GQueue events; /* struct window_event */
    struct window_input input;
    bool tells_reset; /* OpenGL, that the context was lost */
    char **dropped;
    int old_x, old_y, old_width, old_height; /* before full screen */
};

static const struct {
    int key;
    const char *name;
} named_keys[] = {{GLFW_KEY_SPACE, "SPACE"},  {GLFW_KEY_BACKSPACE, "BACKSPACE"},
                  {GLFW_KEY_ESCAPE, "ESC"},   {GLFW_KEY_TAB, "TAB"},
                  {GLFW_KEY_LEFT, "LEFT"},    {GLFW_KEY_RIGHT, "RIGHT"},
                  {GLFW_KEY_UP, "UP"},        {GLFW_KEY_DOWN, "DOWN"},
                  {GLFW_KEY_HOME, "HOME"},    {GLFW_KEY_END, "END"},
                  {GLFW_KEY_PAGE_UP, "PGUP"}, {GLFW_KEY_PAGE_DOWN, "PGDN"},
                  {GLFW_KEY_F1, "F1"},        {GLFW_KEY_F5, "F5"},
                  {GLFW_KEY_F6, "F6"},        {GLFW_KEY_F7, "F7"},
                  {GLFW_KEY_F8, "F8"},        {GLFW_KEY_ENTER, "ENTER"}};

/* Adds an event and returns it for the details. A move that follows a move replaces it. */
static struct window_event *append(GLFWwindow *glfw, enum window_event_type type) {
    struct window *window = glfwGetWindowUserPointer(glfw);
    struct window_event *last = g_queue_peek_tail(&window->events);
    if (!last || last->type != type || (type != WINDOW_MOVE && type != WINDOW_OTHER))
        g_queue_push_tail(&window->events, last = g_new(struct window_event, 1));
    *last = (struct window_event){.type = type};
    if (type == WINDOW_MOVE || type == WINDOW_BUTTON || type == WINDOW_SCROLL) {
        int width, height, buffer_width, buffer_height;
        glfwGetCursorPos(glfw, &last->x, &last->y);
        glfwGetWindowSize(glfw, &width, &height);
        glfwGetFramebufferSize(glfw, &buffer_width, &buffer_height);
        last->x *= width > 0 ? (double)buffer_width / width : 1;
        last->y *= height > 0 ? (double)buffer_height / height : 1;
        window->input.x = last->x;
        window->input.y = last->y;
        window->input.clicks += type != WINDOW_MOVE;
    }
    return last;
}

static void on_key(GLFWwindow *glfw, int key, int scancode, int action, int mods) {
    append(glfw, WINDOW_OTHER); /* for the widgets, which also take other keys, and releases */
    if (action == GLFW_RELEASE)
        return;
    for (size_t i = 0; i < sizeof(named_keys) / sizeof(named_keys[0]); i++)
        if (named_keys[i].key == key) {
            struct window_event *event = append(glfw, WINDOW_KEY);
            snprintf(event->key, sizeof(event->key), "%s%s", mods & GLFW_MOD_SHIFT ? "Shift+" : "",
                     named_keys[i].name);
        }
    /* with Ctrl no character comes */
    const char *name = mods & GLFW_MOD_CONTROL ? glfwGetKeyName(key, scancode) : NULL;
    if (name && name[0] && !name[1]) {
        struct window_event *event = append(glfw, WINDOW_KEY);
        snprintf(event->key, sizeof(event->key), "Ctrl+%s%s", mods & GLFW_MOD_SHIFT ? "Shift+" : "",
                 name);
    }
}

/* Characters come as the user's keyboard layout makes them. */
static void on_character(GLFWwindow *glfw, unsigned int code) {
    struct window *window = glfwGetWindowUserPointer(glfw);
    window->input.characters++;
    if (code > ' ' && code < 127)
        append(glfw, WINDOW_KEY)->key[0] = (char)code;
}

static void on_button(GLFWwindow *glfw, int button, int action, int mods) {
    (void)mods;
    struct window_event *event = append(glfw, WINDOW_BUTTON);
    event->button = button;
    event->down = action == GLFW_PRESS;
}

static void on_move(GLFWwindow *glfw, double x, double y) {
    (void)x, (void)y;
    append(glfw, WINDOW_MOVE);
}

static void on_scroll(GLFWwindow *glfw, double dx, double dy) {
    (void)dx;
    append(glfw, WINDOW_SCROLL)->dy = dy;
}

static void on_size(GLFWwindow *glfw, int width, int height) {
    (void)width, (void)height;
    append(glfw, WINDOW_OTHER);
}

static void on_flag(GLFWwindow *glfw, int flag) {
    (void)flag;
    append(glfw, WINDOW_OTHER);
}

static void on_refresh(GLFWwindow *glfw) {
    append(glfw, WINDOW_OTHER);
}

static void on_drop(GLFWwindow *glfw, int count, const char **paths) {
    struct window *window = glfwGetWindowUserPointer(glfw);
    g_strfreev(window->dropped);
    window->dropped = g_new0(char *, count + 1);
    for (int i = 0; i < count; i++)
        window->dropped[i] = g_strdup(paths[i]);
    append(glfw, WINDOW_DROP);
}

const char *const *window_dropped(const struct window *window, int *count) {
    *count = window->dropped ? (int)g_strv_length(window->dropped) : 0;
    return (const char *const *)window->dropped;
}

void window_set_title(struct window *window, const char *title) {
    glfwSetWindowTitle(window->glfw, title);
}

/* The library of widgets calls these from its own callbacks, so they are set before it starts. */
static void set_callbacks(struct window *window) {
    glfwSetWindowUserPointer(window->glfw, window);
    glfwSetKeyCallback(window->glfw, on_key);
    glfwSetCharCallback(window->glfw, on_character);
    glfwSetMouseButtonCallback(window->glfw, on_button);
    glfwSetCursorPosCallback(window->glfw, on_move);
    glfwSetScrollCallback(window->glfw, on_scroll);
    glfwSetDropCallback(window->glfw, on_drop);
    glfwSetFramebufferSizeCallback(window->glfw, on_size);
    glfwSetWindowFocusCallback(window->glfw, on_flag);
    glfwSetWindowIconifyCallback(window->glfw, on_flag);
    glfwSetCursorEnterCallback(window->glfw, on_flag);
    glfwSetWindowRefreshCallback(window->glfw, on_refresh);
}

/* Leaves room for a frame. */
static void fit_screen(int *width, int *height) {
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    int x, y, most_width = 0, most_height = 0;
    if (monitor)
        glfwGetMonitorWorkarea(monitor, &x, &y, &most_width, &most_height);
    if (most_width < 1 || most_height < 1)
        return;
    *width = (int)fmin(*width, 0.95 * most_width);
    *height = (int)fmin(*height, 0.95 * most_height);
}

static GLFWwindow *make_context(const struct window_options *options, bool robust) {
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_DEPTH_BITS, 0); /* render/draw.c has its own */
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    glfwWindowHint(GLFW_ALPHA_BITS, 0);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "livestereo");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "livestereo");
    glfwWindowHint(GLFW_VISIBLE, options->hidden ? GLFW_FALSE : GLFW_TRUE);
    if (robust)
        glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);
    int width = options->width, height = options->height;
    if (options->fits)
        fit_screen(&width, &height);
    return glfwCreateWindow(width, height, options->title, NULL, NULL);
}

/* The X server is gone. Xlib lets nobody go on after this, and would itself end the program with
 * its own message. */
static int on_lost_display(Display *display) {
    log_error("window", "the X server of display %s has ended, and the window with it",
              DisplayString(display));
    _exit(EXIT_FAILURE);
}

/* Another program's window may be gone before it gets an answer, one that files were dragged from
 * for instance: no reason to end, as Xlib would. */
static int on_x_error(Display *display, XErrorEvent *error) {
    char text[128];
    XGetErrorText(display, error->error_code, text, sizeof(text));
    log_at(error->error_code == BadWindow ? LOG_DEBUG : LOG_WARNING, "window",
           "the X server refused request %d.%d: %s", error->request_code, error->minor_code, text);
    return 0;
}

static struct window *fail(struct window *window, int *error, int code) {
    window_close(&window);
    *error = code;
    return NULL;
}

struct window *window_open(const struct window_options *options, int *error) {
    struct window *window = g_new0(struct window, 1);
    XSetIOErrorHandler(on_lost_display);
    if (!glfwInit())
        return log_fail(fail(window, error, -ENODEV), "window",
                        "no display to open a window on; set DISPLAY, or use livestereo batch or"
                        " livestereo run, which need none");
    window->glfw = make_context(options, true);
    if (!window->glfw)
        window->glfw = make_context(options, false);
    if (!window->glfw) {
        const char *why = NULL;
        glfwGetError(&why);
        return log_fail(fail(window, error, -ENOTSUP), "window",
                        "this display's OpenGL cannot do version 3.3 (%s); update the graphics"
                        " driver, or run with LIBGL_ALWAYS_SOFTWARE=1",
                        why ? why : "no cause given");
    }
    XSetErrorHandler(on_x_error); /* GLFW has set others until here */
    glfwMakeContextCurrent(window->glfw);
    glfwSwapInterval(1);
    window->tells_reset = epoxy_gl_version() >= 45 || epoxy_has_gl_extension("GL_KHR_robustness");
    log_debug("window", "OpenGL %s, %s", (const char *)glGetString(GL_VERSION),
              (const char *)glGetString(GL_RENDERER));
    set_callbacks(window);
    return window;
}

void window_close(struct window **window_pointer) {
    struct window *window = *window_pointer;
    *window_pointer = NULL;
    if (!window)
        return;
    if (window->glfw)
        glfwDestroyWindow(window->glfw);
    glfwTerminate();
    g_strfreev(window->dropped);
    g_queue_clear_full(&window->events, g_free);
    g_free(window);
}

void *window_handle(struct window *window) {
    return window->glfw;
}

void window_wait(struct window *window, double timeout_s) {
    if (window->events.length > 0 || timeout_s == 0)
        glfwPollEvents();
    else if (timeout_s < 0)
        glfwWaitEvents();
    else
        glfwWaitEventsTimeout(timeout_s);
}

void window_wake(void *context) {
    (void)context;
    glfwPostEmptyEvent();
}

bool window_next_event(struct window *window, struct window_event *event) {
    g_autofree struct window_event *first = g_queue_pop_head(&window->events);
    if (first)
        *event = *first;
    return first != NULL;
}

struct window_input window_input(const struct window *window) {
    return window->input;
}

bool window_closing(const struct window *window) {
    return glfwWindowShouldClose(window->glfw);
}

void window_size(const struct window *window, int *width, int *height) {
    glfwGetFramebufferSize(window->glfw, width, height);
}

/* By its pixels and what it measures, in quarters; 1 where it does not say what it measures. */
static double monitor_scale(GLFWmonitor *monitor) {
    int wide_mm = 0, high_mm = 0;
    const GLFWvidmode *mode = monitor ? glfwGetVideoMode(monitor) : NULL;
    if (monitor)
        glfwGetMonitorPhysicalSize(monitor, &wide_mm, &high_mm);
    double mm = hypot(wide_mm, high_mm);
    if (!mode || mm < 100 || mm > 2000)
        return 1;
    return fmin(3, floor(4 * hypot(mode->width, mode->height) / mm / (96 / 25.4) + 0.05) / 4);
}

double window_scale(const struct window *window) {
    float x, y;
    glfwGetWindowContentScale(window->glfw, &x, &y);
    return fmax(x > 0.5f ? (double)x : 1, monitor_scale(glfwGetPrimaryMonitor()));
}

bool window_is_fullscreen(const struct window *window) {
    return glfwGetWindowMonitor(window->glfw) != NULL;
}

void window_set_fullscreen(struct window *window, bool on) {
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    if (on == window_is_fullscreen(window) || !monitor)
        return;
    if (on) {
        const GLFWvidmode *mode = glfwGetVideoMode(monitor);
        glfwGetWindowPos(window->glfw, &window->old_x, &window->old_y);
        glfwGetWindowSize(window->glfw, &window->old_width, &window->old_height);
        glfwSetWindowMonitor(window->glfw, monitor, 0, 0, mode->width, mode->height,
                             mode->refreshRate);
    } else {
        glfwSetWindowMonitor(window->glfw, NULL, window->old_x, window->old_y, window->old_width,
                             window->old_height, GLFW_DONT_CARE);
    }
    append(window->glfw, WINDOW_OTHER);
}

int window_show(struct window *window) {
    glfwSwapBuffers(window->glfw);
    if (window->tells_reset && glGetGraphicsResetStatus() != GL_NO_ERROR)
        return log_fail(-EIO, "window",
                        "the graphics driver lost the OpenGL context (reset or unplugged); start"
                        " livestereo again");
    return 0;
}

struct image window_read(const struct window *window) {
    int width, height;
    window_size(window, &width, &height);
    return window_read_area(width, height);
}

struct image window_read_area(int width, int height) {
    struct image image = {NULL, width, height, 3};
    size_t row_bytes = 3 * (size_t)width;
    g_autofree uint8_t *rows = g_malloc(image_bytes(&image));
    image.data = g_malloc(image_bytes(&image));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, rows);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    for (int y = 0; y < height; y++) /* OpenGL's first row is the lowest */
        memcpy(image.data + (size_t)y * row_bytes, rows + (size_t)(height - 1 - y) * row_bytes,
               row_bytes);
    return image;
}
