/*
 * Hands rigs to OpenCV and copies what comes back. SPDX-License-Identifier: MIT
 */
extern "C" {
#include "calibration/rectify.h"
}
#include "tests/opencv_oracle.h"

#include <cstring>

#include <opencv2/calib3d.hpp>

static cv::Mat matrix(const struct camera &c) {
    return (cv::Mat_<double>(3, 3) << c.fx, 0, c.cx, 0, c.fy, c.cy, 0, 0, 1);
}

static cv::Mat lens(const struct camera &c) {
    int count = distortion_coefficients[c.distortion];
    return cv::Mat(1, count ? count : 5, CV_64F, const_cast<double *>(c.k)).clone();
}

static cv::Mat nine(const double *m) {
    return cv::Mat(3, 3, CV_64F, const_cast<double *>(m)).clone();
}

void opencv_maps(const struct rig *rig, const struct rectification *to, int v, float *x, float *y) {
    const struct camera &c = rig->camera[v];
    cv::Mat P = (cv::Mat_<double>(3, 3) << to->fx, 0, to->cx[v], 0, to->fy, to->cy, 0, 0, 1), mx,
            my;
    cv::Size size(to->width, to->height);
    if (c.distortion == DISTORTION_FISHEYE)
        cv::fisheye::initUndistortRectifyMap(matrix(c), lens(c), nine(to->rotation[v]), P, size,
                                             CV_32FC1, mx, my);
    else
        cv::initUndistortRectifyMap(matrix(c), lens(c), nine(to->rotation[v]), P, size, CV_32FC1,
                                    mx, my);
    std::memcpy(x, mx.data, sizeof *x * mx.total());
    std::memcpy(y, my.data, sizeof *y * my.total());
}

void opencv_rectify(const struct rig *rig, double alpha, int zero_disparity,
                    struct rectification *out) {
    cv::Mat R[2], P[2], Q, T = cv::Mat(3, 1, CV_64F, const_cast<double *>(rig->T)).clone();
    cv::Size size(rig->camera[0].width, rig->camera[0].height);
    cv::stereoRectify(matrix(rig->camera[0]), lens(rig->camera[0]), matrix(rig->camera[1]),
                      lens(rig->camera[1]), size, nine(rig->R), T, R[0], R[1], P[0], P[1], Q,
                      zero_disparity ? cv::CALIB_ZERO_DISPARITY : 0, alpha, size);
    *out = {};
    out->width = size.width;
    out->height = size.height;
    for (int v = 0; v < 2; v++) {
        std::memcpy(out->rotation[v], R[v].data, sizeof out->rotation[v]);
        out->cx[v] = P[v].at<double>(0, 2);
    }
    out->fx = P[0].at<double>(0, 0);
    out->fy = P[0].at<double>(1, 1);
    out->cy = P[0].at<double>(1, 2);
    out->baseline = -P[1].at<double>(0, 3) / P[1].at<double>(0, 0);
}
