/*
 * A library for LD_PRELOAD that gives a window the keys and the mouse of a test: it reads lines
 * from the FIFO that the variable GIVEN_INPUT names, and calls for them the callbacks that the
 * program and its library of widgets have set. It stands in for the functions of GLFW that wait for
 * events and that tell what is pressed; from the first line on, their answers are those of the
 * lines. What the display has to say is still heard.
 *   key NAME      a key goes down and up: a character or a name of the program's (ENTER, F1, UP),
 *                 behind Ctrl+ or Shift+ or neither
 *   hold NAME, let NAME    one of the two
 *   type TEXT     each of its ASCII characters
 *   move X Y, press N, release N, scroll DY    the mouse: 0 is its left button, 1 the right one
 *   size W H      the window becomes so large
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <dlfcn.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 1024
#define LINE 512
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const struct {
    const char *name;
    int key;
} names[] = {
    {"SPACE", GLFW_KEY_SPACE},
    {"BACKSPACE", GLFW_KEY_BACKSPACE},
    {"ESC", GLFW_KEY_ESCAPE},
    {"TAB", GLFW_KEY_TAB},
    {"LEFT", GLFW_KEY_LEFT},
    {"RIGHT", GLFW_KEY_RIGHT},
    {"UP", GLFW_KEY_UP},
    {"DOWN", GLFW_KEY_DOWN},
    {"HOME", GLFW_KEY_HOME},
    {"END", GLFW_KEY_END},
    {"PGUP", GLFW_KEY_PAGE_UP},
    {"PGDN", GLFW_KEY_PAGE_DOWN},
    {"F1", GLFW_KEY_F1},
    {"F5", GLFW_KEY_F5},
    {"F6", GLFW_KEY_F6},
    {"F7", GLFW_KEY_F7},
    {"F8", GLFW_KEY_F8},
    {"F9", GLFW_KEY_F9},
    {"ENTER", GLFW_KEY_ENTER},
    {"Ctrl", GLFW_KEY_LEFT_CONTROL},
    {"Shift", GLFW_KEY_LEFT_SHIFT},
};

static struct {
    GLFWwindow *window;
    GLFWkeyfun key;
    GLFWcharfun character;
    GLFWmousebuttonfun button;
    GLFWcursorposfun move;
    GLFWscrollfun scroll;
} to;

static struct {
    bool given, keys[GLFW_KEY_LAST + 1], buttons[GLFW_MOUSE_BUTTON_LAST + 1];
    double x, y;
} input;

/* Lines that were read and not given yet. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char line[LINES][LINE];
static int first, count;

static void *read_lines(void *name) {
    FILE *file = fopen(name, "r+"); /* with "+" it has no end */
    char text[LINE];
    while (file && fgets(text, sizeof(text), file)) {
        text[strcspn(text, "\n")] = '\0';
        pthread_mutex_lock(&lock);
        if (count == LINES)
            abort();
        strcpy(line[(first + count++) % LINES], text);
        pthread_mutex_unlock(&lock);
        REAL(glfwPostEmptyEvent)();
    }
    return NULL;
}

static void begin(GLFWwindow *window) {
    static bool begun;
    char *name = getenv("GIVEN_INPUT");
    pthread_t thread;
    to.window = window;
    if (name && !begun && pthread_create(&thread, NULL, read_lines, name) == 0)
        pthread_detach(thread);
    begun = true;
}

static void turn_key(int key, bool down) {
    int mods = (input.keys[GLFW_KEY_LEFT_SHIFT] ? GLFW_MOD_SHIFT : 0) |
               (input.keys[GLFW_KEY_LEFT_CONTROL] ? GLFW_MOD_CONTROL : 0);
    input.keys[key] = down;
    to.key(to.window, key, 0, down ? GLFW_PRESS : GLFW_RELEASE, mods);
}

static int key_of(const char *name) {
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].key;
    return toupper((unsigned char)name[0]); /* GLFW's number of those that print something */
}

static void press_key(const char *name) {
    static const char *const modifiers[] = {"Ctrl", "Shift"};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(modifiers[i]);
        if (strncmp(name, modifiers[i], length) == 0 && name[length] == '+') {
            turn_key(key_of(modifiers[i]), true);
            press_key(name + length + 1);
            turn_key(key_of(modifiers[i]), false);
            return;
        }
    }
    int key = key_of(name);
    turn_key(key, true);
    if (!input.keys[GLFW_KEY_LEFT_CONTROL] && (!name[1] || key == GLFW_KEY_SPACE))
        to.character(to.window, name[1] ? ' ' : (unsigned char)name[0]);
    turn_key(key, false);
}

