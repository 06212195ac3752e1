/*
 * The viewer: what its files share. All of it belongs to the main thread; frames come from
 * live_take, and settings go to the threads by live_set_params. cmd_view.c opens it, view_loop.c
 * is the loop, view_keys.c what keys do, view_mouse.c the mouse, view_panel.c the sliders,
 * view_overlay.c what lies on the picture, view_stats.c the statistics, view_export.c the files,
 * view_controls.c and view_live.c the cameras, view_rig.c the rig,
 * view_state.c what is remembered.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VIEW_H
#define LIVESTEREO_VIEW_H

#include "app/camera_options.h"
#include "app/commands.h"
#include "app/live.h"
#include "app/output_gst.h"
#include "app/rig_options.h"
#include "app/row_watch.h"
#include "capture/controls.h"
#include "capture/source_status.h"
#include "render/draw.h"
#include "render/ui.h"
#include "render/window.h"

#define TURNS 1024      /* of the loop, whose times are kept */
#define HISTORY 240     /* frames in the plots */
#define REDRAWS_INPUT 3 /* widgets need so many drawings to come to rest after an input */
#define MESSAGE_S 4

struct view_options {
    struct rig_options rig;
    struct camera_options camera;
    struct output_options out;
    struct source_options source;
    char *screenshot, *output, *colormap, *range, *window, *ui_map, *view;
    int frames;
    double rate, start, scale;
    gboolean report, swap, loop, drop, paused, fullscreen, plain, stats;
    bool remembered; /* the parameters are those of the last time */
};

struct recorder;

struct history {
    float stage_ms[TIME_COUNT], compute_ms;
};

struct view_stats {
    long frames, skipped,
        late; /* taken, replaced before they were drawn, later than 1.5 intervals */
    double capture_rate, compute_rate, draw_rate;
    long drawn;
    int64_t window_ns; /* begin of the half second that rates are taken over */
    struct live_stats before;
    long drawn_before;
    int64_t last_taken_ns;
    double turn_ms[TURNS], longest_turn_ms; /* of the loop, from an event to the picture */
    long turns;
    double age_ms; /* of the frame shown, capture to screen */
    struct history history[HISTORY];
    long history_count;
    double bad_seen, bad_all; /* percent of the frame's pixels that are off by more than 1 px */
    double sum_seen, sum_all; /* of the frames since the settings changed */
    long error_frames;
    struct params error_params;
    int64_t errors_taken_ns; /* frame they were counted last for */
};

struct view_cameras {
    struct source_status status; /* as of looked_ns; zero of sources that have none */
    int64_t looked_ns, read_ns;
    struct control control[CONTROLS_MOST]; /* as of read_ns */
    int controls;
    bool apart;     /* left and right have sliders of their own */
    char *proposed; /* the word of the rig that was chosen, until the user has kept it */
};

struct viewer {
    struct window *window;
    struct draw *draw;
    struct ui *ui;
    struct source *source;
    struct stereo *stereo;
    struct live *live;
    struct rig_use rig;
    struct recorder *recorder; /* NULL: not recording */
    long recorded;             /* index of the last pair of a source without a tap */
    struct output *output;     /* NULL: without --out */
    struct row_watch *watch;   /* NULL: rows are not measured */
    struct row_watch_state rows;
    const struct view_options *options;
    double ui_scale;

    struct params params, slot[2]; /* in use, those of START at the next one; A and B */
    struct params running;         /* as the pipeline was opened */
    int slot_now;
    long refused;

    struct frame *shown;
    bool fresh;   /* shown is not in the textures yet */
    long target;  /* pair asked for and not yet shown, -1 for none */
    long mark[2]; /* A and B of the loop, -1 unset */
    bool loop_file, swap;
    double rate, speed;
    struct live_state state;

    struct draw_settings draw_settings;
    bool range_own; /* least and most were set by hand or from a frame */
    bool panel, bar, stats, help, quit;
    int redraws;
    int64_t redraw_at_ns; /* when a message runs out; 0: nothing planned */

    double mouse_x, mouse_y, press_x, press_y;
    int dragging; /* button + 1 while the picture is dragged */
    bool moved;
    struct live_probe probes[PROBES];
    int probe_count;

    char message[256];
    int64_t message_until_ns;
    char preset_name[64], **preset_names;
    char *last_map;
    bool shoot; /* take a picture of the window after the next drawing */
    struct view_stats stats_data;
    struct view_cameras cameras;
    int code; /* exit code */
};

