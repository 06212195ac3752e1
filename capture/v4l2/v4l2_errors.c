/*
 * capture/v4l2/v4l2_errors.h. SPDX-License-Identifier: MIT
 */
#include "capture/v4l2/v4l2_errors.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_open(const char *process, const char *node) {
    char folder[300];
    snprintf(folder, sizeof folder, "/proc/%s/fd", process);
    DIR *fds = opendir(folder);
    if (!fds)
        return false;
    bool found = false;
    struct dirent *entry;
    while (!found && (entry = readdir(fds))) {
        char target[256];
        ssize_t length = readlinkat(dirfd(fds), entry->d_name, target, sizeof target - 1);
        if (length > 0) {
            target[length] = '\0';
            found = strcmp(target, node) == 0;
        }
    }
    closedir(fds);
    return found;
}

static void name_of(const char *process, char name[64]) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/comm", process);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(name, 64, file))
        snprintf(name, 64, "a process");
    if (file)
        fclose(file);
    name[strcspn(name, "\n")] = '\0';
}

const char *v4l2_users(const char *node, char *buf, size_t size) {
    char own[24], *real = realpath(node, NULL);
    snprintf(own, sizeof own, "%ld", (long)getpid());
    buf[0] = '\0';
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    size_t used = 0;
    while (processes && (entry = readdir(processes))) {
        if (!isdigit((unsigned char)entry->d_name[0]) || strcmp(entry->d_name, own) == 0 ||
            !has_open(entry->d_name, real ? real : node))
            continue;
        char name[64];
        name_of(entry->d_name, name);
        if (used < size)
            used += (size_t)snprintf(buf + used, size - used, "%s%s (%.16s)", used ? ", " : "",
                                     name, entry->d_name);
    }
    if (processes)
        closedir(processes);
    free(real);
    return buf;
}

static void explain_bandwidth(const struct camera_mode *mode, const struct camera_mode *lighter,
                              char *buf, size_t size) {
    char now[64], other[64], name[5] = "";
    mode_print(mode, now, sizeof now);
    if (!lighter) {
        snprintf(buf, size,
                 "no USB bandwidth for %s beside the other camera; plug it into a port of its own"
                 " controller",
                 now);
        return;
    }
    for (int i = 0; i < 4; i++)
        name[i] = (char)(lighter->fourcc >> (8 * i));
    snprintf(buf, size,
             "no USB bandwidth for %s beside the other camera; %s would need less, try"
             " --format %s --size %dx%d --rate %.4g, or another USB controller",
             now, mode_print(lighter, other, sizeof other), name, lighter->width, lighter->height,
             lighter->rate);
}

static void explain_busy(const char *node, char *buf, size_t size) {
    char users[256];
    if (v4l2_users(node, users, sizeof users)[0])
        snprintf(buf, size, "is in use by %s; close that first", users);
    else
        snprintf(buf, size,
                 "is in use by another program; close that first (sudo fuser -v %s names"
                 " it)",
                 node);
}

static void explain_access(const char *node, char *buf, size_t size) {
    struct stat about;
    struct group entry, *group = NULL;
    char names[1024];
    if (stat(node, &about) || getgrgid_r(about.st_gid, &entry, names, sizeof names, &group))
        group = NULL;
    const char *name = group ? group->gr_name : "video";
    snprintf(buf, size,
             "may not be opened: only the group %s may; join it with sudo usermod -aG %s"
             " $USER and log in again",
             name, name);
}

const char *v4l2_explain(int error, const char *doing, const char *node,
                         const struct camera_mode *mode, const struct camera_mode *lighter,
                         char *buf, size_t size) {
    switch (-error) {
    case ENOSPC:
        if (!mode)
            break;
        explain_bandwidth(mode, lighter, buf, size);
        return buf;
    case EBUSY:
        explain_busy(node, buf, size);
        return buf;
    case EACCES:
    case EPERM:
        explain_access(node, buf, size);
        return buf;
    case ENODEV:
    case ENXIO:
    case ENOENT:
        snprintf(buf, size, "is not there any more (%s); plug it in again", doing);
        return buf;
    default:
        break;
    }
    snprintf(buf, size, "cannot %s: %s", doing, strerror(-error));
    return buf;
}
