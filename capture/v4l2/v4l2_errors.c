/*
 * capture/v4l2/v4l2_errors.h. SPDX-License-Identifier: MIT
 */
#include "capture/v4l2/v4l2_errors.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

const char *v4l2_explain(int error, const char *doing, const char *node, char *buf, size_t size) {
    switch (-error) {
    case ENOSPC:
        snprintf(buf, size,
                 "no USB bandwidth beside the other camera; try --format MJPG, a smaller --size or "
                 "--rate, or a port of another USB controller");
        return buf;
    case EBUSY:
        snprintf(buf, size,
                 "is in use by another program; close that first (sudo fuser -v %s names it)",
                 node);
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
