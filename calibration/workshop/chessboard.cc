/*
 * OpenCV's corner finder and solvers behind chessboard.h. Every exception of OpenCV ends at one
 * of the extern "C" functions at the bottom. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"

extern "C" {
#include "base/log.h"
}

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>

namespace {

typedef std::vector<cv::Point2f> points2;
typedef std::vector<cv::Point3d> points3;

struct solution {
    cv::Mat K[2], D[2], R, T;
    double rms[2], rms_stereo;
    cv::Mat spread[2]; /* of fx fy cx cy ..., empty for fisheye */
};

/* Whether memory ran out; OpenCV throws an exception of its own for that. */
bool no_memory(const std::exception &e) {
    const cv::Exception *of_opencv = dynamic_cast<const cv::Exception *>(&e);
    return of_opencv ? of_opencv->code == cv::Error::StsNoMem
                     : dynamic_cast<const std::bad_alloc *>(&e) != nullptr;
}

points3 board_points(const board &b) {
    points3 p;
    for (int j = 0; j < b.rows; j++)
        for (int i = 0; i < b.cols; i++)
            p.emplace_back(i * b.square, j * b.square, 0);
    return p;
}

points2 view_points(const board &b, const board_view &view, int v) {
    const cv::Point2f *p = reinterpret_cast<const cv::Point2f *>(view.xy[v]);
    return {p, p + b.cols * b.rows};
}

/* Half-width of the refinement window: 5 px, less where squares are small, since a window that
 * reaches the next corner pulls this one towards it. */
int refine_window(const board &b, const points2 &corners) {
    double min = 1e9;
    for (int j = 0; j < b.rows; j++)
        for (int i = 0; i < b.cols; i++) {
            const cv::Point2f &p = corners[j * b.cols + i];
            if (i + 1 < b.cols)
                min = std::min(min, cv::norm(p - corners[j * b.cols + i + 1]));
            if (j + 1 < b.rows)
                min = std::min(min, cv::norm(p - corners[(j + 1) * b.cols + i]));
        }
    return std::clamp(static_cast<int>(min * 0.4), 2, 5);
}

/* How a board is looked for, in this order: by its saddle points, which is sure of itself and
 * soon done; then by its squares, which finds boards bent or seen from far aside but takes
 * seconds to give up on a noisy picture, hence the blur. The first also at twice the picture's
 * size, for squares of a few pixels. */
enum method { SADDLES, SQUARES, SQUARES_QUICK };

/* The least side of a picture that corners are looked for in, px: the window of OpenCV's threshold
 * is a tenth of the side, and 3 px at least. */
const int least_side = 16;

bool find_by(const cv::Mat &grey, const board &b, enum method method, double scale,
             points2 &corners) {
    cv::Mat picture = grey;
    cv::Size size(b.cols, b.rows);
    bool found;
    if (scale * std::min(grey.cols, grey.rows) < least_side)
        return false;
    if (scale != 1)
        cv::resize(grey, picture, cv::Size(), scale, scale,
                   scale > 1 ? cv::INTER_LINEAR : cv::INTER_AREA);
    if (method == SQUARES)
        cv::GaussianBlur(picture, picture, cv::Size(3, 3), 0);
    if (method == SADDLES)
        found = cv::findChessboardCornersSB(picture, size, corners,
                                            cv::CALIB_CB_NORMALIZE_IMAGE | cv::CALIB_CB_EXHAUSTIVE);
    else
        found =
            cv::findChessboardCorners(picture, size, corners,
                                      cv::CALIB_CB_ADAPTIVE_THRESH | cv::CALIB_CB_NORMALIZE_IMAGE |
                                          (method == SQUARES_QUICK ? cv::CALIB_CB_FAST_CHECK : 0));
    const float back = static_cast<float>(1 / scale);
    for (cv::Point2f &p : corners) /* pixel centres are at whole numbers */
        p = cv::Point2f((p.x + 0.5F) * back - 0.5F, (p.y + 0.5F) * back - 0.5F);
    return found && corners.size() == static_cast<size_t>(b.cols) * b.rows;
}

/* Live pictures are looked at this wide; the corners are refined in the picture itself. */
const double quick_width = 800;