static void type(const char *text) {
    for (; *text; text++)
        press_key((const char[]){*text, '\0'});
}

static void turn_button(int button, bool down) {
    input.buttons[button] = down;
    to.button(to.window, button, down ? GLFW_PRESS : GLFW_RELEASE, 0);
}

static void give(const char *text) {
    const char *rest = text + strcspn(text, " ");
    rest += *rest == ' ';
    int width, height;
    input.given = true;
    if (strncmp(text, "key ", 4) == 0)
        press_key(rest);
    else if (strncmp(text, "type ", 5) == 0)
        type(rest);
    else if (strncmp(text, "hold ", 5) == 0 || strncmp(text, "let ", 4) == 0)
        turn_key(key_of(rest), text[0] == 'h');
    else if (sscanf(text, "move %lf %lf", &input.x, &input.y) == 2)
        to.move(to.window, input.x, input.y);
    else if (strncmp(text, "press ", 6) == 0 || strncmp(text, "release ", 8) == 0)
        turn_button(atoi(rest), text[0] == 'p');
    else if (strncmp(text, "scroll ", 7) == 0)
        to.scroll(to.window, 0, atof(rest));
    else if (sscanf(text, "size %d %d", &width, &height) == 2)
        glfwSetWindowSize(to.window, width, height);
    else
        abort();
}

static bool next(char text[LINE]) {
    pthread_mutex_lock(&lock);
    bool there = count > 0;
    if (there) {
        strcpy(text, line[first]);
        first = (first + 1) % LINES;
        count--;
    }
    pthread_mutex_unlock(&lock);
    return there;
}

/* Widgets look once a drawing which buttons are down, those that have gone up again included. So
 * there is a drawing without anything between a button that goes up and what comes behind it. */
static void give_lines(void) {
    static bool went_up;
    char text[LINE];
    bool waits = went_up;
    went_up = false;
    while (!waits && !went_up && to.key && to.button && next(text)) {
        give(text);
        went_up = strncmp(text, "release ", 8) == 0;
    }
}

static bool are_waiting(void) {
    pthread_mutex_lock(&lock);
    bool waiting = count > 0;
    pthread_mutex_unlock(&lock);
    return waiting;
}

/* ---- in GLFW's place */

#define KEEP(function, type, kept)                     \
    type function(GLFWwindow *window, type callback) { \
        begin(window);                                 \
        to.kept = callback;                            \
        return REAL(function)(window, callback);       \
    }
KEEP(glfwSetKeyCallback, GLFWkeyfun, key)
KEEP(glfwSetCharCallback, GLFWcharfun, character)
KEEP(glfwSetMouseButtonCallback, GLFWmousebuttonfun, button)
KEEP(glfwSetCursorPosCallback, GLFWcursorposfun, move)
KEEP(glfwSetScrollCallback, GLFWscrollfun, scroll)

void glfwPollEvents(void) {
    REAL(glfwPollEvents)();
    give_lines();
}

void glfwWaitEvents(void) {
    if (are_waiting())
        REAL(glfwPollEvents)();
    else
        REAL(glfwWaitEvents)();
    give_lines();
}

void glfwWaitEventsTimeout(double timeout_s) {
    if (are_waiting())
        REAL(glfwPollEvents)();
    else
        REAL(glfwWaitEventsTimeout)(timeout_s);
    give_lines();
}

void glfwGetCursorPos(GLFWwindow *window, double *x, double *y) {
    if (!input.given) {
        REAL(glfwGetCursorPos)(window, x, y);
        return;
    }
    *x = input.x;
    *y = input.y;
}

int glfwGetKey(GLFWwindow *window, int key) {
    return input.given ? input.keys[key] : REAL(glfwGetKey)(window, key);
}

int glfwGetMouseButton(GLFWwindow *window, int button) {
    return input.given ? input.buttons[button] : REAL(glfwGetMouseButton)(window, button);
}

int glfwGetWindowAttrib(GLFWwindow *window, int attribute) {
    return input.given && attribute == GLFW_FOCUSED ? GLFW_TRUE
                                                    : REAL(glfwGetWindowAttrib)(window, attribute);
}

const char *glfwGetKeyName(int key, int scancode) {
    static char name[2];
    if (!input.given)
        return REAL(glfwGetKeyName)(key, scancode);
    name[0] = (char)tolower(key);
    return key > ' ' && key < 127 ? name : NULL;
}
