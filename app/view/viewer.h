/*
 * The viewer: the parts of livestereo view, each of which has a file of its own, and what is done
 * with several of them at once. cmd_view.c opens and closes it, loop.h runs it. All of it belongs
 * to the main thread: frames come from live_take, settings go to the threads by live_set_params.
 *
 * Files that take a whole struct viewer are those of the window's parts (panel, playback_bar,
 * overlay, proposal), actions, ui_map and loop; none of the headers below knows it.
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
    bool known; /* the presets that it stands for are there */
    struct qualities all;
    bool automatic; /* nobody has chosen; the search may be over */
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
    long refused; /* times that the pipeline refused settings, as far as the user knows */
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

/* The settings changed: they act on the next frame. */
void viewer_apply_settings(struct viewer *v);

/* The quality of the settings: an enum quality or QUALITY_CUSTOM. */
int viewer_quality(const struct viewer *v);

/* From the next frame on; automatic until the user chooses. */
void viewer_begin_search(struct viewer *v);

/* Takes an enum quality, or begins the search with QUALITY_AUTO. */
void viewer_set_quality(struct viewer *v, int quality);

/* A frame was taken to be shown: the search counts it. */
void viewer_search_quality(struct viewer *v, const struct frame *frame);

/* Loads the preset of this name, with a notice where there is none. */
void viewer_load_preset(struct viewer *v, const char *name);

/* Goes to a pair, with a notice where the source cannot seek. */
void viewer_seek(struct viewer *v, long index);

/* Shows frames in this mode in view i, with a notice where it needs a calibration. */
void viewer_set_mode(struct viewer *v, int i, enum display_mode mode);

/* This part of the pictures (as rig_options has it, copied; NULL: all) at this scale will be
 * computed. */
void viewer_want_part(struct viewer *v, const char *roi, double scale);

/* What motion between the pictures of the frame shown needs to become a speed: times of cameras and
 * recordings, or of --rate where pictures have none. */
struct motion_speed viewer_motion_speed(const struct viewer *v);

/* The pixel under the mouse, and its side: 0 left, 1 right; false where none is. */
bool viewer_hovered_pixel(const struct viewer *v, int *x, int *y, int *side);

#endif
