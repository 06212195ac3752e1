/*
 * The viewer: the parts of livestereo view, each in its own file, and functions that concern
 * several of them. cmd_view.c opens and closes it, loop.c runs it. All of it belongs to the main
 * thread: frames come from live_take, settings are passed to the threads by live_set_params.
 *
 * Files that take a struct viewer include this header; the headers included here do not know it.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/camera_options.h"
#include "app/view/actions.h"
#include "app/view/export.h"
#include "app/live/hints.h"
#include "app/view/pages.h"
#include "app/view/session.h"
#include "app/view/statistics.h"
#include "app/view/tools.h"

#include <stdbool.h>

/* The source where none is given, and of the start page. */
#define DEMONSTRATION "synth:"

/* For messages: how a source gets a calibration. */
#define CALIBRATION_WAYS "drop its file on the window or open it (Ctrl+o)"

/* The options of livestereo view, as its command line is parsed. Owned by cmd_view.c. */
struct view_options {
    struct rig_options rig;
    struct camera_options camera;
    struct output_options out;
    struct source_options source;
    char *screenshot, *output, *colormap, *theme, *range, *window, *ui_map, *view;
    int frames;
    double rate, start, scale, metres_per_pixel;
    gboolean swap, loop, drop, paused, fullscreen, plain, stats;
    bool motion;          /* the command is motion */
    bool remembered;      /* the parameters are those of the last time */
    struct params stated; /* the parameters without those of the last time */
};

/* The parts of the window that can be hidden; the seek bar is hidden with the panels. */
enum part { PART_PANELS, PART_SEEK_BAR, PART_HELP, PART_START, PART_LOG, PARTS };

struct viewer_quality {
    bool known; /* the presets were found */
    struct qualities all;
    struct quality_search search; /* where the settings have it automatic */
    bool still; /* pictures stand still: best on whole ones, in place of what the search found */
    int64_t taken_ns; /* when the last frame was taken */
};

struct slot { /* what A and B of the comparison have each */
    struct settings settings;
    struct quality_search search;
};

enum wipe_with { WIPE_OFF, WIPE_TRUTH, WIPE_SETTINGS, WIPES };
extern const char *const wipe_names[WIPES];

struct wipe { /* another map beside ours */
    enum wipe_with with;
    struct frame *kept; /* the last one of the settings that are not in use, or NULL */
    int slot;           /* of those settings */
    char name[2][64];   /* of both */
    char wanted[64];    /* the preset that whole pictures will be compared with, or "" */
};

struct still {
    int64_t since_ns, preview_ns; /* when pictures or settings changed last; 0: they do, or no */
    long index;                   /* preview by low is shown */
    int waiting;                  /* an enum action that needs whole pictures, or -1 */
    bool resumes;                 /* it goes on playing then */
};

struct kept { /* of a pipeline that is opened anew, seen until a frame of the new one comes */
    struct frame *frame; /* a copy, or NULL */
    struct draw_rig rig;
    double scale;
};