bool find(const cv::Mat &grey, const board &b, bool thorough, points2 &corners) {
    bool found =
        thorough ? find_by(grey, b, SADDLES, 1, corners) || find_by(grey, b, SADDLES, 2, corners) ||
                       find_by(grey, b, SQUARES, 1, corners)
                 : find_by(grey, b, SQUARES_QUICK, std::min(1.0, quick_width / grey.cols), corners);
    if (!found)
        return false;
    int half = refine_window(b, corners);
    cv::cornerSubPix(grey, corners, cv::Size(half, half), cv::Size(-1, -1),
                     cv::TermCriteria(cv::TermCriteria::EPS | cv::TermCriteria::COUNT, 100, 1e-3));
    return true;
}

const cv::TermCriteria patient(cv::TermCriteria::EPS | cv::TermCriteria::COUNT, 200, 1e-9);
const int fisheye_flags = cv::fisheye::CALIB_RECOMPUTE_EXTRINSIC | cv::fisheye::CALIB_FIX_SKEW;

/* k3, k5 and k6 stay 0: with them the numerator and the denominator can trade a common factor,
 * and a pole with it, at no cost to the corners. */
const int rational_flags =
    cv::CALIB_RATIONAL_MODEL | cv::CALIB_FIX_K3 | cv::CALIB_FIX_K5 | cv::CALIB_FIX_K6;

/* A lens model, and which of its terms are kept 0. */
struct lens_terms {
    enum distortion model;
    int fixed; /* flags of OpenCV's solver */
    const char *without;
};

/* A model with all its terms, then what has fewer of them. */
std::vector<lens_terms> terms_of(enum distortion model) {
    const lens_terms radtan = {DISTORTION_RADTAN, 0, "radtan, without the rational terms"},
                     quadratic = {DISTORTION_RADTAN, cv::CALIB_FIX_K2, "radtan with k2 = 0"};
    if (model == DISTORTION_RATIONAL)
        return {{model, 0, ""}, radtan, quadratic};
    if (model == DISTORTION_FISHEYE)
        return {{model, 0, ""},
                {model, cv::fisheye::CALIB_FIX_K3 | cv::fisheye::CALIB_FIX_K4,
                 "fisheye with k3 = k4 = 0"}};
    return {{model, 0, ""}, quadratic};
}

/* Solves from the views given, all of them. */
solution solve(const board &b, cv::Size size, const lens_terms &terms,
               const std::vector<const board_view *> &views) {
    const bool fisheye = terms.model == DISTORTION_FISHEYE;
    const bool rational = terms.model == DISTORTION_RATIONAL;
    const int flags = terms.fixed | (rational ? rational_flags : cv::CALIB_FIX_K3);
    const int type = fisheye ? CV_64F : CV_32F; /* float is all that calibrateCamera takes */
    std::vector<cv::Mat> object(views.size()), image[2] = {object, object};
    cv::Mat E, F;
    solution s;
    for (int v = 0; v < 2; v++) {
        for (size_t i = 0; i < views.size(); i++) {
            cv::Mat(board_points(b)).convertTo(object[i], type);
            cv::Mat(view_points(b, *views[i], v)).convertTo(image[v][i], type);
        }
        cv::Mat rotations, shifts, unused, per_view;
        if (fisheye) {
            s.rms[v] = cv::fisheye::calibrate(object, image[v], size, s.K[v], s.D[v], rotations,
                                              shifts, fisheye_flags | terms.fixed, patient);
            continue;
        }
        /* the rational model from the plain one's result: from nothing it tends to end with a
         * pole */
        if (rational)
            cv::calibrateCamera(object, image[v], size, s.K[v], s.D[v], rotations, shifts,
                                cv::CALIB_FIX_K3, patient);
        s.rms[v] = cv::calibrateCamera(
            object, image[v], size, s.K[v], s.D[v], rotations, shifts, s.spread[v], unused,
            per_view, flags | (rational ? cv::CALIB_USE_INTRINSIC_GUESS : 0), patient);
    }
    s.rms_stereo = fisheye ? cv::fisheye::stereoCalibrate(object, image[0], image[1], s.K[0],
                                                          s.D[0], s.K[1], s.D[1], size, s.R, s.T,
                                                          cv::fisheye::CALIB_FIX_INTRINSIC, patient)
                           : cv::stereoCalibrate(object, image[0], image[1], s.K[0], s.D[0], s.K[1],
                                                 s.D[1], size, s.R, s.T, E, F,
                                                 flags | cv::CALIB_USE_INTRINSIC_GUESS, patient);
    return s;
}

