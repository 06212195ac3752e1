/*
 * Controls of cameras that are only described: both at once and each alone, the lock that turns
 * automatics off and makes both alike, a camera that comes back, what is restored at the end, a
 * camera that refuses. The real drivers' are in tests/vm.
 * SPDX-License-Identifier: MIT
 */
#include "capture/controls.h"
#include "tests/test.h"

#include <linux/videodev2.h>

enum { AUTO, EXPOSURE, AUTOGAIN, GAIN, LINE, COUNT };

static const struct {
    uint32_t id;
    const char *name;
    enum control_kind kind;
    int automatic; /* the one that must be off before this can be set, -1 none */
    int off;
} about[COUNT] = {
    [AUTO] = {V4L2_CID_EXPOSURE_AUTO, "Auto Exposure", CONTROL_CHOICE, -1, 0},
    [EXPOSURE] = {V4L2_CID_EXPOSURE_ABSOLUTE, "Exposure Time", CONTROL_NUMBER, AUTO,
                  V4L2_EXPOSURE_MANUAL},
    [AUTOGAIN] = {V4L2_CID_AUTOGAIN, "Gain, Automatic", CONTROL_SWITCH, -1, 0},
    [GAIN] = {V4L2_CID_GAIN, "Gain", CONTROL_NUMBER, AUTOGAIN, 0},
    [LINE] = {V4L2_CID_POWER_LINE_FREQUENCY, "Power Line Frequency", CONTROL_CHOICE, -1, 0},
};

struct camera {
    int value[COUNT], there[COUNT], gone;
};

static const struct camera fresh[2] = {{{3, 100, 1, 20, 2}, {1, 1, 1, 1, 1}, 0},
                                       {{3, 180, 1, 55, 1}, {1, 1, 1, 1, 1}, 0}};

static int find(struct camera *camera, uint32_t id) {
    for (int i = 0; i < COUNT; i++)
        if (about[i].id == id && camera->there[i])
            return camera->gone ? -ENODEV : i;
    return -ENOENT;
}

static int held(const struct camera *camera, int i) {
    return about[i].automatic >= 0 && camera->value[about[i].automatic] != about[i].off;
}

static int fake_describe(void *context, uint32_t id, struct control *control, bool *inactive) {
    int i = find(context, id);
    if (i < 0)
        return i;
    *control = (struct control){.id = id, .kind = about[i].kind, .max = 255, .step = 1};
    g_strlcpy(control->name, about[i].name, sizeof control->name);
    *inactive = held(context, i);
    return 0;
}

static int fake_get(void *context, uint32_t id, int *value) {
    int i = find(context, id);
    if (i >= 0)
        *value = ((struct camera *)context)->value[i];
    return i < 0 ? i : 0;
}

static int fake_put(void *context, uint32_t id, int value) {
    struct camera *camera = context;
    int i = find(camera, id);
    if (i < 0)
        return i;
    if (value < 0 || value > 255)
        return -ERANGE;
    if (held(camera, i))
        return -EACCES; /* as drivers do */
    camera->value[i] = value;
    return 0;
}

static const struct control_driver fake = {fake_describe, fake_get, fake_put};

static struct controls *open_two(struct camera camera[2]) {
    struct controls *controls = controls_open();
    memcpy(camera, fresh, sizeof fresh);
    for (int i = 0; i < 2; i++)
        controls_attach(controls, i, &fake, &camera[i]);
    return controls;
}

static void expect(const struct camera *camera, int a, int e, int ag, int g, int line) {
    const int expected[COUNT] = {a, e, ag, g, line};
    for (int i = 0; i < COUNT; i++)
        g_assert_cmpint(camera->value[i], ==, expected[i]);
}

static void close_all(struct controls **controls, struct camera camera[2]) {
    for (int i = 0; i < 2; i++) {
        controls_restore(*controls, i);
        controls_detach(*controls, i);
    }
    controls_close(controls);
    g_assert_null(*controls);
    for (int i = 0; i < 2; i++)
        g_assert_cmpmem(camera[i].value, sizeof camera->value, fresh[i].value,
                        sizeof fresh[i].value);
}

TEST("/controls/list", test_list) {
    struct camera camera[2];
    struct controls *controls = open_two(camera);
    camera[1].there[LINE] = 0;
    struct control list[MAX_CONTROLS];
    g_assert_cmpint(controls_get(controls, list), ==, COUNT);
    g_assert_cmpint(list[1].id, ==, V4L2_CID_EXPOSURE_ABSOLUTE);
    g_assert_cmpint(list[1].camera[0].value, ==, 100);
    g_assert_cmpint(list[1].camera[1].value, ==, 180);
    g_assert_cmpint(list[1].camera[1].inactive, ==, 1);
    g_assert_cmpint(list[2].camera[1].inactive, ==, 0);
    g_assert_cmpint(list[4].camera[0].there, ==, 1);
    g_assert_cmpint(list[4].camera[1].there, ==, 0);
    controls_detach(controls, 0);
    g_assert_cmpint(controls_get(controls, list), ==, COUNT - 1);
    g_assert_cmpint(list[0].camera[0].there, ==, 0);
    controls_attach(controls, 0, &fake, &camera[0]);
    close_all(&controls, camera);
}