struct viewer {
    const struct view_options *options;
    struct session remembered;   /* as of the start */
    struct session started;      /* what the session began with; see session_save() */
    char source[SESSION_SOURCE]; /* what is open, as sessions name it */
    char **opened;               /* its words */
    struct screen screen;
    struct rig_options rig_options; /* first those of the command line; roi and files are its own */
    struct rig_use rig;
    struct matcher *matcher;
    struct output *output;     /* NULL: nothing is sent */
    struct output_options out; /* where to: of --out, or of this window */
    struct playback playback;
    struct frame *first; /* shown until a frame is computed, or NULL */
    struct kept kept;
    int64_t opened_ns; /* when computing it began */
    struct settings settings;
    double scale;          /* of the pictures to compute, as the user has chosen, 1: whole */
    struct params running; /* START parameters, as the pipeline was opened with */
    struct effective now;  /* what state_effective() makes of these; see viewer_derive() */
    struct params passed;  /* to the threads */
    struct slot other;     /* the settings that are not in use */
    int slot_in_use;       /* 0: A, 1: B */
    struct history history;
    long refused;   /* how often the pipeline has refused settings, when the user was told last */
    char **presets; /* names of all of this mode, sorted, NULL-terminated */
    struct viewer_quality quality;
    struct still still;
    struct wipe wipe;
    struct display display;
    struct layout layout; /* of the window as it was drawn last */
    struct mouse mouse;
    struct {
        bool on; /* there is one */
        int x, y, side;
    } hovered; /* the pixel under the mouse; side: 0 left, 1 right */
    struct probes probes;
    struct measure measure;
    enum length_unit unit;
    struct {
        bool on;
        char **calib;   /* another calibration's file, or NULL */
        bool rectified; /* with calib: the pictures are rectified already */
    } wanted_part;      /* chosen, and not computed yet */
    struct cameras cameras;
    struct start_page start_page;
    struct calibrate_form calibrate_form;
    struct row_watch row_watch;
    struct refine_watch refine;
    char **chosen; /* words that will be opened, or NULL */
    struct recording recording;
    struct video_export video_export;
    struct statistics statistics;
    int better_range; /* of disparities, by the frame on screen; 0: none is */
    bool visible[PARTS];
    bool covered;            /* by the start page, behind which nothing is computed */
    bool resumes;            /* it goes on playing then */
    bool announced;          /* what is chosen */
    enum tab tab, tab_drawn; /* of the panel: now, and as it was drawn last */
    bool drawer;             /* the panel of a narrow window is open, over the views */
    char param_search[64];   /* typed above the parameters of "advanced" */
    char help_search[64];    /* typed into the list of actions */
    int help_selected;       /* its line that Enter runs */
    enum theme_name theme;
    bool panel_keys;  /* Tab and arrow keys go through it */
    bool save_window; /* to a file, after the next drawing */
    char **calibrate; /* the words of the command that is to follow, or NULL */
    bool quit;
};

/* Derives v->now from the settings and from what is shown and done. */
void viewer_derive(struct viewer *v);

/* Once in a turn of the loop: passes what is to be computed to the threads, from the next frame on,
 * or has the pipeline opened again where the size changes. */
void viewer_update(struct viewer *v);

/* The user wants this value of a parameter, px of whole pictures. A step to undo. */
void viewer_put(struct viewer *v, const struct param_info *info, double value);

/* The same of parameters in px of the computed pictures, which come from elsewhere; no step. */
void viewer_take(struct viewer *v, const struct params *computed);

/* v->settings were set as a whole. A step to undo, and nothing else. */
void viewer_note(struct viewer *v);

/* The quality of the settings: an enum quality or QUALITY_CUSTOM. */
int viewer_quality(const struct viewer *v);

/* The settings in use. */
struct slot viewer_slot(const struct viewer *v);

/* Begins the search for the quality with the next frame. */
void viewer_begin_search(struct viewer *v);

/* Sets an enum quality, or with QUALITY_AUTO begins the search. */
void viewer_set_quality(struct viewer *v, int quality);

/* Continues the search with a frame that was taken to be shown. */
void viewer_search_quality(struct viewer *v, const struct frame *frame);

/* Reads the names of the presets of this mode. */
void viewer_find_presets(struct viewer *v);

/* Saves what is asked for as the preset of the settings' name in the user's folder. */
void viewer_save_preset(struct viewer *v);

/* Loads one of v->presets. */
void viewer_load_preset(struct viewer *v, const char *name);

/* The preset that was loaded last; else that of the quality, or of the built-in settings; or "". */
const char *viewer_preset(const struct viewer *v);

/* Whether the settings differ from what loading the preset of their name would make of them. */
bool viewer_differs_from_preset(const struct viewer *v);

/* The frame that is seen: the one on screen, else the one before; NULL: none. */
const struct frame *viewer_seen(const struct viewer *v);

/* Whether the frame on screen is the one asked for, computed with the settings of now. */
bool viewer_is_current(const struct viewer *v);

/* ---- still.c: what stands still is computed whole, in high quality, unless the user has chosen;
 * while a setting changes it is computed in low quality, where a frame takes long. */

/* Begins and ends that; to be called often. */
void still_update(struct viewer *v);

