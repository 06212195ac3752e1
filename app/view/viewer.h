/*
 * The viewer: the parts of livestereo view, each in its own file, and functions that concern
 * several of them. cmd_view.c opens and closes it, loop.h runs it. All of it belongs to the main
 * thread: frames come from live_take, settings are passed to the threads by live_set_params.
 *
 * The files of the window's parts (panel, playback_bar, overlay, proposal), actions, ui_map and
 * loop use struct viewer; the headers included here do not.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VIEWER_H
#define LIVESTEREO_VIEWER_H

#include "app/live/output_gst.h"
#include "app/rig_options.h"
#include "app/view/calibrate_form.h"
#include "app/view/cameras.h"
#include "app/view/display.h"
#include "app/view/history.h"
#include "app/view/layout.h"
#include "app/view/measure.h"
#include "app/view/motion_view.h"
#include "app/view/mouse.h"
#include "app/view/playback.h"
#include "app/view/presets.h"
#include "app/view/probes.h"
#include "app/view/recording.h"
#include "app/view/region.h"
#include "app/view/rig_page.h"
#include "app/view/screen.h"
#include "app/view/session.h"
#include "app/view/settings.h"
#include "app/view/start_page.h"
#include "app/view/statistics.h"
#include "app/view/swap_hint.h"
#include "app/view/video_export.h"
#include "app/view/view_options.h"

/* The parts of the window that can be hidden; the seek bar is hidden with the panels. */
enum part { PART_PANELS, PART_SEEK_BAR, PART_STATISTICS, PART_HELP, PART_START, PART_LOG, PARTS };

struct viewer_quality {
    bool known; /* the presets were found */
    struct qualities all;
    bool automatic; /* the user has not chosen one; the search may be over */
    struct quality_search search;
};

struct viewer {
    const struct view_options *options;
    struct session remembered; /* as of the start */
    struct screen screen;
    struct rig_options rig_options; /* those of the command line, for the source it named */
    struct rig_use rig;
    struct stereo *stereo;
    struct output *output; /* NULL: without --out */
    struct playback playback;
    struct settings settings;
    struct history history;
    long refused; /* how often the pipeline has refused settings, when the user was told last */
    struct presets presets;
    struct viewer_quality quality;
    struct display display;
    struct layout layout; /* of the window as it was drawn last */
    struct mouse mouse;
    struct probes probes;
    struct measure measure;
    enum length_unit unit;
    struct region region;
    char *roi; /* the region that was drawn, as rig_options has it; NULL: none */
    struct {
        bool on;
        char *roi;
        double scale;
        double whole_range; /* disparities of whole pictures, and what the last scaling */
        int range;          /* made of them */
    } wanted_part;          /* chosen, and not computed yet */
    struct cameras cameras;
    char *proposed_rig; /* the source that was chosen, until the user has agreed; else NULL */
    struct start_page start_page;
    struct calibrate_form calibrate_form;
    struct rig_page rig_page;
    char **chosen; /* words that will be opened, or NULL */
    struct recording recording;
    struct video_export video_export;
    struct statistics statistics;
    struct swap_watch swap_watch;
    bool visible[PARTS];
    bool save_window; /* to a file, after the next drawing */
    bool quit;
};

/* Passes changed settings to the threads; they take effect with the next frame. */
void viewer_apply_settings(struct viewer *v);

/* The quality of the settings: an enum quality or QUALITY_CUSTOM. */
int viewer_quality(const struct viewer *v);

/* Begins the search for the quality with the next frame. */
void viewer_begin_search(struct viewer *v);

/* Sets an enum quality, or with QUALITY_AUTO begins the search. */
void viewer_set_quality(struct viewer *v, int quality);

/* Continues the search with a frame that was taken to be shown. */
void viewer_search_quality(struct viewer *v, const struct frame *frame);

/* Loads the preset of this name, with a notice where there is none. */
void viewer_load_preset(struct viewer *v, const char *name);

/* Seeks to a pair, or shows a notice where the source cannot seek. */
void viewer_seek(struct viewer *v, long index);

/* Sets the mode of view i, with a notice where it needs a calibration. */
void viewer_set_mode(struct viewer *v, int i, enum display_mode mode);

/* Requests that this part of the pictures (as in rig_options, copied; NULL: all) is computed at
 * this scale. */
void viewer_want_part(struct viewer *v, const char *roi, double scale);

/* What converts the motion of the frame shown to speeds: the times of cameras and recordings, or
 * --rate where pictures have no times. */
struct motion_speed viewer_motion_speed(const struct viewer *v);

/* The pixel under the mouse, and its side: 0 left, 1 right; false where none is. */
bool viewer_hovered_pixel(const struct viewer *v, int *x, int *y, int *side);

#endif
