/* capture/v4l2/device_list.h on libudev and QUERYCAP. Links come from udev's database where a
 * daemon keeps one; bus and serial come from the kernel and are always there.
 * SPDX-License-Identifier: MIT */
#include "capture/v4l2/device_list.h"

#include "capture/v4l2/v4l2_errors.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <libudev.h>
#include <linux/videodev2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void copy(char *to, size_t size, const char *from) {
    snprintf(to, size, "%s", from ? from : "");
}

/* 1 for a capture node, 0 for another kind, -errno. */
static int query(struct device *device) {
    int fd = open(device->node, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct v4l2_capability about = {0};
    int error = ioctl(fd, VIDIOC_QUERYCAP, &about) ? -errno : 0;
    close(fd);
    if (error)
        return error;
    unsigned caps =
        about.capabilities & V4L2_CAP_DEVICE_CAPS ? about.device_caps : about.capabilities;
    copy(device->driver, sizeof device->driver, (const char *)about.driver);
    copy(device->identity.card, sizeof device->identity.card, (const char *)about.card);
    copy(device->identity.bus, sizeof device->identity.bus, (const char *)about.bus_info);
    return (caps & V4L2_CAP_VIDEO_CAPTURE) && (caps & V4L2_CAP_STREAMING);
}

static void read_links(struct udev_device *udev, struct device *device) {
    struct udev_list_entry *entry;
    udev_list_entry_foreach(entry, udev_device_get_devlinks_list_entry(udev)) {
        const char *link = udev_list_entry_get_name(entry);
        if (strncmp(link, "/dev/v4l/by-id/", 15) == 0)
            copy(device->by_id, sizeof device->by_id, link);
        else if (strncmp(link, "/dev/v4l/by-path/", 17) == 0)
            copy(device->by_path, sizeof device->by_path, link);
    }
    struct udev_device *usb = udev_device_get_parent_with_subsystem_devtype(
        udev, "usb", "usb_device"); /* not ours to free */
    if (usb) {
        copy(device->identity.serial, sizeof device->identity.serial,
             udev_device_get_sysattr_value(usb, "serial"));
        struct udev_device *hub = udev_device_get_parent(usb);
        copy(device->usb_hub, sizeof device->usb_hub, hub ? udev_device_get_sysname(hub) : "");
    }
}

static int add(struct device_list *list, struct udev_device *udev) {
    struct device device = {0};
    const char *node = udev_device_get_devnode(udev);
    if (!node || strlen(node) >= sizeof device.node)
        return 0;
    copy(device.node, sizeof device.node, node);
    int kind = query(&device);
    if (kind == 0 || kind == -ENOENT || kind == -ENXIO || kind == -ENODEV)
        return 0;
    device.error = kind < 0 ? kind : 0;
    read_links(udev, &device);
    if (device.error && device.identity.card[0] == '\0')
        copy(device.identity.card, sizeof device.identity.card,
             udev_device_get_sysattr_value(udev, "name"));
    struct device *grown = realloc(list->device, (size_t)(list->count + 1) * sizeof device);
    if (!grown)
        return -ENOMEM;
    list->device = grown;
    list->device[list->count++] = device;
    return 0;
}

static int by_bus(const void *a, const void *b) {
    const struct device *x = a, *y = b;
    int order = strcmp(x->identity.bus, y->identity.bus);
    return order ? order : strverscmp(x->node, y->node);
}

int device_list_read(struct device_list *list) {
    *list = (struct device_list){0};
    struct udev *udev = udev_new();
    struct udev_enumerate *nodes = udev ? udev_enumerate_new(udev) : NULL;
    int error = nodes ? 0 : -ENOMEM;
    if (!error) {
        udev_enumerate_add_match_subsystem(nodes, "video4linux");
        error = udev_enumerate_scan_devices(nodes);
        error = error < 0 ? error : 0;
        struct udev_list_entry *entry;
        udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(nodes)) {
            struct udev_device *device =
                udev_device_new_from_syspath(udev, udev_list_entry_get_name(entry));
            if (device && !error)
                error = add(list, device);
            udev_device_unref(device);
        }
    }
    udev_enumerate_unref(nodes);
    udev_unref(udev);
    if (error) {
        log_error("cameras", "cannot be listed: %s", strerror(-error));
        device_list_free(list);
        return error;
    }
    if (list->count)
        qsort(list->device, (size_t)list->count, sizeof *list->device, by_bus);
    return 0;
}

