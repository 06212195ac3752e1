/*
 * Choosing a camera's mode, and what is said when a camera refuses: bandwidth, another program,
 * which group may. SPDX-License-Identifier: MIT
 */
#include "capture/v4l2/device_list.h"
#include "image/pixel_format.h"
#include "capture/v4l2/v4l2_errors.h"
#include "capture/v4l2/v4l2_modes.h"
#include "tests/test.h"

static struct camera_mode webcam[] = {
    {PIXEL_YUYV, 640, 480, 30},  {PIXEL_YUYV, 640, 480, 15},
    {PIXEL_YUYV, 1280, 720, 10}, {PIXEL_YUYV, 320, 240, 30},
    {PIXEL_MJPG, 1280, 720, 30}, {PIXEL_MJPG, 640, 480, 30},
    {PIXEL_MJPG, 640, 480, 60},  {FOURCC('H', '2', '6', '4'), 640, 480, 30},
};
static const struct mode_list all = {webcam, G_N_ELEMENTS(webcam), NULL, 0};

static void expect(const struct mode_list *list, struct mode_wish wish, const char *wanted) {
    struct camera_mode mode;
    char why[512], text[64];
    g_assert_cmpint(mode_choose(list, &wish, &mode, why, sizeof why), ==, 0);
    g_assert_cmpstr(mode_print(&mode, text, sizeof text), ==, wanted);
}

TEST("/v4l2-modes/choose", test_choose) {
    expect(&all, (struct mode_wish){0}, "MJPG 640x480 30/s");
    expect(&all, (struct mode_wish){0, 1280, 720, 0, 0}, "MJPG 1280x720 30/s");
    expect(&all, (struct mode_wish){PIXEL_YUYV, 0, 0, 0, 0}, "YUYV 640x480 30/s");
    expect(&all, (struct mode_wish){PIXEL_YUYV, 640, 480, 12, 0}, "YUYV 640x480 15/s");
    expect(&all, (struct mode_wish){0, 640, 480, 90, 0}, "MJPG 640x480 60/s");
    expect(&all, (struct mode_wish){.pixels = 1}, "YUYV 320x240 30/s");
    struct camera_mode mode;
    char why[512];
    struct mode_wish wish = {PIXEL_MJPG, 800, 600, 0, 0};
    g_assert_cmpint(mode_choose(&all, &wish, &mode, why, sizeof why), ==, -EINVAL);
    g_assert_nonnull(strstr(why, "has no mode MJPG 800x600; it has YUYV 640x480"));
    g_assert_null(strchr(why, '\n'));
    char little[30]; /* a list that does not fit is cut, not overrun */
    g_assert_cmpint(mode_choose(&all, &wish, &mode, little, sizeof little), ==, -EINVAL);
    struct size_range range = {PIXEL_GREY, 16, 1000, 8, 16, 1000, 4};
    const struct mode_list any = {NULL, 0, &range, 1};
    expect(&any, (struct mode_wish){0, 800, 600, 25, 0}, "GREY 800x600 25/s");
    wish = (struct mode_wish){0, 801, 600, 0, 0};
    g_assert_cmpint(mode_choose(&any, &wish, &mode, why, sizeof why), ==, -EINVAL);
}

TEST("/v4l2-modes/bandwidth", test_bandwidth) {
    char text[512];
    v4l2_explain(-ENOSPC, "start", "/dev/null", text, sizeof text);
    g_assert_nonnull(strstr(text, "no USB bandwidth"));
    v4l2_explain(-EBUSY, "start", "/dev/video9", text, sizeof text);
    g_assert_nonnull(strstr(text, "sudo fuser -v /dev/video9"));
    v4l2_explain(-EIO, "start", "/dev/null", text, sizeof text);
    g_assert_nonnull(strstr(text, "cannot start: Input/output error"));
    v4l2_explain(-ENODEV, "start", "/dev/null", text, sizeof text);
    g_assert_nonnull(strstr(text, "plug it in again"));
}

TEST("/v4l2-modes/access", test_access) {
    char text[512];
    v4l2_explain(-EACCES, "open", "/dev/null", text, sizeof text);
    g_assert_nonnull(strstr(text, "only the group root may; join it with sudo usermod -aG root"));
    v4l2_explain(-EACCES, "open", "/dev/no such node", text, sizeof text);
    g_assert_nonnull(strstr(text, "the group video"));
}

/* ---- names that stay */

static struct device camera(const char *node, const char *bus, const char *serial, const char *id) {
    struct device d = {.driver = "uvcvideo", .identity = {.card = "HD Cam"}};
    g_strlcpy(d.node, node, sizeof d.node);
    g_strlcpy(d.identity.bus, bus, sizeof d.identity.bus);
    g_strlcpy(d.identity.serial, serial, sizeof d.identity.serial);
    g_strlcpy(d.by_id, id, sizeof d.by_id);
    g_snprintf(d.by_path, sizeof d.by_path, "/dev/v4l/by-path/%s", bus);
    return d;
}