/* view_loop.c: until the user quits, and without a window shown; the exit code. */
int view_interact(struct viewer *v);
int view_shoot(struct viewer *v);

/* Widgets for the present size of text; again after that changed. 0 or -ENOMEM. */
int view_make_ui(struct viewer *v);

void view_redraw(struct viewer *v);
void view_say(struct viewer *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The settings changed: they act on the next frame. */
void view_apply(struct viewer *v);

/* The pair one stands at, or is on the way to; -1 before the first. */
long view_index(const struct viewer *v);
void view_pause(struct viewer *v, bool paused);
void view_seek(struct viewer *v, long index);
void view_set_speed(struct viewer *v, double speed);
void view_set_loop(struct viewer *v);

/* Range of colours from the settings (or metres in the depth view), unless it was set by hand. */
void view_fix_range(struct viewer *v);

/* Whether disparities can be told in metres, and how many. */
bool view_has_rig(const struct viewer *v);
double view_depth(const struct viewer *v, double disparity_px);

/* view_keys.c: the one table of keys. */
struct view_key {
    const char *name, *keys, *help; /* keys: names separated by blanks, as window_event has them */
    void (*act)(struct viewer *v, int value);
    int value;
};
extern const struct view_key view_keys[];
extern const int view_key_count;
bool view_key_press(struct viewer *v, const char *key);

/* view_mouse.c */
void view_mouse(struct viewer *v, const struct window_event *event);
bool view_hover(const struct viewer *v, int *x, int *y, int *side);

/* The parts of the window; called between ui_begin and ui_end. */
void view_panel_draw(struct viewer *v, int width, int height);
void view_bar_draw(struct viewer *v, int width, int height);
void view_help_draw(struct viewer *v, int width, int height);
void view_overlay_draw(struct viewer *v);
void view_probes_draw(struct viewer *v);
void view_stats_draw(struct viewer *v);

/* view_stats.c: a frame was taken; the window was drawn. */
void view_stats_frame(struct viewer *v, bool skipped);
void view_stats_drawn(struct viewer *v);
void view_stats_turn(struct viewer *v, int64_t began_ns);
void view_stats_report(struct viewer *v);

/* view_export.c: files named with the time, never over another. */
void view_export_window(struct viewer *v);
void view_export_pair(struct viewer *v);
void view_export_points(struct viewer *v);

/* view_record.c: on and off; a frame was taken; the mark on the picture. */
void view_record_toggle(struct viewer *v);
void view_record_end(struct viewer *v);
void view_record_frame(struct viewer *v);
void view_record_draw(struct viewer *v);

/* view_rig.c: the rig's group; depths beside the number of labels; another turn of the loop. */
void view_rig_draw(struct viewer *v);
void view_nearest_draw(struct viewer *v);
void view_rig_watch(struct viewer *v);

/* view_live.c: looks what the source says (often enough; redraws when that matters); parts of
 * the window, the statistics' among its panel. */
void view_live_look(struct viewer *v);
void view_banner_draw(struct viewer *v);
void view_live_stats_draw(struct viewer *v);
void view_proposal_draw(struct viewer *v);

/* view_controls.c: a group of the panel. The name of a control's widget, for CONTROLS_BOTH or a
 * side; into buf. */
void view_controls_draw(struct viewer *v);

/* view_panel.c: the rows of a group of parameters. */
void view_params_draw(struct viewer *v, const char *group);
const char *view_control_name(const struct control *control, int side, char *buf, size_t size);

/* view_state.c */
void view_state_load(struct viewer *v);
/* Over the defaults and the user's own, unless newer or asked otherwise: the settings of the last
 * time. True where there are some. */
bool view_state_params(struct params *params, const struct common_options *options);
/* Whether a parameter will have another value at the next start. */
bool view_is_next(const struct viewer *v, const struct param_info *info);
/* Copies the parameters of one kind. */
void view_take(struct params *to, const struct params *from, enum param_when when);
/* Copies what was measured on a rig, which stays with it: neither the next recording, nor a paper's
 * preset, nor the other settings of a comparison have its rows. */
void view_keep_rig(struct params *to, const struct params *from);
void view_state_save(const struct viewer *v);
void view_preset_save(struct viewer *v);
void view_preset_load(struct viewer *v, const char *name);
void view_list_presets(struct viewer *v);
void view_write_map(struct viewer *v);

#endif
