/*
 * Calibration, rate and disparity range of a folder of picture pairs, from files beside the
 * pictures. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

struct folder_about {
    char *calibration;      /* path of a calibration file, or NULL; g_free */
    double rate;            /* pairs a second by frame_rate_hz in camera.txt; 0: not known */
    double disparity_scale; /* what 1 px is in pair.ini's disp_left; 0: not known */
    int disparities;        /* by pair.ini or Middlebury's ndisp; 0: not known */
};

/* Looks for calib.txt, calib_cam_to_cam.txt (here or, as KITTI has it, one folder up),
 * calibration.yml, rig.yml; camera.txt; pair.ini. Damaged files are skipped, of pair.ini
 * with a log line. */
void folder_about_read(const char *folder, struct folder_about *about);
