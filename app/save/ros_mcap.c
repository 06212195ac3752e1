/*
 * The functions of app/save/ros_mcap.h. SPDX-License-Identifier: MIT
 */
#include "app/save/ros_mcap.h"

struct ros_mcap {
    struct mcap_writer *writer;
    struct depth_geometry geometry;
    GByteArray *message; /* the one at hand */
    const char *const *frame_ids;
    int64_t epoch_ns;
    int count;
    enum ros_topic topics[ROS_TOPICS];
    struct mcap_topic described[ROS_TOPICS]; /* the same, for the writer */
};

struct ros_mcap *ros_mcap_open(const char *path, const enum ros_topic *topics, int count,
                               const struct depth_geometry *geometry,
                               const char *const frame_ids[2], int64_t epoch_ns) {
    struct ros_mcap *mcap = g_new0(struct ros_mcap, 1);
    mcap->count = count;
    mcap->geometry = *geometry;
    mcap->epoch_ns = epoch_ns;
    mcap->frame_ids = frame_ids;
    for (int i = 0; i < count; i++) {
        mcap->topics[i] = topics[i];
        mcap->described[i] = ros_topics[topics[i]];
    }
    mcap->message = g_byte_array_new();
    mcap->writer = mcap_writer_open(path, mcap->described, count);
    if (!mcap->writer)
        ros_mcap_close(&mcap);
    return mcap;
}

int ros_mcap_add(struct ros_mcap *mcap, const struct frame *frame) {
    int64_t ns = frame->left_ns + mcap->epoch_ns;
    int error = 0;
    for (int i = 0; i < mcap->count && !error; i++) {
        error = ros_frame_message(mcap->topics[i], frame, ns, &mcap->geometry, mcap->frame_ids,
                                  mcap->message);
        if (!error)
            error = mcap_writer_add(mcap->writer, i, ns, mcap->message);
    }
    return error;
}

int ros_mcap_close(struct ros_mcap **mcap) {
    struct ros_mcap *m = *mcap;
    *mcap = NULL;
    if (!m)
        return 0;
    int error = mcap_writer_close(&m->writer);
    g_byte_array_unref(m->message);
    g_free(m);
    return error;
}