TEST("/v4l2-modes/names", test_names) {
    struct device devices[] = {camera("/dev/video0", "usb-1", "AAA", "/dev/v4l/by-id/cam_AAA"),
                               camera("/dev/video2", "usb-2", "BBB", "/dev/v4l/by-id/cam_BBB")};
    struct device_list list = {devices, 2};
    char why[256];
    const char *const words[] = {"/dev/video2", "usb-2", "BBB", "cam_BBB",
                                 "/dev/v4l/by-path/usb-2"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        g_assert_true(device_list_find(&list, words[i], why, sizeof why) == &devices[1]);
    g_assert_null(device_list_find(&list, "CCC", why, sizeof why));
    g_assert_cmpstr(device_stable_name(&list, &devices[1]), ==, "/dev/v4l/by-id/cam_BBB");
    int index[2];
    char rig[512];
    g_assert_cmpint(device_list_pair(&list, index), ==, 1);
    g_assert_cmpstr(device_list_rig(&list, rig, sizeof rig), ==,
                    "v4l2:/dev/v4l/by-id/cam_AAA,/dev/v4l/by-id/cam_BBB");
    /* in another port it is known by its serial */
    struct device_identity left = devices[0].identity, right = devices[1].identity;
    g_strlcpy(devices[0].identity.bus, "usb-7", sizeof devices[0].identity.bus);
    g_assert_true(device_list_again(&list, &left, &right) == &devices[0]);
    list.count = 1;
    g_assert_null(device_list_again(&list, &right, &left));
}

TEST("/v4l2-modes/same-name", test_same_name) {
    /* two of one serial: one by-id link, of which either may have got hold */
    struct device devices[] = {camera("/dev/video0", "usb-1", "AAA", "/dev/v4l/by-id/cam_AAA"),
                               camera("/dev/video2", "usb-2", "AAA", "")};
    struct device_list list = {devices, 2};
    char why[256];
    g_assert_cmpstr(device_stable_name(&list, &devices[0]), ==, "/dev/v4l/by-path/usb-1");
    g_assert_cmpstr(device_stable_name(&list, &devices[1]), ==, "/dev/v4l/by-path/usb-2");
    g_assert_null(device_list_find(&list, "AAA", why, sizeof why));
    g_assert_nonnull(strstr(why, "name the bus (usb-1 or usb-2)"));
    /* swapped nodes: each is found at its port */
    struct device_identity left = devices[0].identity, right = devices[1].identity;
    g_strlcpy(devices[0].node, "/dev/video2", sizeof devices[0].node);
    g_strlcpy(devices[1].node, "/dev/video0", sizeof devices[1].node);
    g_assert_true(device_list_again(&list, &left, &right) == &devices[0]);
    g_assert_true(device_list_again(&list, &right, &left) == &devices[1]);
}

/* One that may not be opened is known by its node alone. */
TEST("/v4l2-modes/closed", test_closed) {
    struct device devices[] = {camera("/dev/video0", "usb-1", "AAA", ""),
                               {.node = "/dev/null", .error = -EACCES}};
    struct device_list list = {devices, 2};
    char why[512];
    g_assert_true(device_list_find(&list, "/dev/null", why, sizeof why) == &devices[1]);
    g_assert_null(device_list_find(&list, "usb-2", why, sizeof why));
    g_assert_nonnull(strstr(why, "/dev/null may not be opened: only the group"));
    list.count = 1;
    g_assert_null(device_list_find(&list, "usb-2", why, sizeof why));
    g_assert_cmpstr(why, ==, "no such camera; livestereo list shows those there are");
    list.count = 0;
    g_assert_null(device_list_find(&list, "usb-2", why, sizeof why));
    g_assert_cmpstr(why, ==, "no camera is connected");
}

/* What is proposed where no source is named. */
TEST("/v4l2-modes/rig", test_rig) {
    char rig[512];
    struct device one[] = {camera("/dev/video0", "usb-1", "AAA", "")};
    g_assert_null(device_list_rig(&(struct device_list){NULL, 0}, rig, sizeof rig));
    g_assert_null(device_list_rig(&(struct device_list){one, 1}, rig, sizeof rig));
    /* two nodes of one camera, and another make, are no rig; the two like ones among them are */
    struct device devices[] = {
        camera("/dev/video0", "usb-1", "AAA", ""), camera("/dev/video2", "usb-1", "AAA", ""),
        camera("/dev/video4", "usb-3", "CCC", ""), camera("/dev/video6", "usb-4", "", "")};
    g_strlcpy(devices[2].identity.card, "Built-in", sizeof devices[2].identity.card);
    g_assert_null(device_list_rig(&(struct device_list){devices, 3}, rig, sizeof rig));
    g_assert_cmpstr(device_list_rig(&(struct device_list){devices, 4}, rig, sizeof rig), ==,
                    "v4l2:/dev/v4l/by-path/usb-1,/dev/v4l/by-path/usb-4");
    /* numbers that move are named only where there is nothing else */
    for (int i = 0; i < 4; i++)
        devices[i].by_path[0] = '\0';
    g_assert_cmpstr(device_list_rig(&(struct device_list){devices, 4}, rig, sizeof rig), ==,
                    "v4l2:usb-1,usb-4");
}