TEST("/controls/set", test_set) {
    struct camera camera[2];
    struct controls *controls = open_two(camera);
    g_assert_cmpint(controls_set(controls, CONTROLS_BOTH, V4L2_CID_AUTOGAIN, 0), ==, 0);
    g_assert_cmpint(controls_set(controls, CONTROLS_BOTH, V4L2_CID_GAIN, 33), ==, 0);
    expect(&camera[0], 3, 100, 0, 33, 2);
    expect(&camera[1], 3, 180, 0, 33, 1);
    g_assert_cmpint(controls_set(controls, 1, V4L2_CID_GAIN, 44), ==, 0);
    expect(&camera[0], 3, 100, 0, 33, 2);
    expect(&camera[1], 3, 180, 0, 44, 1);
    stderr_says(
        "left camera", "Exposure Time cannot be set to 7",
        g_assert_cmpint(controls_set(controls, 0, V4L2_CID_EXPOSURE_ABSOLUTE, 7), ==, -EACCES));
    g_assert_cmpint(controls_set(controls, 0, V4L2_CID_SHARPNESS, 7), ==, -ENOENT);
    camera[1].there[LINE] = 0; /* one of two has it */
    g_assert_cmpint(controls_set(controls, CONTROLS_BOTH, V4L2_CID_POWER_LINE_FREQUENCY, 0), ==, 0);
    g_assert_cmpint(camera[0].value[LINE], ==, 0);
    camera[1].there[LINE] = 1;
    close_all(&controls, camera);
}

TEST("/controls/lock", test_lock) {
    struct camera camera[2];
    struct controls *controls = open_two(camera);
    g_assert_cmpint(controls_locked(controls), ==, 0);
    g_assert_cmpint(controls_lock(controls, 1), ==, 0);
    g_assert_cmpint(controls_locked(controls), ==, 1);
    for (int i = 0; i < 2; i++) /* both as the left one was, no automatic on */
        expect(&camera[i], V4L2_EXPOSURE_MANUAL, 100, 0, 20, 2);
    g_assert_cmpint(controls_set(controls, CONTROLS_BOTH, V4L2_CID_GAIN, 60), ==, 0);
    g_assert_cmpint(controls_lock(controls, 0), ==, 0);
    for (int i = 0; i < 2; i++) { /* the automatics that were on */
        g_assert_cmpint(camera[i].value[AUTO], ==, 3);
        g_assert_cmpint(camera[i].value[AUTOGAIN], ==, 1);
    }
    g_assert_cmpint(controls_lock(controls, 1), ==, 0);
    close_all(&controls, camera); /* locked: put back all the same */
}

/* Lost, and back with what it has after being plugged in: what was set is set again; at the end it
 * gets what it had at first. */
TEST("/controls/returns", test_returns) {
    struct camera camera[2];
    struct controls *controls = open_two(camera);
    g_assert_cmpint(controls_lock(controls, 1), ==, 0);
    g_assert_cmpint(controls_set(controls, CONTROLS_BOTH, V4L2_CID_EXPOSURE_ABSOLUTE, 50), ==, 0);
    camera[1].gone = 1;
    controls_detach(controls, 1);
    g_assert_cmpint(controls_set(controls, CONTROLS_BOTH, V4L2_CID_GAIN, 66), ==, 0);
    camera[1] = (struct camera){{3, 1, 1, 1, 0}, {1, 1, 1, 1, 1}, 0};
    controls_attach(controls, 1, &fake, &camera[1]);
    expect(&camera[1], V4L2_EXPOSURE_MANUAL, 50, 0, 66, 2);
    close_all(&controls, camera);
}

/* A menu with holes: a value that the driver does not list stands behind the others. */
TEST("/controls/choices", test_choices) {
    struct control control = {.kind = CONTROL_CHOICE, .choices = 3};
    static const int values[] = {1, 3, 7};
    char text[CONTROL_CHOICES * 40];
    for (int i = 0; i < 3; i++) {
        control.choice[i].value = values[i];
        g_snprintf(control.choice[i].name, sizeof control.choice[i].name, "is %d", values[i]);
    }
    g_assert_cmpint(control_choices(&control, 7, text, sizeof text), ==, 2);
    g_assert_cmpstr(text, ==, "is 1|is 3|is 7");
    g_assert_cmpint(control_choices(&control, 4, text, sizeof text), ==, 3);
    g_assert_cmpstr(text, ==, "is 1|is 3|is 7|4");
    control.choices = 0;
    g_assert_cmpint(control_choices(&control, 4, text, sizeof text), ==, 0);
    g_assert_cmpstr(text, ==, "4");
}
