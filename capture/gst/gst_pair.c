/*
 * The functions of capture/gst/gst_pair.h. SPDX-License-Identifier: MIT
 */
#include "capture/gst/gst_pair.h"

#include "base/log.h"
#include "capture/gst/gst_launch.h"

#define MIRRORED                                                                       \
    (GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLIPPED | GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLOPPED | \
     GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLIPPED | GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLOPPED)

/* How the file says that a picture holds both: in its container, or in its stream, as GStreamer
 * tells. PICTURES_AUTO where it does not say; PICTURES_ONE where that is one picture. *name: what
 * is not played, or NULL. */
static enum source_pictures said(struct gst_pair *pair, const struct video_about *about,
                                 const GstVideoInfo *info, const char **name) {
    const struct video_packing *stream = video_packing_of(GST_VIDEO_INFO_MULTIVIEW_MODE(info));
    bool by_file = about && about->packing;
    const struct video_packing *packing = by_file ? about->packing : stream;
    pair->right_first = by_file ? about->right_first
                                : (GST_VIDEO_INFO_MULTIVIEW_FLAGS(info) &
                                   GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST) != 0;
    *name = packing ? packing->name : NULL;
    return packing ? packing->pictures : PICTURES_AUTO;
}

static int learn_pictures(struct gst_pair *pair, const char *name,
                          const struct source_options *options, const GstVideoInfo *info,
                          const struct video_about *about, enum source_pictures otherwise) {
    const char *packing;
    enum source_pictures by_file = said(pair, about, info, &packing);
    bool asked = options->pictures != PICTURES_AUTO || options->motion_step;
    if (packing && !asked)
        return log_fail(-EINVAL, name,
                        "says that it holds %s, which is not played as a pair; name the other "
                        "eye's file, too, convert it to two pictures side by side, or say "
                        "--pictures if they are",
                        packing);
    pair->pictures = source_arrangement(
        name, options, by_file == PICTURES_AUTO ? otherwise : by_file, info->width, info->height);
    if (pair->pictures == PICTURES_AUTO)
        return -EINVAL;
    pair->right_first = pair->right_first && pair->pictures != PICTURES_ONE;
    if (GST_VIDEO_INFO_MULTIVIEW_FLAGS(info) & MIRRORED)
        log_warning(name, "says that one of its pictures is mirrored, which is not undone; "
                          "--flip and --rotate180 do");
    if (pair->right_first)
        log_info(name, "holds the right picture %s, as it says; --swap exchanges them",
                 pair->pictures == PICTURES_TOP_BOTTOM ? "above" : "left");
    return 0;
}

int gst_pair_learn(struct gst_pair *pair, struct source *source,
                   const struct source_options *options, GstAppSink *const *sinks, int count,
                   const struct video_about *about, enum source_pictures otherwise) {
    GstVideoInfo info[2] = {{0}};
    source->channels = 3;
    for (int i = 0; i < count; i++) {
        if (!gst_launch_sink_info(sinks[i], &info[i]))
            return log_fail(-EBADMSG, source->name, "holds no picture that could be decoded");
        if (GST_VIDEO_INFO_IS_GRAY(&info[i]))
            source->channels = 1;
    }
    if (count == 2 && (info[0].width != info[1].width || info[0].height != info[1].height))
        return log_fail(-EINVAL, source->name,
                        "left is %dx%d but right is %dx%d; both must be of one size", info[0].width,
                        info[0].height, info[1].width, info[1].height);
    if (count == 1 && pair->pictures == PICTURES_AUTO) {
        int error = learn_pictures(pair, source->name, options, &info[0], about, otherwise);
        if (error)
            return error;
    }
    source->width = info[0].width;
    source->height = info[0].height;
    source_halve(pair->pictures, &source->width, &source->height);
    source->rate = rate_of_fraction(info[0].fps_n, info[0].fps_d);
    return 0;
}

/* The part of a picture that begins at column, row. */
static void copy_part(const GstVideoFrame *video, int column, int row, struct sample_bits *bits,
                      struct image *to) {
    GstVideoFormat format = GST_VIDEO_FRAME_FORMAT(video);
    int bytes = GST_VIDEO_FRAME_COMP_PSTRIDE(video, 0);
    g_autofree uint8_t *grey = g_new(uint8_t, to->width);
    struct image from = {grey, to->width, 1, format == GST_VIDEO_FORMAT_RGB ? 3 : 1};
    struct image line = {to->data, to->width, 1, to->channels};
    for (int y = 0; y < to->height; y++, line.data += image_bytes(&line)) {
        uint8_t *at = (uint8_t *)GST_VIDEO_FRAME_PLANE_DATA(video, 0) +
                      (size_t)(row + y) * (size_t)GST_VIDEO_FRAME_PLANE_STRIDE(video, 0) +
                      (size_t)(column * bytes);
        if (format == GST_VIDEO_FORMAT_GRAY16_LE)
            samples_to_8((const uint16_t *)(const void *)at, (size_t)to->width, bits, grey);
        else
            from.data = at;
        image_convert(&from, &line);
    }
}

static bool put_pictures(struct gst_pair *pair, bool swap, GstSample *const *samples, int count,
                         struct frame *frame) {
    struct image *sides[2] = {&frame->left, &frame->right};
    for (int i = 0; i < 2; i++) {
        bool second = i ^ (swap != (count == 1 && pair->right_first));
        GstSample *sample = samples[count == 2 && second];
        GstVideoInfo info;
        GstVideoFrame video;
        if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)))
            return false;
        int width = info.width, height = info.height;
        source_halve(pair->pictures, &width, &height);
        bool whole =
            width == sides[i]->width && height == sides[i]->height &&
            gst_video_frame_map(&video, &info, gst_sample_get_buffer(sample), GST_MAP_READ);
        if (!whole)
            return false;
        copy_part(&video, second * (info.width - width), second * (info.height - height),
                  &pair->bits.side[second], sides[i]);
        gst_video_frame_unmap(&video);
    }
    return true;
}

int gst_pair_put(struct gst_pair *pair, struct source *source, const struct source_options *options,
                 GstSample *const *samples, int count, struct frame *frame) {
    bool whole = put_pictures(pair, options->swap, samples, count, frame);
    if (whole && pair->bits.side[0].most + pair->bits.side[1].most && !pair->bits.side[0].white) {
        source_learn_bits(source, options, NULL, &pair->bits); /* of the first pair */
        whole = put_pictures(pair, options->swap, samples, count, frame);
    }
    if (whole)
        source_hand_over(options, frame);
    source_check_bits(source->name, &pair->bits);
    return whole ? 0 : -EBADMSG;
}
