/*
 * OpenCV's features and RANSAC behind matches.h. Every exception of OpenCV ends at one of the
 * extern "C" functions at the bottom. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/matches.h"

extern "C" {
#include "config/log.h"
}

#include <cerrno>
#include <cfloat>
#include <new>
#include <vector>

#include <opencv2/calib3d.hpp>
#include <opencv2/features2d.hpp>
#include <opencv2/imgproc.hpp>

namespace {

const double quality = 1e-3; /* of the strongest corner, that the weakest one must have */
const double spacing = 6;    /* px, least distance of two corners */
const float patch = 5;       /* size of keypoints: descriptors of about 30 px */
const float lead = 0.8F;     /* the best match must be so much better than the second (Lowe 2004) */
const double sure = 0.9999;  /* of RANSAC */

struct described {
    std::vector<cv::KeyPoint> corners;
    cv::Mat descriptors;
};

described describe(const uint8_t *grey, int width, int height) {
    cv::Mat picture(height, width, CV_8U, const_cast<uint8_t *>(grey));
    std::vector<cv::Point2f> found;
    described d;
    cv::goodFeaturesToTrack(picture, found, MAX_FEATURES, quality, spacing);
    for (const cv::Point2f &p : found) /* upright: cameras of a rig hardly roll */
        d.corners.emplace_back(p, patch, 0.F);
    if (!d.corners.empty())
        cv::SIFT::create()->compute(picture, d.corners, d.descriptors);
    return d;
}

/* Of one descriptor: the nearest of the others. */
struct neighbour {
    int index = -1;
    float first = FLT_MAX, second = FLT_MAX; /* distances of the nearest two */

    void offer(int other, float distance) {
        if (distance < first) {
            second = first;
            first = distance;
            index = other;
        } else if (distance < second) {
            second = distance;
        }
    }
    bool leads() const {
        return first < lead * second;
    }
};

/* Both pictures' descriptors are compared once, for the nearest of each. */
int find(const described d[2], feature_match *matches) {
    int count = 0;
    if (d[0].corners.size() < 2 || d[1].corners.size() < 2)
        return 0;
    std::vector<neighbour> there(d[0].corners.size()), back(d[1].corners.size());
    cv::Mat distances;
    for (size_t i = 0; i < there.size(); i++) {
        cv::batchDistance(d[0].descriptors.row(static_cast<int>(i)), d[1].descriptors, distances,
                          CV_32F, cv::noArray(), cv::NORM_L2);
        for (size_t j = 0; j < back.size(); j++) {
            const float distance = distances.at<float>(static_cast<int>(j));
            there[i].offer(static_cast<int>(j), distance);
            back[j].offer(static_cast<int>(i), distance);
        }
    }
    for (size_t i = 0; i < there.size(); i++) {
        const neighbour &to = there[i];
        if (!to.leads() || !back[static_cast<size_t>(to.index)].leads() ||
            back[static_cast<size_t>(to.index)].index != static_cast<int>(i))
            continue;
        const cv::Point2f l = d[0].corners[i].pt,
                          r = d[1].corners[static_cast<size_t>(to.index)].pt;
        matches[count++] = {{l.x, r.x}, {l.y, r.y}};
    }
    return count;
}

int fail(const std::exception &e) {
    const cv::Exception *of_opencv = dynamic_cast<const cv::Exception *>(&e);
    if (of_opencv ? of_opencv->code == cv::Error::StsNoMem
                  : dynamic_cast<const std::bad_alloc *>(&e) != nullptr)
        return log_fail(-ENOMEM, "calib refine", "no memory to match features");
    return log_fail(-EINVAL, "calib refine", "matching features failed: %s", e.what());
}

} // namespace

bool matches_available(void) {
    return true;
}

int matches_find(const uint8_t *left, const uint8_t *right, int width, int height,
                 struct feature_match *matches) {
    try {
        const described d[2] = {describe(left, width, height), describe(right, width, height)};
        return find(d, matches);
    } catch (const std::exception &e) {
        return fail(e);
    }
}

int matches_agree(const double (*rays)[4], int count, double max, uint8_t *in) {
    try {
        std::vector<cv::Point2d> of[2];
        for (int i = 0; i < count; i++)
            for (int v = 0; v < 2; v++)
                of[v].emplace_back(rays[i][2 * v], rays[i][2 * v + 1]);
        cv::Mat mask;
        cv::findEssentialMat(of[0], of[1], cv::Mat::eye(3, 3, CV_64F), cv::RANSAC, sure, max, mask);
        int agree = 0;
        for (int i = 0; i < count; i++)
            agree += in[i] = !mask.empty() && mask.at<uint8_t>(i) != 0;
        return agree;
    } catch (const std::exception &e) {
        return fail(e);
    }
}