void device_list_free(struct device_list *list) {
    free(list->device);
    *list = (struct device_list){0};
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_named(const struct device *device, const char *word) {
    const struct device_identity *id = &device->identity;
    const char *names[] = {device->node,
                           device->by_id,
                           last_part(device->by_id),
                           device->by_path,
                           last_part(device->by_path),
                           id->bus,
                           id->serial};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i][0] && strcmp(names[i], word) == 0)
            return true;
    if (word[0] != '/')
        return false;
    char *real = realpath(word, NULL); /* links of the user's own */
    bool same = real && strcmp(real, device->node) == 0;
    free(real);
    return same;
}

/* A camera that cannot be opened is known by its node alone, so it may be the one that is meant. */
static void explain_none(const struct device_list *list, char *why, size_t size) {
    if (list->count == 0) {
        snprintf(why, size, "no camera is connected");
        return;
    }
    for (int i = 0; i < list->count; i++) {
        const struct device *device = &list->device[i];
        char cause[320];
        if (!device->error)
            continue;
        v4l2_explain(device->error, "be opened", device->node, cause, sizeof cause);
        snprintf(why, size, "no such camera among those that can be opened; %s %s", device->node,
                 cause);
        return;
    }
    snprintf(why, size, "no such camera; livestereo list shows those there are");
}

const struct device *device_list_find(const struct device_list *list, const char *word, char *why,
                                      size_t size) {
    const struct device *found = NULL;
    for (int i = 0; i < list->count; i++) {
        const struct device *device = &list->device[i];
        if (!is_named(device, word))
            continue;
        if (found && strcmp(found->identity.bus, device->identity.bus) != 0) {
            snprintf(why, size, "both %s and %s have that name; name the bus (%s or %s)",
                     found->node, device->node, found->identity.bus, device->identity.bus);
            return NULL;
        }
        if (!found)
            found = device; /* of several nodes of one camera the first */
    }
    if (!found)
        explain_none(list, why, size);
    return found;
}

static bool same_name(const struct device_identity *a, const struct device_identity *b) {
    return strcmp(a->card, b->card) == 0 && strcmp(a->serial, b->serial) == 0;
}

const struct device *device_list_again(const struct device_list *list,
                                       const struct device_identity *identity,
                                       const struct device_identity *other) {
    int by_serial = identity->serial[0] && !(other && same_name(identity, other));
    for (int i = 0; i < list->count; i++) {
        const struct device_identity *id = &list->device[i].identity;
        if (by_serial ? same_name(id, identity) : strcmp(id->bus, identity->bus) == 0)
            return &list->device[i];
    }
    return NULL;
}

static bool is_its_own(const struct device_list *list, const struct device *device,
                       const char *name) {
    char why[8];
    return name[0] && device_list_find(list, name, why, sizeof why) == device;
}

const char *device_stable_name(const struct device_list *list, const struct device *device) {
    /* two cameras with one serial share one by-id link, which leads to either of them */
    bool shared = false;
    for (int i = 0; i < list->count; i++)
        shared |= same_name(&list->device[i].identity, &device->identity) &&
                  strcmp(list->device[i].identity.bus, device->identity.bus) != 0;
    if (!shared && is_its_own(list, device, device->by_id))
        return device->by_id;
    if (is_its_own(list, device, device->by_path))
        return device->by_path;
    if (is_its_own(list, device, device->identity.bus))
        return device->identity.bus;
    return device->node;
}

/* "Name: Name" of uvcvideo, and sides in the name ("cam-left"), are not what makes two cameras
 * unlike. */
static bool like(const struct device *a, const struct device *b) {
    return strcmp(a->driver, b->driver) == 0 && a->driver[0] &&
           strncmp(a->identity.card, b->identity.card, 4) == 0;
}

int device_list_pair(const struct device_list *list, int index[2]) {
    for (int i = 0; i < list->count; i++)
        for (int j = i + 1; j < list->count; j++)
            if (like(&list->device[i], &list->device[j]) &&
                strcmp(list->device[i].identity.bus, list->device[j].identity.bus) != 0) {
                index[0] = i;
                index[1] = j;
                return 1;
            }
    return 0;
}

const char *device_list_rig(const struct device_list *list, char *buf, size_t size) {
    int pair[2];
    if (!device_list_pair(list, pair))
        return NULL;
    snprintf(buf, size, "v4l2:%s,%s", device_stable_name(list, &list->device[pair[0]]),
             device_stable_name(list, &list->device[pair[1]]));
    return buf;
}