void fill_rig(const solution &s, const board &b, cv::Size size, enum distortion model,
              struct rig *rig) {
    rig_clear(rig);
    for (int v = 0; v < 2; v++) {
        struct camera *c = &rig->camera[v];
        cv::Mat K, D;
        s.K[v].convertTo(K, CV_64F);
        s.D[v].reshape(1, 1).convertTo(D, CV_64F);
        *c = {};
        c->width = size.width;
        c->height = size.height;
        c->fx = K.at<double>(0, 0);
        c->fy = K.at<double>(1, 1);
        c->cx = K.at<double>(0, 2);
        c->cy = K.at<double>(1, 2);
        c->distortion = model;
        for (int i = 0; i < distortion_coefficients[model] && i < D.cols; i++)
            c->k[i] = D.at<double>(0, i);
    }
    cv::Mat R, T;
    s.R.convertTo(R, CV_64F);
    s.T.reshape(1, 1).convertTo(T, CV_64F);
    for (int i = 0; i < 9; i++)
        rig->R[i] = R.at<double>(i / 3, i % 3);
    for (int i = 0; i < 3; i++)
        rig->T[i] = T.at<double>(0, i);
    rig->metric = b.metric;
    rig->rms = s.rms_stereo;
}

/* Normalised rays of a view's corners. */
std::vector<cv::Point2d> rays(const struct camera &c, const points2 &pixels) {
    std::vector<cv::Point2d> out;
    for (const cv::Point2d p : pixels) {
        double pixel[2] = {p.x, p.y}, xy[2];
        camera_unproject(&c, pixel, xy);
        out.emplace_back(xy[0], xy[1]);
    }
    return out;
}

/* Mean square distance between a view's corners and the board projected from pose (rvec,
 * tvec). */
double mean_square(const struct camera &c, const points3 &object, const points2 &seen,
                   const cv::Mat &R, const cv::Mat &t) {
    double sum = 0;
    for (size_t i = 0; i < object.size(); i++) {
        cv::Mat p = R * cv::Mat(object[i]) + t;
        double xy[2] = {p.at<double>(0) / p.at<double>(2), p.at<double>(1) / p.at<double>(2)};
        double pixel[2];
        camera_project(&c, xy, pixel);
        sum += std::pow(pixel[0] - seen[i].x, 2) + std::pow(pixel[1] - seen[i].y, 2);
    }
    return sum / static_cast<double>(object.size());
}

/* Pose of a board in one camera, on the rays so that one solver serves all lens models. */
void board_pose(const points3 &object, const std::vector<cv::Point2d> &ray, cv::Mat &R,
                cv::Mat &t) {
    cv::Mat r;
    cv::solvePnP(object, ray, cv::Mat::eye(3, 3, CV_64F), cv::noArray(), r, t, false,
                 cv::SOLVEPNP_ITERATIVE);
    cv::Rodrigues(r, R);
}

/* Errors of one view under a rig: in each camera at its own best pose, and in both at one
 * pose, the better of the two cameras' moved through R, T. */
void measure(const board &b, const struct rig &rig, board_view &view) {
    points3 object = board_points(b);
    cv::Mat R(3, 3, CV_64F, const_cast<double *>(rig.R)),
        T(3, 1, CV_64F, const_cast<double *>(rig.T));
    cv::Mat r[2], t[2];
    points2 seen[2];
    double square[2];
    for (int v = 0; v < 2; v++) {
        seen[v] = view_points(b, view, v);
        board_pose(object, rays(rig.camera[v], seen[v]), r[v], t[v]);
        square[v] = mean_square(rig.camera[v], object, seen[v], r[v], t[v]);
        view.rms[v] = std::sqrt(square[v]);
    }
    double in_right = mean_square(rig.camera[1], object, seen[1], R * r[0], R * t[0] + T);
    double in_left = mean_square(rig.camera[0], object, seen[0], R.t() * r[1], R.t() * (t[1] - T));
    view.rms_stereo = std::sqrt(std::min((square[0] + in_right) / 2, (in_left + square[1]) / 2));
}

double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

/* Marks the worst views as outliers. Whether there were any. */
bool leave_out(board_view *views, int count, double min) {
    double limit[3];
    for (int k = 0; k < 3; k++) {
        std::vector<double> errors;
        for (int i = 0; i < count; i++)
            if (views[i].used)
                errors.push_back(k < 2 ? views[i].rms[k] : views[i].rms_stereo);
        limit[k] = std::max(min, 3 * median(errors));
    }
    const auto over = [&](const board_view &view) {
        return std::max(
            {view.rms[0] / limit[0], view.rms[1] / limit[1], view.rms_stereo / limit[2]});
    };
    double max = 0;
    for (int i = 0; i < count; i++)
        if (views[i].used)
            max = std::max(max, over(views[i]));
    /* all that are nearly as bad go at once, so that many bad views do not cost many solutions */
    for (int i = 0; i < count; i++)
        if (views[i].used && over(views[i]) > 1 && over(views[i]) > max / 2)
            views[i].used = 0;
    return max > 1;
}

