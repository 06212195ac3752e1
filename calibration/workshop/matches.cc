/*
 * OpenCV's features, searches and RANSAC behind matches.h. Every exception of OpenCV ends at one of
 * the extern "C" functions at the bottom. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/matches.h"

extern "C" {
#include "base/log.h"
}

#include <cerrno>
#include <cfloat>
#include <cstdlib>
#include <new>
#include <vector>

#include <opencv2/calib3d.hpp>
#include <opencv2/features2d.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>

namespace {

const double quality = 1e-3; /* of the strongest corner, that the weakest one must have */
const double spacing = 6;    /* px, least distance of two corners */
const float patch = 5;       /* size of keypoints: descriptors of about 30 px */
const float lead = 0.8F;     /* the best match must be so much better than the second (Lowe 2004) */
const double sure = 0.9999;  /* of RANSAC */

const int cell = 16;           /* px, one corner at most in each */
const double texture = 1.2e-3; /* of a corner, 4 grey levels from pixel to pixel both ways */
const int half = 5;            /* of the patch that is correlated */
const int fine = 15;           /* size of the patch that is tracked */
const int around = 21;         /* size of the window that brightness and contrast are taken from */
const int rows = 6;            /* searched up and down */
const int edge = fine / 2 + 4;
const double alike = 0.85;    /* least correlation */
const double clear = 0.05;    /* of the best place over any other more than 2 px away */
const float moved_px = 2;     /* px, that tracking may move a place */
const float return_px = 0.2F; /* px, that the way there and back may be off */

struct described {
    std::vector<cv::KeyPoint> corners;
    cv::Mat descriptors;
};

described describe(const cv::Mat &picture) {
    std::vector<cv::Point2f> found;
    described d;
    cv::goodFeaturesToTrack(picture, found, MAX_FEATURES, quality, spacing);
    for (const cv::Point2f &p : found) /* upright: cameras of a rig hardly roll */
        d.corners.emplace_back(p, patch, 0.F);
    if (!d.corners.empty())
        cv::SIFT::create()->compute(picture, d.corners, d.descriptors);
    return d;
}

/* The nearest of the other picture's descriptors to one descriptor. */
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

/* The part of a picture that is far enough from its border. */
cv::Rect inside(const cv::Mat &picture) {
    return {edge, edge, picture.cols - 2 * edge, picture.rows - 2 * edge};
}

/* The strongest corner of each cell. Cells grow with the picture, so that all of it is covered
 * however large it is. */
std::vector<cv::Point> corners_of(const cv::Mat &picture) {
    const cv::Rect in = inside(picture);
    std::vector<cv::Point> found;
    cv::Mat strength;
    int side = cell;
    while ((picture.cols / side) * (picture.rows / side) > MAX_ROW_FEATURES)
        side++;
    cv::cornerMinEigenVal(picture, strength, 7);
    for (int y = in.y; y + side <= in.br().y; y += side)
        for (int x = in.x; x + side <= in.br().x; x += side) {
            double best;
            cv::Point at;
            cv::minMaxLoc(strength({x, y, side, side}), nullptr, &best, nullptr, &at);
            if (best > texture)
                found.emplace_back(x + at.x, y + at.y);
        }
    return found;
}

/* Finds the patch at `at` in the other picture, in columns first..last and some rows up and down.
 * False where another place is nearly as good, as in repeated patterns and along edges. */
bool search(const cv::Mat &of, cv::Point at, const cv::Mat &other, int first, int last,
            cv::Point *found) {
    const cv::Point corner(half, half), end(half + 1, half + 1);
    const cv::Rect places =
        cv::Rect({first, at.y - rows}, cv::Point(last + 1, at.y + rows + 1)) & inside(other);
    cv::Mat scores;
    cv::Point best_at;
    double best, second;
    if (places.empty())
        return false;
    cv::matchTemplate(other({places.tl() - corner, places.br() + corner}),
                      of({at - corner, at + end}), scores, cv::TM_CCOEFF_NORMED);
    cv::minMaxLoc(scores, nullptr, &best, nullptr, &best_at);
    scores(cv::Rect(best_at.x - 2, best_at.y - 2, 5, 5) & cv::Rect({}, scores.size())) = -1;
    cv::minMaxLoc(scores, nullptr, &second);
    *found = places.tl() + best_at;
    return best > alike && best - second > clear;
}

/* Without local brightness and contrast, in which cameras differ. */
cv::Mat flatten(const cv::Mat &picture) {
    cv::Mat value, mean, square, flat;
    picture.convertTo(value, CV_32F);
    cv::blur(value, mean, {around, around});
    cv::blur(value.mul(value), square, {around, around});
    cv::sqrt(cv::max(square - mean.mul(mean), 4), square);
    cv::Mat((value - mean) / square).convertTo(flat, CV_8U, 40, 128);
    return flat;
}

