/*
 * The function of capture/gst/video_about.h. SPDX-License-Identifier: MIT
 */
#include "capture/gst/video_about.h"

#include <glib.h>
#include <libavformat/avformat.h>
#include <libavutil/log.h>
#include <libavutil/stereo3d.h>

static void take_stereo(const AVStereo3D *stereo, struct video_about *about) {
    static const struct {
        enum AVStereo3DType type;
        const char *name;
    } others[] = {{AV_STEREO3D_FRAMESEQUENCE, "in turn, picture by picture"},
                  {AV_STEREO3D_CHECKERBOARD, "as a chessboard"},
                  {AV_STEREO3D_SIDEBYSIDE_QUINCUNX, "side by side in quincunx"},
                  {AV_STEREO3D_LINES, "row by row"},
                  {AV_STEREO3D_COLUMNS, "column by column"}};
    about->right_first = stereo->flags & AV_STEREO3D_FLAG_INVERT;
    if (stereo->type == AV_STEREO3D_SIDEBYSIDE)
        about->pictures = PICTURES_SIDE_BY_SIDE;
    else if (stereo->type == AV_STEREO3D_TOPBOTTOM)
        about->pictures = PICTURES_TOP_BOTTOM;
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (stereo->type == others[i].type)
            about->other = others[i].name;
}

/* x' = m[0] x + m[3] y, y' = m[1] x + m[4] y, y down. */
static GstVideoOrientationMethod turn_of(const int32_t *m) {
    bool turned = abs(m[1]) > abs(m[0]);
    int right = turned ? m[3] : m[0], down = turned ? m[1] : m[4];
    if (turned)
        return right < 0 ? (down < 0 ? GST_VIDEO_ORIENTATION_UR_LL : GST_VIDEO_ORIENTATION_90R)
                         : (down < 0 ? GST_VIDEO_ORIENTATION_90L : GST_VIDEO_ORIENTATION_UL_LR);
    return right < 0 ? (down < 0 ? GST_VIDEO_ORIENTATION_180 : GST_VIDEO_ORIENTATION_HORIZ)
                     : (down < 0 ? GST_VIDEO_ORIENTATION_VERT : GST_VIDEO_ORIENTATION_IDENTITY);
}

void video_about_read(const char *path, struct video_about *about) {
    g_autofree char *url = g_strconcat("file:", path, NULL);
    AVFormatContext *file = NULL;
    AVDictionary *options = NULL;
    *about = (struct video_about){.turn = GST_VIDEO_ORIENTATION_IDENTITY};
    av_log_set_level(AV_LOG_QUIET);
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    av_dict_set(&options, "format_whitelist", "matroska,webm,mov,mp4", 0);
    int error = avformat_open_input(&file, url, NULL, &options);
    av_dict_free(&options);
    for (unsigned i = 0; !error && i < file->nb_streams; i++) {
        const AVStream *stream = file->streams[i];
        size_t size[2] = {0, 0};
        if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO)
            continue;
        const void *stereo = av_stream_get_side_data(stream, AV_PKT_DATA_STEREO3D, &size[0]);
        const void *matrix = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size[1]);
        if (stereo && size[0] >= sizeof(AVStereo3D))
            take_stereo(stereo, about);
        if (matrix && size[1] >= 9 * sizeof(int32_t))
            about->turn = turn_of(matrix);
        break;
    }
    avformat_close_input(&file);
}