std::vector<const board_view *> used_views(const board_view *views, int count, int but = -1) {
    std::vector<const board_view *> used;
    for (int i = 0; i < count; i++)
        if (views[i].used && i != but)
            used.push_back(&views[i]);
    return used;
}

/* Spread of the pose between the cameras over single views: R, T from each view alone but
 * weighted as in the whole, cameras as they are. */
void spread_pose(const board &b, board_view *views, int count, board_result *result) {
    const struct rig &rig = result->rig;
    points3 object = board_points(b);
    cv::Mat R(3, 3, CV_64F, const_cast<double *>(rig.R));
    double sum_b = 0, sum_a = 0, whole = rig_baseline(&rig);
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (!views[i].used)
            continue;
        cv::Mat r[2], t[2], turn;
        for (int v = 0; v < 2; v++)
            board_pose(object, rays(rig.camera[v], view_points(b, views[i], v)), r[v], t[v]);
        cv::Mat own = r[1] * r[0].t();
        cv::Rodrigues(own * R.t(), turn);
        sum_b += std::pow(cv::norm(t[1] - own * t[0]) - whole, 2);
        sum_a += std::pow(cv::norm(turn), 2);
        n++;
    }
    /* n independent estimates of one quantity: their mean is sqrt(n) times surer than each */
    result->spread_baseline = n > 1 ? std::sqrt(sum_b / (n - 1) / n) : std::nan("");
    result->spread_angle = n > 1 ? std::sqrt(sum_a / (n - 1) / n) : std::nan("");
}

/* Where a lens model folds: a pixel without a ray. A model with more freedom than the views pin
 * down can fit all corners and yet fold or have a pole between them or beyond. */
struct fold {
    int side; /* -1: nowhere */
    double x, y;
    bool among_views; /* in the area that the corners of the views cover */
};

fold find_fold(const board &b, const struct rig &rig,
               const std::vector<const board_view *> &views) {
    fold found = {-1, 0, 0, false};
    for (int v = 0; v < 2; v++) {
        const struct camera &c = rig.camera[v];
        points2 corners, hull;
        for (const board_view *view : views) {
            const points2 seen = view_points(b, *view, v);
            corners.insert(corners.end(), seen.begin(), seen.end());
        }
        cv::convexHull(corners, hull);
        for (int j = 0; j <= 48; j++)
            for (int i = 0; i <= 64; i++) {
                double pixel[2] = {i * (c.width - 1) / 64.0, j * (c.height - 1) / 48.0}, xy[2];
                if (!camera_unproject(&c, pixel, xy))
                    continue;
                cv::Point2f at(static_cast<float>(pixel[0]), static_cast<float>(pixel[1]));
                bool among = cv::pointPolygonTest(hull, at, false) >= 0;
                if (found.side < 0 || (among && !found.among_views))
                    found = {v, pixel[0], pixel[1], among};
            }
    }
    return found;
}

/* Models of fewer terms whose error is at most this much larger are as good. */
const double worse_factor = 1.25, worse_px = 0.05;

/* Mends a lens model that folds: by fewer terms, or, where it folds outside of what the views
 * cover, by a warning. 0, or -EINVAL after a log line. */