/* Brings right places to a part of a pixel. The mean of the ways there and back has no bias by
 * bilinear reading. Where these differ the patches show different things, as where a near edge
 * crosses a far one. How many are left. */
int track(const cv::Mat &left, const cv::Mat &right, feature_match *matches, int count) {
    const cv::Mat flat[2] = {flatten(left), flatten(right)};
    const cv::TermCriteria until(cv::TermCriteria::COUNT | cv::TermCriteria::EPS, 20, 0.01);
    std::vector<cv::Point2f> from, whole;
    std::vector<uint8_t> there, returned;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        from.emplace_back(matches[i].x[0], matches[i].y[0]);
        whole.emplace_back(matches[i].x[1], matches[i].y[1]);
    }
    std::vector<cv::Point2f> to = whole, again = from;
    if (count > 0) {
        cv::calcOpticalFlowPyrLK(flat[0], flat[1], from, to, there, cv::noArray(), {fine, fine}, 0,
                                 until, cv::OPTFLOW_USE_INITIAL_FLOW);
        cv::calcOpticalFlowPyrLK(flat[1], flat[0], to, again, returned, cv::noArray(), {fine, fine},
                                 0, until, cv::OPTFLOW_USE_INITIAL_FLOW);
    }
    for (size_t i = 0; i < to.size(); i++) {
        const cv::Point2f off = again[i] - from[i], step = to[i] - whole[i], at = to[i] - off / 2;
        if (there[i] && returned[i] && cv::norm(off) < return_px && cv::norm(step) < moved_px &&
            inside(left).contains(from[i]) && inside(right).contains(at))
            matches[kept++] = {{from[i].x, at.x}, {from[i].y, at.y}};
    }
    return kept;
}

int find_in_rows(const cv::Mat &left, const cv::Mat &right, int min, int max,
                 feature_match *matches, int *corners) {
    const std::vector<cv::Point> all = corners_of(left);
    int count = 0;
    *corners = static_cast<int>(all.size());
    for (const cv::Point &at : all) {
        cv::Point to, again;
        if (search(left, at, right, at.x - max, at.x - min, &to) &&
            search(right, to, left, to.x + min, to.x + max, &again) &&
            std::abs(again.x - at.x) <= 1 && std::abs(again.y - at.y) <= 1 &&
            std::abs(to.y - at.y) < rows) /* at the rim the true place may lie beyond */
            matches[count++] = {{static_cast<float>(at.x), static_cast<float>(to.x)},
                                {static_cast<float>(at.y), static_cast<float>(to.y)}};
    }
    return track(left, right, matches, count);
}

cv::Mat picture_of(const uint8_t *grey, int width, int height) {
    return {height, width, CV_8U, const_cast<uint8_t *>(grey)};
}

int error_of(const std::exception &e) {
    const cv::Exception *of_opencv = dynamic_cast<const cv::Exception *>(&e);
    const bool memory = of_opencv ? of_opencv->code == cv::Error::StsNoMem
                                  : dynamic_cast<const std::bad_alloc *>(&e) != nullptr;
    return memory ? -ENOMEM : -EINVAL;
}

int fail(const std::exception &e) {
    if (error_of(e) == -ENOMEM)
        return log_fail(-ENOMEM, "calib refine", "no memory to match features");
    return log_fail(-EINVAL, "calib refine", "matching features failed: %s", e.what());
}

} // namespace

bool matches_available(void) {
    return true;
}

const char *matches_missing(void) {
    return nullptr;
}

int matches_find(const uint8_t *left, const uint8_t *right, int width, int height,
                 struct feature_match *matches) {
    try {
        const cv::Mat l = picture_of(left, width, height), r = picture_of(right, width, height);
        const described d[2] = {describe(l), describe(r)};
        return track(l, r, matches, find(d, matches));
    } catch (const std::exception &e) {
        return fail(e);
    }
}

int matches_in_rows(const uint8_t *left, const uint8_t *right, int width, int height, int min,
                    int max, struct feature_match *matches, int *corners) {
    try {
        return find_in_rows(picture_of(left, width, height), picture_of(right, width, height), min,
                            max, matches, corners);
    } catch (const std::exception &e) {
        return error_of(e);
    }
}

bool matches_solve(int n, const double *a, const double *b, double *x) {
    try {
        cv::Mat to(n, 1, CV_64F, x);
        return cv::solve(cv::Mat(n, n, CV_64F, const_cast<double *>(a)),
                         cv::Mat(n, 1, CV_64F, const_cast<double *>(b)), to, cv::DECOMP_CHOLESKY);
    } catch (const std::exception &) {
        return false;
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
