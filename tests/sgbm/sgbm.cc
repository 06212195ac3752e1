/*
 * See sgbm.h. SPDX-License-Identifier: MIT
 */
#include "tests/sgbm/sgbm.h"

#include <chrono>
#include <cstring>

#include <opencv2/calib3d.hpp>
#include <opencv2/core/utility.hpp>

void sgbm_threads(int threads) {
    cv::setNumThreads(threads);
}

const char *sgbm_version(void) {
    return CV_VERSION;
}

/* The lower of the two nearest known values of a row, as the pipeline's own filling takes it. */
static void fill_row(int16_t *row, int width) {
    for (int x = 0; x < width;) {
        int end = x;
        while (end < width && row[end] < 0)
            end++;
        int16_t before = x > 0 ? row[x - 1] : -1, after = end < width ? row[end] : -1;
        int16_t value = before < 0 || (after >= 0 && after < before) ? after : before;
        for (int i = x; i < end; i++)
            row[i] = value;
        x = end + 1;
    }
}

static cv::Mat matrix(const struct image *image) {
    return cv::Mat(image->height, image->width, image->channels == 3 ? CV_8UC3 : CV_8UC1,
                   image->data);
}

double sgbm_run(const struct image *left, const struct image *right, int labels,
                int16_t *disparity) {
    int block = 3, area = left->channels * block * block, rounded = (labels + 15) / 16 * 16;
    cv::Ptr<cv::StereoSGBM> sgbm = cv::StereoSGBM::create(0, rounded, block, 8 * area, 32 * area, 1,
                                                          63, 10, 100, 1, cv::StereoSGBM::MODE_HH);
    cv::Mat out;
    auto started = std::chrono::steady_clock::now();
    sgbm->compute(matrix(left), matrix(right), out);
    std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - started;
    for (int y = 0; y < left->height; y++) {
        int16_t *row = disparity + static_cast<size_t>(y) * static_cast<size_t>(left->width);
        std::memcpy(row, out.ptr<int16_t>(y), static_cast<size_t>(left->width) * sizeof(*row));
        fill_row(row, left->width);
    }
    return passed.count();
}
