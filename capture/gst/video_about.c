/*
 * The function of capture/gst/video_about.h. SPDX-License-Identifier: MIT
 */
#include "capture/gst/video_about.h"

#include <glib.h>
#include <libavformat/avformat.h>
#include <libavutil/log.h>
#include <libavutil/stereo3d.h>

static const struct video_packing packings[] = {
    {AV_STEREO3D_2D, GST_VIDEO_MULTIVIEW_MODE_MONO, PICTURES_ONE, "one picture"},
    {AV_STEREO3D_SIDEBYSIDE, GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE, PICTURES_SIDE_BY_SIDE, NULL},
    {AV_STEREO3D_TOPBOTTOM, GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM, PICTURES_TOP_BOTTOM, NULL},
    {AV_STEREO3D_FRAMESEQUENCE, GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME, PICTURES_AUTO,
     "both pictures in turn, picture by picture"},
    {AV_STEREO3D_CHECKERBOARD, GST_VIDEO_MULTIVIEW_MODE_CHECKERBOARD, PICTURES_AUTO,
     "both pictures as a chessboard"},
    {AV_STEREO3D_SIDEBYSIDE_QUINCUNX, GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE_QUINCUNX, PICTURES_AUTO,
     "both pictures side by side in quincunx"},
    {AV_STEREO3D_LINES, GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED, PICTURES_AUTO,
     "both pictures row by row"},
    {AV_STEREO3D_COLUMNS, GST_VIDEO_MULTIVIEW_MODE_COLUMN_INTERLEAVED, PICTURES_AUTO,
     "both pictures column by column"},
    {-1, GST_VIDEO_MULTIVIEW_MODE_LEFT, PICTURES_ONE, "the left picture alone"},
    {-1, GST_VIDEO_MULTIVIEW_MODE_RIGHT, PICTURES_ONE, "the right picture alone"}};

const struct video_packing *video_packing_of(GstVideoMultiviewMode mode) {
    for (size_t i = 0; i < G_N_ELEMENTS(packings); i++)
        if (packings[i].mode == mode && mode != GST_VIDEO_MULTIVIEW_MODE_MONO)
            return &packings[i];
    return NULL;
}

static void take_stereo(const AVStereo3D *stereo, struct video_about *about) {
    about->right_first = stereo->flags & AV_STEREO3D_FLAG_INVERT;
    for (size_t i = 0; i < G_N_ELEMENTS(packings); i++)
        if (packings[i].stereo3d == (int)stereo->type)
            about->packing = &packings[i];
}

/* x' = m[0] x + m[3] y, y' = m[1] x + m[4] y, y down. */
static GstVideoOrientationMethod turn_of(const int32_t *m) {
    static const GstVideoOrientationMethod upright[2][2] = /* [left][up] */
        {{GST_VIDEO_ORIENTATION_IDENTITY, GST_VIDEO_ORIENTATION_VERT},
         {GST_VIDEO_ORIENTATION_HORIZ, GST_VIDEO_ORIENTATION_180}},
                                           turned[2][2] = {{GST_VIDEO_ORIENTATION_UL_LR,
                                                            GST_VIDEO_ORIENTATION_90L},
                                                           {GST_VIDEO_ORIENTATION_90R,
                                                            GST_VIDEO_ORIENTATION_UR_LL}};
    return abs(m[1]) > abs(m[0]) ? turned[m[3] < 0][m[1] < 0] : upright[m[0] < 0][m[4] < 0];
}

enum { FIRST_PACKETS = 100, TRACKS = 8, FILM = 3 }; /* FILM: more pictures than a still has */

static bool is_video(const AVStream *stream) {
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
}

/* By the first packets: the time of the first picture, and the size of a track that is a still. */
static void look_at_packets(AVFormatContext *file, struct video_about *about) {
    AVPacket *packet = av_packet_alloc();
    int pictures[TRACKS] = {0}, film = -1;
    for (int i = 0; packet && i < FIRST_PACKETS && av_read_frame(file, packet) == 0; i++) {
        int track = packet->stream_index;
        const AVStream *stream = file->streams[track];
        if (is_video(stream) && packet->pts != AV_NOPTS_VALUE && about->start_ns < 0)
            about->start_ns =
                av_rescale_q(packet->pts, stream->time_base, (AVRational){1, 1000000000});
        if (is_video(stream) && track < TRACKS && ++pictures[track] == FILM)
            film = track;
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    for (int i = 0; i < TRACKS && film >= 0; i++) {
        const AVCodecParameters *a = pictures[i] == 1 ? file->streams[i]->codecpar : NULL;
        const AVCodecParameters *b = file->streams[film]->codecpar;
        if (a && (a->width != b->width || a->height != b->height)) {
            about->still[0] = a->width;
            about->still[1] = a->height;
        }
    }
}

bool video_about_is_still(const struct video_about *about, int width, int height) {
    return about->still[0] > 0 && width == about->still[0] && height == about->still[1];
}

void video_about_read(const char *path, struct video_about *about) {
    g_autofree char *url = g_strconcat("file:", path, NULL);
    AVFormatContext *file = NULL;
    AVDictionary *options = NULL;
    *about = (struct video_about){.turn = GST_VIDEO_ORIENTATION_IDENTITY, .start_ns = -1};
    av_log_set_level(AV_LOG_QUIET);
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    av_dict_set(&options, "format_whitelist", "matroska,webm,mov,mp4", 0);
    int error = avformat_open_input(&file, url, NULL, &options);
    av_dict_free(&options);
    if (!error)
        look_at_packets(file, about);
    for (unsigned i = 0; !error && i < file->nb_streams; i++) {
        const AVStream *stream = file->streams[i];
        size_t size[2] = {0, 0};
        if (!is_video(stream) ||
            video_about_is_still(about, stream->codecpar->width, stream->codecpar->height))
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
