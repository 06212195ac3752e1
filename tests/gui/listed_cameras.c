/* A library for LD_PRELOAD under which the window finds LISTED_CAMERAS cameras in place of this
 * machine's: each has a name of its own, and none can be opened. A negative number: the list
 * cannot be read, for this -errno. In place of the functions of libudev that
 * capture/v4l2/device_list.c calls. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct udev_list_entry {
    char name[16];
    int next; /* number of the next one */
};
struct udev_device {
    char node[64], name[32];
};

int udev_enumerate_scan_devices(void *enumerate);
struct udev_list_entry *udev_enumerate_get_list_entry(void *enumerate);
struct udev_list_entry *udev_list_entry_get_next(struct udev_list_entry *entry);
const char *udev_list_entry_get_name(struct udev_list_entry *entry);
struct udev_device *udev_device_new_from_syspath(void *udev, const char *path);
struct udev_device *udev_device_unref(struct udev_device *device);
const char *udev_device_get_devnode(struct udev_device *device);
void *udev_device_get_devlinks_list_entry(struct udev_device *device);
void *udev_device_get_parent_with_subsystem_devtype(struct udev_device *device,
                                                    const char *subsystem, const char *type);
const char *udev_device_get_sysattr_value(struct udev_device *device, const char *name);

static int cameras(void) {
    const char *count = getenv("LISTED_CAMERAS");
    return count ? atoi(count) : 0;
}

int udev_enumerate_scan_devices(void *enumerate) {
    (void)enumerate;
    return cameras() < 0 ? cameras() : 0;
}

static struct udev_list_entry *entry_of(int number) {
    static struct udev_list_entry entry[16];
    if (number >= cameras() || number >= 16)
        return NULL;
    snprintf(entry[number].name, sizeof(entry[number].name), "%d", number);
    entry[number].next = number + 1;
    return &entry[number];
}

struct udev_list_entry *udev_enumerate_get_list_entry(void *enumerate) {
    (void)enumerate;
    return entry_of(0);
}

struct udev_list_entry *udev_list_entry_get_next(struct udev_list_entry *entry) {
    return entry_of(entry->next);
}

const char *udev_list_entry_get_name(struct udev_list_entry *entry) {
    return entry->name;
}

/* Nodes of different names, each of which is /dev/null. */
struct udev_device *udev_device_new_from_syspath(void *udev, const char *path) {
    struct udev_device *device = calloc(1, sizeof(*device));
    (void)udev;
    strcpy(device->node, "/dev/");
    for (int i = atoi(path); i > 0; i--)
        strcat(device->node, "./");
    strcat(device->node, "null");
    snprintf(device->name, sizeof(device->name), "Camera %d", atoi(path));
    return device;
}

struct udev_device *udev_device_unref(struct udev_device *device) {
    free(device);
    return NULL;
}

const char *udev_device_get_devnode(struct udev_device *device) {
    return device->node;
}

void *udev_device_get_devlinks_list_entry(struct udev_device *device) {
    (void)device;
    return NULL;
}

void *udev_device_get_parent_with_subsystem_devtype(struct udev_device *device,
                                                    const char *subsystem, const char *type) {
    (void)device, (void)subsystem, (void)type;
    return NULL;
}

const char *udev_device_get_sysattr_value(struct udev_device *device, const char *name) {
    return strcmp(name, "name") == 0 ? device->name : NULL;
}