int mend_fold(const board &b, cv::Size size, enum distortion model, board_view *views, int count,
              solution &s, struct rig &rig) {
    std::vector<const board_view *> used = used_views(views, count);
    const fold at = find_fold(b, rig, used);
    if (at.side < 0)
        return 0;
    const char *side = at.side ? "right" : "left";
    std::vector<lens_terms> terms = terms_of(model);
    for (size_t i = 1; i < terms.size(); i++) {
        solution fewer = solve(b, size, terms[i], used);
        struct rig other;
        fill_rig(fewer, b, size, terms[i].model, &other);
        if (fewer.rms_stereo > std::max(worse_factor * s.rms_stereo, s.rms_stereo + worse_px) ||
            find_fold(b, other, used).side >= 0)
            continue;
        log_warning(
            "calibrate",
            "the %s camera's %s lens model would fold near %.0f, %.0f, where the views do "
            "not determine it: %s is taken, whose error is %.3f px instead of %.3f; views in "
            "the corners of the pictures allow more",
            side, distortion_names[model], at.x, at.y, terms[i].without, fewer.rms_stereo,
            s.rms_stereo);
        s = fewer;
        rig = other;
        for (int k = 0; k < count; k++)
            measure(b, rig, views[k]);
        return 0;
    }
    if (at.among_views)
        return log_fail(
            -EINVAL, "calibrate",
            "the %s camera's %s lens model folds near %.0f, %.0f, among the corners of the "
            "views: take --model %s, or more views, with the board in the corners of the "
            "pictures",
            side, distortion_names[model], at.x, at.y,
            model == DISTORTION_FISHEYE ? "radtan" : "fisheye");
    log_warning("calibrate",
                "the %s camera's %s lens model folds near %.0f, %.0f, outside of what the views "
                "cover: it holds where they are; views in the corners of the pictures, or --model "
                "%s, make it hold there too",
                side, distortion_names[model], at.x, at.y,
                model == DISTORTION_FISHEYE ? "radtan" : "fisheye");
    return 0;
}

int solve_all(const board &b, cv::Size size, enum distortion model, double min_outlier,
              board_view *views, int count, board_result *result) {
    solution s;
    for (int i = 0; i < count; i++)
        views[i].used = 1;
    for (;;) {
        std::vector<const board_view *> used = used_views(views, count);
        if (used.size() < MIN_BOARD_VIEWS)
            return log_fail(-EINVAL, "calibrate",
                            "%d views are left of %d, too few to go on (least is %d); take more "
                            "pictures of a flat board, still, in different places and angles",
                            static_cast<int>(used.size()), count, MIN_BOARD_VIEWS);
        s = solve(b, size, terms_of(model)[0], used);
        fill_rig(s, b, size, model, &result->rig);
        for (int i = 0; i < count; i++)
            measure(b, result->rig, views[i]);
        result->used = static_cast<int>(used.size());
        if (!leave_out(views, count, min_outlier))
            break;
    }
    int error = mend_fold(b, size, model, views, count, s, result->rig);
    if (error)
        return error;
    for (int v = 0; v < 2; v++) {
        result->rms[v] = s.rms[v];
        for (int k = 0; k < SPREAD_COUNT; k++)
            result->spread[v][k] =
                s.spread[v].empty() ? std::nan("") : s.spread[v].reshape(1, 1).at<double>(0, k);
    }
    spread_pose(b, views, count, result);
    char why[256];
    if (rig_check(&result->rig, why, sizeof why))
        return log_fail(-EINVAL, "calibrate", "the result is not a usable rig: %s", why);
    if (result->used < BOARD_VIEWS_FEW)
        log_warning("calibrate",
                    "%d views are few: the rig may be off by more than its errors say; 10 or more, "
                    "in different places and angles, are reliable",
                    result->used);
    return 0;
}

} // namespace

bool chessboard_available(void) {
    return true;
}

int chessboard_find(const uint8_t *grey, int width, int height, const struct board *board,
                    int thorough, float *xy) {
    try {
        cv::Mat picture(height, width, CV_8U, const_cast<uint8_t *>(grey));
        points2 corners;
        if (!find(picture, *board, thorough != 0, corners))
            return 0;
        std::copy(corners.begin(), corners.end(), reinterpret_cast<cv::Point2f *>(xy));
        return 1;
    } catch (const std::exception &e) {
        if (no_memory(e))
            return log_fail(-ENOMEM, "calibrate", "no memory to look for the board");
        return log_fail(-EINVAL, "calibrate", "looking for the board failed: %s", e.what());
    }
}

int chessboard_solve(const struct board *board, int width, int height, enum distortion model,
                     double min_outlier, struct board_view *views, int count,
                     struct board_result *result) {
    *result = {};
    rig_clear(&result->rig);
    try {
        return solve_all(*board, cv::Size(width, height), model, min_outlier, views, count, result);
    } catch (const std::exception &e) {
        if (no_memory(e))
            return log_fail(-ENOMEM, "calibrate", "no memory to solve %d views", count);
        return log_fail(-EINVAL, "calibrate",
                        "the views do not determine the cameras (%s); tilt the board by 30 degrees "
                        "or so in some views and cover the corners of the pictures",
                        e.what());
    }
}
