/*
 * Ceres Solver behind refine_fit.h. Its exceptions end at fit_pose(). No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/refine_fit.h"

extern "C" {
#include "base/log.h"
#include "base/quantile.h"
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <memory>
#include <new>
#include <set>
#include <vector>

#include <ceres/ceres.h>
#include <ceres/normal_prior.h>
#include <ceres/rotation.h>
#include <glog/logging.h>

namespace {

constexpr int max_rounds = 50;
constexpr int steps = 2;           /* of a round, after which the scales are found anew */
constexpr double min_scale = 0.05; /* px, of residuals: matching is no better */
constexpr double lens_sd = 5;      /* px of the rows at x y = 1 that lenses may be wrong */
constexpr double motion_sd = 10;   /* rad and baselines: keeps what nothing determines finite */
constexpr double settled = 1e-6;   /* rad in a round: less than any standard deviation */

/* Turn and shift, in baselines, of a couple: a point X is R X + shift later. */
using motion = std::array<double, POSE>;
using matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

struct in_right {
    double focal;
    const ray_point &p;
    Eigen::Matrix3d axis; /* seen from the old right camera */
    Eigen::Vector3d ray;

    template <typename T> bool operator()(const T *pose, const T *depth, T *residual) const {
        const T by = *depth / sqrt(1.0 + pose[3] * pose[3] + pose[4] * pose[4]);
        T seen[3], turned[3];
        for (int i = 0; i < 3; i++)
            seen[i] = ray[i] - by * (axis(i, 0) + pose[3] * axis(i, 1) + pose[4] * axis(i, 2));
        ceres::AngleAxisRotatePoint(pose, seen, turned);
        const double rows = p.ray[0][0] * p.ray[0][1];
        residual[0] = focal * (turned[0] / turned[2] - p.ray[1][0]);
        residual[1] = focal * (turned[1] / turned[2] + pose[5] * rows - p.ray[1][1]);
        return true;
    }
};

struct in_later {
    double focal;
    const ray_point &p;

    template <typename T> bool operator()(const T *moved, const T *depth, T *residual) const {
        const T ray[3] = {T(p.ray[0][0]), T(p.ray[0][1]), T(1)};
        T seen[3];
        ceres::AngleAxisRotatePoint(moved, ray, seen);
        for (int i = 0; i < 3; i++)
            seen[i] += *depth * moved[3 + i];
        for (int i = 0; i < 2; i++)
            residual[i] = focal * (seen[i] / seen[2] - p.ray[2][i]);
        return true;
    }
};

/* The loss of Geman and McClure of residuals in units of their scale. */
struct geman_mcclure final : ceres::LossFunction {
    const double &scale;
    explicit geman_mcclure(const double &of) : scale(of) {
    }
    void Evaluate(double square, double rho[3]) const override {
        const double unit = scale * scale, by = 1 / (1 + square / (9 * unit));
        rho[0] = square / unit * by;
        rho[1] = by * by / unit;
        rho[2] = -2 * by * by * by / (9 * unit * unit);
    }
};

struct adjustment {
    fit &f;
    Eigen::Map<matrix> R;
    Eigen::Map<Eigen::Vector3d> T;
    Eigen::Matrix3d axis; /* as the old right camera sees it */
    std::vector<motion> motions;
    ceres::Problem problem;
    ceres::Problem::EvaluateOptions all; /* residuals but the priors' */
    std::vector<int> cells, pictures;    /* of them: pictures 0, right, and 1, later */
    std::vector<double *> moved;         /* pose and motions */

    explicit adjustment(fit &of);
    void add(ceres::CostFunction *cost, int picture, double *block, ray_point *p);
    void hold(double *block, double sd, double last_sd);
    void weigh();
    int solve();
    int deviations();
};

/* Unit vectors along the baseline and at right angles to it, down and forward. */
Eigen::Matrix3d tangents(const Eigen::Vector3d &baseline) {
    Eigen::Matrix3d axis;
    axis.col(0) = baseline.normalized();
    axis.col(1) = Eigen::Vector3d(-baseline[1], baseline[0], 0).normalized();
    axis.col(2) = axis.col(0).cross(axis.col(1));
    return axis;
}

adjustment::adjustment(fit &of)
    : f(of), R(f.R), T(f.T), axis(R * tangents(-R.transpose() * T)),
      motions(static_cast<size_t>(f.couples), motion{}) {
    hold(f.pose, MAX_REFINE_TURN * M_PI / 180, lens_sd / f.focal);
    for (ray_point *p = f.point; p < f.point + f.count; p++) {
        const Eigen::Vector3d ray = R * Eigen::Vector3d(p->ray[0][0], p->ray[0][1], 1);
        auto *right = new in_right{f.focal, *p, axis, ray};
        add(new ceres::AutoDiffCostFunction<in_right, 2, POSE, 1>(right), 0, f.pose, p);
        problem.SetParameterLowerBound(&p->depth, 0, -0.1);
        problem.SetParameterUpperBound(&p->depth, 0, 10);
        if (!p->later)
            continue;
        double *of_couple = motions[static_cast<size_t>(p->couple)].data();
        if (!problem.HasParameterBlock(of_couple))
            hold(of_couple, motion_sd, motion_sd);
        auto *later = new in_later{f.focal, *p};
        add(new ceres::AutoDiffCostFunction<in_later, 2, POSE, 1>(later), 1, of_couple, p);
    }
    all.parameter_blocks = moved;
}