/* Notes that settings change; frames that take long are shown in low quality till then. */
void still_begin_preview(struct viewer *v);

/* Whether whole pictures are shown, computed as the settings say. If not, playback pauses until
 * they are, and then runs the action. */
bool still_is_whole(struct viewer *v, enum action action);

/* Whether what stands still is shown whole and as it is to be. */
bool still_rests(const struct viewer *v);

/* Seeks to a pair, or to the nearest one that exists; shows a notice where the source cannot. */
void viewer_seek(struct viewer *v, long index);

/* Sets the mode of view i, with a notice where it needs a calibration. */
void viewer_set_mode(struct viewer *v, int i, enum display_mode mode);

/* Requests that the pipeline is opened again, with what v->wanted_part and v->now say. */
void viewer_want_part(struct viewer *v);

/* ---- wipe.c: another map from the mouse on */

/* Before anything is drawn: finds the map and the place. */
void wipe_update(struct viewer *v);

/* Names both sides of it; between ui_begin and ui_end. */
void wipe_draw(const struct viewer *v);

/* Whether there is such a map; between A and B also where there will be. */
bool wipe_can(const struct viewer *v, enum wipe_with with);

/* Chooses it, with a notice. */
void wipe_set(struct viewer *v, enum wipe_with with);

/* Before the settings change between A and B: keeps the map of a pair that stands still. */
void wipe_keep(struct viewer *v);

/* Pauses, computes the whole pair by this preset, too, and shows both: settings B. */
void wipe_compare(struct viewer *v, const char *preset);

/* Finds the pixel under the mouse; among points that of the one that is seen there. */
void viewer_find_hovered(struct viewer *v);

/* ---- loop.c */

/* Runs until the user quits or the source is lost. Returns the exit code. */
int loop_run(struct viewer *v);

/* --screenshot: shows the last of --frames pairs in a hidden window and writes it to the file. The
 * exit code. */
int loop_screenshot(struct viewer *v);

/* ---- opening.c: opens and closes what belongs to one source, and replaces it while the
 * window stays open */

/* The source that words name. NULL after a log line. */
struct source *opening_source(const struct view_options *options, const char *const *words,
                              int count);

/* The next pair of a source as a frame, or NULL after a log line. */
struct frame *opening_read_pair(struct source *source);

/* Takes over a source, before anything else is opened. */
void opening_begin(struct viewer *v, struct source *source);

/* Opens rig, pipeline, output and threads, and plays from start_s on; paused at COVERED_S not even
 * the first pair is read. GO_ON, or the exit code after a log line. */
#define COVERED_S (-1e9)
int opening_finish(struct viewer *v, double start_s, bool paused);

/* Begins to send what is computed to where --out says, else to browsers of this machine, or ends
 * that, with a notice. */
void opening_toggle_output(struct viewer *v);

/* Remembers what is open or was recorded, of so many pairs (-1: cameras), for the start page, with
 * the calibration that it is used with; and keeps a picture of what is open. */
void opening_remember(struct viewer *v, const char *const *words, int count, long pairs);
void opening_keep_picture(struct viewer *v);

/* Closes all of these and the source. */
void opening_close(struct viewer *v);

/* ---- another source, in the same window */

/* The next opening_update opens these files, which were chosen or dropped; one that is a
 * calibration is taken for what is shown. */
void opening_take_files(struct viewer *v, const char *const *paths, int count);

/* The next opening_update computes what is shown with the calibration in this file or, where that
 * cannot be used, goes on with the one before. rectified: the pictures are so already. */
void opening_want_calib(struct viewer *v, const char *path, bool rectified);

/* Opens what was chosen, here or in the file dialog; not to be called while widgets are drawn. On
 * failure the present source stays or, if it is closed already, the built-in scene is opened. For
 * another part or scale of the same source only the pipeline is opened again, and playback
 * continues at the same pair. */
void opening_update(struct viewer *v);

/* ---- ui_map.c: what tests and scripts read about the window, one line each: places of widgets,
 * keys of actions, values of parameters, state */

/* Writes the map if it has changed and the option was given; called after each drawing. */
void ui_map_write(struct viewer *v);
