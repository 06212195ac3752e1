/*
 * bindings/ros/src/node.cpp against the library: the same maps, cameras of a part and of binned pixels,
 * parameters, refusals. Built by tests/package.sh with tests/ros/stub.hpp in place of ROS 2; prints
 * what fails. SPDX-License-Identifier: MIT
 */
#include "bindings/ros/src/node.cpp"

#include <cstdlib>

using namespace livestereo_ros;

#define CHECK(condition)                                                \
    do {                                                                \
        if (!(condition)) {                                             \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                               \
        }                                                               \
    } while (0)

enum { W = 160, H = 96, SHIFT = 10 };

static std::shared_ptr<Image> picture(int moved) {
    auto image = std::make_shared<Image>();
    image->width = W;
    image->height = H;
    image->step = W + 3; /* rows end with a gap */
    image->encoding = "mono8";
    image->header.frame_id = "left_optical";
    image->data.resize(image->step * H);
    for (unsigned y = 0; y < H; y++)
        for (unsigned x = 0; x < W; x++)
            image->data[y * image->step + x] = static_cast<std::uint8_t>(
                ((x + static_cast<unsigned>(moved)) * 2654435761u ^ y * 40503u * 65537u) >> 24);
    return image;
}

/* f 200 px, baseline 0.1 m. */
static std::shared_ptr<CameraInfo> camera(bool right) {
    auto info = std::make_shared<CameraInfo>();
    info->width = W;
    info->height = H;
    info->distortion_model = "plumb_bob";
    info->d = {0, 0, 0, 0, 0};
    info->k = {200, 0, 79.5, 0, 200, 47.5, 0, 0, 1};
    info->r = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    info->p = {200, 0, 79.5, right ? -20.0 : 0, 0, 200, 47.5, 0, 0, 0, 1, 0};
    info->header.frame_id = right ? "right_optical" : "left_optical";
    return info;
}

static float depth_at(Node &node, int x, int y) {
    auto &depth = *node.publisher<Image>("depth/image_rect")->last;
    CHECK(depth.encoding == "32FC1" && depth.width == W && depth.header.frame_id == "left_optical");
    float z;
    std::memcpy(&z, &depth.data[y * depth.step + x * 4u], 4);
    return z;
}

int main() {
    rclcpp::NodeOptions options;
    options.overrides["disparity_range"] = std::int64_t(32);
    Node node(options);
    CHECK(node.values.size() > 60 && node.descriptors.at("disparity_range").integer_range.size());
    CHECK(node.descriptors.at("backend").read_only && !node.descriptors.at("fill").read_only);
    CHECK(node.descriptors.at("lr_check").additional_constraints.find('|') != std::string::npos);

    node.publisher<PointCloud2>("points2")->subscribers = 1;
    auto left = picture(0), right = picture(SHIFT);
    node.compute(left, right, camera(false), camera(true));
    CHECK(node.publisher<Image>("depth/image_rect")->last);
    CHECK(std::fabs(depth_at(node, 100, 48) - 200 * 0.1f / SHIFT) < 0.01f);
    auto &disparity = *node.publisher<DisparityImage>("disparity")->last;
    float d;
    std::memcpy(&d, &disparity.image.data[48 * disparity.image.step + 400], 4);
    CHECK(std::fabs(d - SHIFT) < 0.1f && std::fabs(disparity.f - 200) < 1e-3f &&
          std::fabs(disparity.t - 0.1f) < 1e-6f);
    CHECK(disparity.valid_window.width == W && disparity.valid_window.height == H);
    CHECK(disparity.min_disparity > -1e-6f && disparity.max_disparity > 30);
    auto &cloud = *node.publisher<PointCloud2>("points2")->last;
    float xyz[3];
    std::memcpy(xyz, &cloud.data[(48 * W + 100) * cloud.point_step], 12);
    CHECK(std::fabs(xyz[2] - 2) < 0.01f && std::fabs(xyz[0] - 20.5f * 2 / 200) < 0.01f);
    CHECK(node.publisher<CameraInfo>("depth/camera_info")->last->p[0] == 200);

    /* The same picture as a part of a larger one, then binned: only the cameras know. */
    auto part_left = camera(false), part_right = camera(true);
    for (auto *info : {part_left.get(), part_right.get()}) {
        info->width = 4 * W;
        info->height = 4 * H;
        info->k[2] = info->p[2] = 79.5 + 32;
        info->k[5] = info->p[6] = 47.5 + 16;
        info->roi.x_offset = 32;
        info->roi.y_offset = 16;
        info->roi.width = W;
        info->roi.height = H;
    }
    node.compute(left, right, part_left, part_right);
    CHECK(std::fabs(depth_at(node, 100, 48) - 2) < 0.01f);
    CHECK(std::fabs(node.publisher<CameraInfo>("depth/camera_info")->last->p[2] - 79.5) < 1e-9);
    auto binned_left = camera(false), binned_right = camera(true);
    for (auto *info : {binned_left.get(), binned_right.get()}) {
        info->width = 2 * W;
        info->height = 2 * H;
        info->binning_x = info->binning_y = 2;
        for (double *p : {&info->k[0], &info->k[2], &info->k[4], &info->k[5], &info->p[0],
                          &info->p[2], &info->p[3], &info->p[5], &info->p[6]})
            *p *= 2;
    }
    node.compute(left, right, binned_left, binned_right);
    CHECK(std::fabs(depth_at(node, 100, 48) - 2) < 0.01f);

    /* Parameters. */
    auto set = [&](const char *name, rclcpp::Parameter::Value value) {
        return node.on_set->call({rclcpp::Parameter(name, std::move(value))});
    };
    CHECK(set("disparity_range", std::int64_t(24)).successful);
    CHECK(!set("disparity_range", std::int64_t(100000)).successful);
    CHECK(!set("lr_check", std::string("perhaps")).reason.empty());
    node.compute(left, right, camera(false), camera(true));
    CHECK(node.publisher<DisparityImage>("disparity")->last->max_disparity < 24);
    /* A refusal leaves everything as it was: for later changes, and where the node opens anew. */
    auto tells = set("disparity_range", std::int64_t(512));
    CHECK(!tells.successful && tells.reason.find("disparity_range") != std::string::npos);
    CHECK(!node.on_set
               ->call({rclcpp::Parameter("min_disparity", std::int64_t(3)),
                       rclcpp::Parameter("disparity_range", std::int64_t(100000))})
               .successful);
    CHECK(set("speckle_size", std::int64_t(10)).successful);
    auto opens_left = picture(0), opens_right = picture(SHIFT);
    opens_left->encoding = opens_right->encoding = "8UC1";
    node.compute(opens_left, opens_right, camera(false), camera(true));
    CHECK(std::fabs(depth_at(node, 100, 48) - 2) < 0.01f);
    CHECK(node.publisher<DisparityImage>("disparity")->last->min_disparity < 1);

    /* What cannot be right says so and publishes nothing. */
    node.publisher<Image>("depth/image_rect")->last.reset();
    node.compute(left, right, camera(false), camera(false)); /* no baseline */
    node.compute(left, left, camera(false), camera(true));   /* one camera */
    auto yuv = picture(0);
    yuv->encoding = "yuv422";
    node.compute(yuv, right, camera(false), camera(true));
    auto cut = picture(0);
    cut->data.resize(100);
    node.compute(cut, right, camera(false), camera(true));
    CHECK(!node.publisher<Image>("depth/image_rect")->last);
    std::puts("ok");
    return 0;
}