void adjustment::add(ceres::CostFunction *cost, int picture, double *block, ray_point *p) {
    all.residual_blocks.push_back(
        problem.AddResidualBlock(cost, new geman_mcclure(f.scale[picture]), block, &p->depth));
    cells.push_back(p->cell);
    pictures.push_back(picture);
}

/* A prior of mean 0, with the standard deviation of the last number and of the others. */
void adjustment::hold(double *block, double sd, double last_sd) {
    ceres::Matrix by = ceres::Matrix::Identity(POSE, POSE) / sd;
    by(POSE - 1, POSE - 1) = 1 / last_sd;
    problem.AddResidualBlock(new ceres::NormalPrior(by, ceres::Vector::Zero(POSE)), nullptr, block);
    moved.push_back(block);
}

/* Residuals' usual size without mismatches. */
void adjustment::weigh() {
    std::vector<double> residuals;
    all.apply_loss_function = false;
    problem.Evaluate(all, nullptr, &residuals, nullptr, nullptr);
    for (int k = 0; k < 2; k++) {
        int n = 0;
        for (size_t i = 0; 2 * i < residuals.size(); i++)
            if (pictures[i] == k)
                f.values[n++] = std::hypot(residuals[2 * i], residuals[2 * i + 1]);
        f.scale[k] = std::max(n ? quantile_of(f.values, n, 0.5) : 0, min_scale);
    }
}

int adjustment::solve() {
    ceres::Solver::Options options;
    options.linear_solver_type = ceres::DENSE_SCHUR;
    options.linear_solver_ordering = std::make_shared<ceres::ParameterBlockOrdering>();
    for (int i = 0; i < f.count; i++)
        options.linear_solver_ordering->AddElementToGroup(&f.point[i].depth, 0);
    for (double *block : moved)
        options.linear_solver_ordering->AddElementToGroup(block, 1);
    options.max_num_iterations = steps;
    options.function_tolerance = 1e-12;
    options.logging_type = ceres::SILENT;
    options.initial_trust_region_radius = 1e7; /* damping slows what is hardly determined */
    double length = 1;
    for (int round = 0; round < max_rounds && length > settled; round++) {
        ceres::Solver::Summary summary;
        const std::vector<double> before(f.pose, f.pose + POSE);
        weigh();
        Solve(options, &problem, &summary);
        if (!summary.IsSolutionUsable())
            return -EDOM;
        length = 0;
        for (int k = 0; k < POSE; k++)
            length = std::max(length, std::abs(f.pose[k] - before[static_cast<size_t>(k)]));
    }
    weigh();
    const Eigen::Vector3d turn(f.pose), at(1, f.pose[3], f.pose[4]);
    const matrix by(Eigen::AngleAxisd(turn.norm(), turn.normalized()));
    R = by * R;
    T = -T.norm() * (by * axis * at).normalized();
    return 0;
}

int adjustment::deviations() {
    const auto size = static_cast<Eigen::Index>(POSE * moved.size());
    ceres::Matrix sum = ceres::Matrix::Zero(CELLS, size), covariance(POSE, size);
    std::vector<double> residuals;
    ceres::CRSMatrix slope;
    all.apply_loss_function = true;
    if (!problem.Evaluate(all, nullptr, &residuals, nullptr, &slope))
        return -EDOM;
    for (size_t row = 0; row < residuals.size(); row++)
        for (auto i = static_cast<size_t>(slope.rows[row]);
             i < static_cast<size_t>(slope.rows[row + 1]); i++)
            sum(cells[row / 2], slope.cols[i]) += slope.values[i] * residuals[row];
    std::vector<std::pair<const double *, const double *>> pairs;
    for (double *block : moved)
        pairs.emplace_back(f.pose, block);
    ceres::Covariance inverse{ceres::Covariance::Options()};
    if (!inverse.Compute(pairs, &problem))
        return -EDOM;
    for (size_t i = 0; i < moved.size(); i++) {
        Eigen::Matrix<double, POSE, POSE, Eigen::RowMajor> part;
        inverse.GetCovarianceBlock(f.pose, moved[i], part.data());
        covariance.middleCols<POSE>(static_cast<Eigen::Index>(POSE * i)) = part;
    }
    f.cells = static_cast<int>(std::set<int>(cells.begin(), cells.end()).size());
    const double few = f.cells > POSE ? 1.0 * f.cells / (f.cells - POSE) : INFINITY;
    const Eigen::VectorXd square = few * (covariance * sum.transpose()).rowwise().squaredNorm();
    for (int k = 0; k < POSE; k++)
        f.sd[k] = std::sqrt(std::max(square[k], covariance(k, k)));
    return 0;
}

} // namespace

bool fit_available(void) {
    return true;
}

int fit_pose(struct fit *fit) {
    try {
        FLAGS_minloglevel = google::GLOG_FATAL; /* callers say what went wrong */
        adjustment of(*fit);
        const int error = of.solve();
        return error ? error : of.deviations();
    } catch (const std::bad_alloc &) {
        return log_fail(-ENOMEM, "calib refine", "no memory for %d points", fit->count);
    }
}
