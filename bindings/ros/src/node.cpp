/*
 * livestereo as a component of ROS 2: two cameras in, disparity, depth and points out, by the
 * installed library alone. docs/ROS.md has topics, types and parameters.
 * SPDX-License-Identifier: MIT
 */
#include <livestereo.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <diagnostic_updater/diagnostic_updater.hpp>
#include <geometry_msgs/msg/transform_stamped.hpp>
#include <image_transport/subscriber_filter.hpp>
#include <message_filters/subscriber.h>
#include <message_filters/sync_policies/approximate_time.h>
#include <message_filters/synchronizer.h>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <sensor_msgs/msg/camera_info.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/point_cloud2.hpp>
#include <stereo_msgs/msg/disparity_image.hpp>
#include <tf2_ros/static_transform_broadcaster.h>

namespace livestereo_ros {

using sensor_msgs::msg::CameraInfo;
using sensor_msgs::msg::Image;
using sensor_msgs::msg::PointCloud2;
using stereo_msgs::msg::DisparityImage;

namespace {

livestereo_format format_of(const std::string &encoding) {
    if (encoding == "mono8" || encoding == "8UC1")
        return LIVESTEREO_GRAY8;
    if (encoding == "rgb8")
        return LIVESTEREO_RGB8;
    if (encoding == "bgr8" || encoding == "8UC3")
        return LIVESTEREO_BGR8;
    if (encoding == "rgba8")
        return LIVESTEREO_RGBA8;
    throw std::runtime_error("pictures are " + encoding +
                             "; mono8, rgb8, bgr8 and rgba8 are read: "
                             "convert them with image_proc");
}

/* The camera of the pictures that are published: of a part (roi) and of binned pixels (REP 104). */
livestereo_camera camera_of(const CameraInfo &info) {
    double bx = std::max(info.binning_x, 1u), by = std::max(info.binning_y, 1u);
    livestereo_camera c = {};
    c.width = static_cast<int>((info.roi.width ? info.roi.width : info.width) / bx);
    c.height = static_cast<int>((info.roi.height ? info.roi.height : info.height) / by);
    c.fx = info.k[0] / bx;
    c.fy = info.k[4] / by;
    c.cx = (info.k[2] - info.roi.x_offset) / bx;
    c.cy = (info.k[5] - info.roi.y_offset) / by;
    bool fisheye = info.distortion_model == "equidistant" || info.distortion_model == "fisheye";
    std::size_t most = fisheye ? 4 : 8;
    if (info.d.size() > most)
        for (std::size_t i = most; i < info.d.size(); i++)
            if (info.d[i] != 0)
                throw std::runtime_error("distortion_model " + info.distortion_model +
                                         " with more than " + std::to_string(most) +
                                         " numbers is not known");
    for (std::size_t i = 0; i < std::min(most, info.d.size()); i++)
        c.k[i] = info.d[i];
    c.distortion = info.d.empty()      ? LIVESTEREO_NO_DISTORTION
                   : fisheye           ? LIVESTEREO_FISHEYE
                   : info.d.size() > 5 ? LIVESTEREO_RATIONAL
                                       : LIVESTEREO_RADTAN;
    return c;
}

livestereo_rig rig_of(const CameraInfo &left, const CameraInfo &right, bool rectified) {
    livestereo_rig rig = {};
    const CameraInfo *info[2] = {&left, &right};
    for (int side = 0; side < 2; side++) {
        const CameraInfo &c = *info[side];
        double bx = std::max(c.binning_x, 1u), by = std::max(c.binning_y, 1u);
        if (!(c.p[0] > 0))
            throw std::runtime_error("camera_info of the " + std::string(side ? "right" : "left") +
                                     " camera has no projection P: calibrate the pair");
        rig.camera[side] = camera_of(c);
        for (int i = 0; i < 9; i++)
            rig.rotation[side][i] = c.r[i];
        const double *p = c.p.data();
        const double scaled[12] = {p[0] / bx,
                                   0,
                                   (p[2] - c.roi.x_offset) / bx,
                                   p[3] / bx,
                                   0,
                                   p[5] / by,
                                   (p[6] - c.roi.y_offset) / by,
                                   p[7] / by,
                                   0,
                                   0,
                                   1,
                                   0};
        std::memcpy(rig.projection[side], scaled, sizeof scaled);
    }
    if (!(right.p[3] < 0))
        throw std::runtime_error("P[3] of the right camera is not below 0: exchange the cameras, "
                                 "or calibrate them as a pair");
    rig.metric = 1;
    rig.rectified = rectified;
    rig.has_rectification = 1;
    return rig;
}

bool same(const CameraInfo &a, const CameraInfo &b) {
    return a.width == b.width && a.height == b.height && a.k == b.k && a.r == b.r && a.p == b.p &&
           a.d == b.d && a.distortion_model == b.distortion_model && a.roi == b.roi &&
           a.binning_x == b.binning_x && a.binning_y == b.binning_y;
}

livestereo_image image_of(const Image &image) {
    livestereo_image to = {};
    to.data = const_cast<std::uint8_t *>(image.data.data());
    to.width = static_cast<int>(image.width);
    to.height = static_cast<int>(image.height);
    to.row_bytes = image.step;
    to.format = format_of(image.encoding);
    if (image.data.size() < std::size_t(image.step) * image.height)
        throw std::runtime_error("a picture is shorter than its step and height say");
    return to;
}

/* Memory of a message for a map. */
livestereo_image map_of(Image &image, const char *encoding, livestereo_format format, int width,
                        int height, std::uint32_t bytes) {
    image.width = static_cast<std::uint32_t>(width);
    image.height = static_cast<std::uint32_t>(height);
    image.encoding = encoding;
    image.step = image.width * bytes;
    image.data.resize(std::size_t(image.step) * image.height);
    livestereo_image to = {};
    to.data = image.data.data();
    to.width = width;
    to.height = height;
    to.row_bytes = image.step;
    to.format = format;
    return to;
}

} // namespace

struct CloseSettings {
    void operator()(livestereo_settings *settings) const {
        livestereo_settings_close(&settings);
    }
};
using Settings = std::unique_ptr<livestereo_settings, CloseSettings>;

class Node : public rclcpp::Node {
  public:
    explicit Node(const rclcpp::NodeOptions &options)
        : rclcpp::Node("livestereo", options), transforms_(*this), diagnostics_(this) {
        declare();
        rclcpp::PublisherOptions out;
        out.qos_overriding_options = rclcpp::QosOverridingOptions::with_default_policies();
        auto qos = rclcpp::SensorDataQoS();
        disparity_ = create_publisher<DisparityImage>("disparity", qos, out);
        depth_ = create_publisher<Image>("depth/image_rect", qos, out);
        depth_info_ = create_publisher<CameraInfo>("depth/camera_info", qos, out);
        points_ = create_publisher<PointCloud2>("points2", qos, out);
        set_callback_ = add_on_set_parameters_callback(
            [this](const std::vector<rclcpp::Parameter> &changes) { return change(changes); });
        diagnostics_.setHardwareID("livestereo " + std::string(livestereo_version()));
        diagnostics_.add("frames", this, &Node::diagnose);
        timer_ = create_wall_timer(std::chrono::milliseconds(200), [this] { subscribe_lazily(); });
    }

    ~Node() override {
        livestereo_close(&stereo_);
    }

    /* Also called by tests. */
    void compute(const Image::ConstSharedPtr &left, const Image::ConstSharedPtr &right,
                 const CameraInfo::ConstSharedPtr &left_info,
                 const CameraInfo::ConstSharedPtr &right_info) {
        try {
            open(*left, *left_info, *right_info);
            run(*left, *right, *left_info);
        } catch (const std::exception &error) {
            last_error_ = error.what();
            RCLCPP_ERROR_THROTTLE(get_logger(), *get_clock(), 5000, "%s", error.what());
        }
    }

  private:
    using Policy =
        message_filters::sync_policies::ApproximateTime<Image, Image, CameraInfo, CameraInfo>;

    std::string get(const char *name) {
        return get_parameter(name).as_string();
    }

    /* ---- parameters: the library's own, with their ranges, and a few of the node */

    void declare() {
        auto fixed = [](const char *text) {
            rcl_interfaces::msg::ParameterDescriptor d;
            d.description = text;
            d.read_only = true;
            return d;
        };
        std::string preset =
            declare_parameter<std::string>("preset", "live", fixed("settings to begin with"));
        declare_parameter<bool>("rectified", false, fixed("the pictures are rectified already"));
        declare_parameter<std::string>("image_transport", "raw", fixed("of the pictures"));
        declare_parameter<int>("queue_size", 5, fixed("messages that wait for their partners"));
        declare_parameter<std::string>("depth_encoding", "32FC1",
                                       fixed("32FC1, metres, or 16UC1, mm (REP 118)"));
        declare_parameter<int>("point_confidence", 128,
                               fixed("points of a lower confidence, 0 to 255, are left out"));
        declare_parameter<bool>("publish_tf", false,
                                fixed("static transform from the left camera to the right one"));
        settings_ = open_settings(preset);
        livestereo_parameters(
            [](void *node, const livestereo_parameter *p) {
                static_cast<Node *>(node)->declare_one(*p);
                return 0;
            },
            this);
    }

    /* With the preset's value unless the user gives another one. */
    void declare_one(const livestereo_parameter &p) {
        char text[64];
        check(livestereo_settings_get(settings_.get(), p.name, text, sizeof text), nullptr);
        rcl_interfaces::msg::ParameterDescriptor d;
        d.description = std::string(p.help) + (*p.unit ? std::string(", ") + p.unit : "");
        d.read_only = p.at_open != 0;
        if (p.type == LIVESTEREO_INT) {
            d.integer_range.resize(1);
            d.integer_range[0].from_value = static_cast<std::int64_t>(p.min);
            d.integer_range[0].to_value = static_cast<std::int64_t>(p.max);
            declare_parameter<int>(p.name, std::stoi(text), d);
        } else if (p.type == LIVESTEREO_REAL) {
            d.floating_point_range.resize(1);
            d.floating_point_range[0].from_value = p.min;
            d.floating_point_range[0].to_value = p.max;
            declare_parameter<double>(p.name, std::stod(text), d);
        } else if (p.type == LIVESTEREO_BOOL) {
            declare_parameter<bool>(p.name, text[0] == 't', d);
        } else {
            d.additional_constraints = p.choices;
            declare_parameter<std::string>(p.name, text, d);
        }
        names_.push_back(p.name);
        set(settings_, p.name, text_of(get_parameter(p.name)));
    }

    static std::string text_of(const rclcpp::Parameter &p) {
        return p.get_type() == rclcpp::ParameterType::PARAMETER_STRING ? p.as_string()
                                                                       : p.value_to_string();
    }

    static void set(const Settings &settings, const std::string &name, const std::string &text) {
        if (livestereo_settings_set(settings.get(), name.c_str(), text.c_str()) != 0)
            throw std::runtime_error(livestereo_settings_error(settings.get()));
    }

    static Settings open_settings(const std::string &preset) {
        livestereo_settings *settings;
        check(livestereo_settings_open(&settings, preset.c_str()), nullptr);
        return Settings(settings);
    }

    /* Changes are tried on settings of their own, which are in force once the library has taken
     * them: a refusal leaves everything as it was. */
    rcl_interfaces::msg::SetParametersResult change(const std::vector<rclcpp::Parameter> &changes) {
        rcl_interfaces::msg::SetParametersResult result;
        result.successful = true;
        try {
            Settings tried = open_settings("default");
            for (const auto &name : names_) {
                char text[64];
                check(livestereo_settings_get(settings_.get(), name.c_str(), text, sizeof text),
                      nullptr);
                set(tried, name, text);
            }
            for (const auto &p : changes)
                set(tried, p.get_name(), text_of(p));
            if (stereo_)
                check(livestereo_update(stereo_, tried.get()), stereo_);
            settings_ = std::move(tried);
        } catch (const std::exception &error) {
            result.successful = false;
            result.reason = error.what();
        }
        return result;
    }

    static void check(int code, livestereo *stereo) {
        if (code != 0)
            throw std::runtime_error(livestereo_error(stereo));
    }

    /* ---- subscriptions, only while somebody takes what comes out */

    void subscribe_lazily() {
        bool wanted = disparity_->get_subscription_count() || depth_->get_subscription_count() ||
                      depth_info_->get_subscription_count() || points_->get_subscription_count();
        if (wanted == (sync_ != nullptr))
            return;
        if (!wanted) {
            sync_.reset();
            for (auto &image : images_)
                image.unsubscribe();
            for (auto &info : infos_)
                info.unsubscribe();
            return;
        }
        rclcpp::SubscriptionOptions in;
        in.qos_overriding_options = rclcpp::QosOverridingOptions::with_default_policies();
        auto qos = rclcpp::SensorDataQoS().get_rmw_qos_profile();
        static const char *const sides[2] = {"left", "right"};
        for (int side = 0; side < 2; side++) {
            std::string ns = sides[side];
            images_[side].subscribe(this, ns + "/image_raw", get("image_transport"), qos, in);
            infos_[side].subscribe(this, ns + "/camera_info", qos, in);
        }
        auto queue = static_cast<std::uint32_t>(get_parameter("queue_size").as_int());
        sync_ = std::make_shared<message_filters::Synchronizer<Policy>>(
            Policy(queue), images_[0], images_[1], infos_[0], infos_[1]);
        sync_->registerCallback(&Node::compute, this);
    }

    /* ---- frames */

    void open(const Image &left, const CameraInfo &left_info, const CameraInfo &right_info) {
        if (stereo_ && same(left_info, infos_used_[0]) && same(right_info, infos_used_[1]) &&
            left.encoding == encoding_)
            return;
        livestereo_close(&stereo_);
        livestereo_rig rig = rig_of(left_info, right_info, get_parameter("rectified").as_bool());
        livestereo_options options = livestereo_options_init(
            static_cast<int>(left.width), static_cast<int>(left.height), format_of(left.encoding));
        options.rig = &rig;
        options.sequence = 1;
        check(livestereo_open(&stereo_, settings_.get(), &options), nullptr);
        infos_used_[0] = left_info;
        infos_used_[1] = right_info;
        encoding_ = left.encoding;
        info_ = livestereo_info_init();
        check(livestereo_get_info(stereo_, &info_), stereo_);
        RCLCPP_INFO(get_logger(), "%dx%d, %d disparities, %s", info_.width, info_.height,
                    info_.labels, info_.backend);
        if (get_parameter("publish_tf").as_bool())
            send_transform(left_info, right_info);
    }

    void send_transform(const CameraInfo &left, const CameraInfo &right) {
        geometry_msgs::msg::TransformStamped t;
        t.header = left.header;
        t.child_frame_id = right.header.frame_id;
        t.transform.translation.x = info_.geometry.baseline;
        t.transform.rotation.w = 1;
        transforms_.sendTransform(t);
    }

    void run(const Image &left, const Image &right, const CameraInfo &left_info) {
        const livestereo_geometry &g = info_.geometry;
        const int w = info_.width, h = info_.height;
        bool mm = get("depth_encoding") == "16UC1";
        bool wants_points = points_->get_subscription_count() > 0;
        auto disparity = std::make_unique<DisparityImage>();
        auto depth = std::make_unique<Image>();
        livestereo_frame frame = livestereo_frame_init();
        frame.left = image_of(left);
        frame.right = image_of(right);
        if (left.data == right.data)
            throw std::runtime_error("both pictures are the same: one camera is in both topics");
        frame.number = number_++;
        frame.disparity = map_of(disparity->image, "32FC1", LIVESTEREO_PX32F, w, h, 4);
        frame.depth = mm ? map_of(*depth, "16UC1", LIVESTEREO_MM16, w, h, 2)
                         : map_of(*depth, "32FC1", LIVESTEREO_M32F, w, h, 4);
        if (wants_points) {
            xyz_.resize(std::size_t(w) * h * 3);
            rgb_.resize(std::size_t(w) * h * 3);
            frame.points.data = xyz_.data();
            frame.points.row_bytes = w * 12;
            frame.points.format = LIVESTEREO_XYZ32F;
            frame.points.width = w;
            frame.points.height = h;
            bool grey = frame.left.format == LIVESTEREO_GRAY8;
            frame.rectified[0].data = rgb_.data();
            frame.rectified[0].row_bytes = w * (grey ? 1 : 3);
            frame.rectified[0].format = grey ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8;
            frame.rectified[0].width = w;
            frame.rectified[0].height = h;
            frame.min_confidence = static_cast<int>(get_parameter("point_confidence").as_int());
        }
        check(livestereo_start(stereo_, &frame), stereo_);
        livestereo_result result = livestereo_result_init();
        check(livestereo_wait(stereo_, &result), stereo_);
        ms_ = result.ms;
        frames_++;
        last_error_.clear();

        if (wants_points)
            publish_points(left.header, w, h, frame.rectified[0].format == LIVESTEREO_GRAY8);
        /* DisparityImage: Z = f T / d, so d has the offset of the principal points. */
        auto *d = reinterpret_cast<float *>(disparity->image.data.data());
        float least = static_cast<float>(info_.min_disparity + g.doffs);
        for (std::size_t i = 0; i < std::size_t(w) * h; i++)
            d[i] = std::isnan(d[i]) ? least - 1 : d[i] + static_cast<float>(g.doffs);
        disparity->header = disparity->image.header = left.header;
        disparity->f = static_cast<float>(g.fx);
        disparity->t = static_cast<float>(g.baseline);
        disparity->valid_window.x_offset = static_cast<std::uint32_t>(info_.valid_x);
        disparity->valid_window.y_offset = static_cast<std::uint32_t>(info_.valid_y);
        disparity->valid_window.width = static_cast<std::uint32_t>(info_.valid_width);
        disparity->valid_window.height = static_cast<std::uint32_t>(info_.valid_height);
        disparity->min_disparity = least;
        disparity->max_disparity = least + static_cast<float>(info_.labels - 1);
        disparity->delta_d = 1.0f / 16;
        disparity_->publish(std::move(disparity));
        depth->header = left.header;
        depth_->publish(std::move(depth));
        publish_info(left_info, w, h);
    }

    /* The camera of depth and points: rectified, of the maps' size. */
    void publish_info(const CameraInfo &left, int w, int h) {
        const livestereo_geometry &g = info_.geometry;
        auto info = std::make_unique<CameraInfo>();
        info->header = left.header;
        info->width = static_cast<std::uint32_t>(w);
        info->height = static_cast<std::uint32_t>(h);
        info->distortion_model = "plumb_bob";
        info->k = {g.fx, 0, g.cx, 0, g.fy, g.cy, 0, 0, 1};
        info->r = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        info->p = {g.fx, 0, g.cx, 0, 0, g.fy, g.cy, 0, 0, 0, 1, 0};
        depth_info_->publish(std::move(info));
    }

    void publish_points(const std_msgs::msg::Header &header, int w, int h, bool grey) {
        auto cloud = std::make_unique<PointCloud2>();
        static const char *const names[] = {"x", "y", "z", "rgb"};
        cloud->header = header;
        cloud->height = static_cast<std::uint32_t>(h);
        cloud->width = static_cast<std::uint32_t>(w);
        cloud->fields.resize(4);
        for (std::uint32_t i = 0; i < 4; i++) {
            cloud->fields[i].name = names[i];
            cloud->fields[i].offset = 4 * i;
            cloud->fields[i].datatype = sensor_msgs::msg::PointField::FLOAT32;
            cloud->fields[i].count = 1;
        }
        cloud->point_step = 16;
        cloud->row_step = 16 * cloud->width;
        cloud->is_dense = false;
        cloud->data.resize(std::size_t(w) * h * 16);
        for (std::size_t i = 0; i < std::size_t(w) * h; i++) {
            const std::uint8_t *c = &rgb_[i * (grey ? 1 : 3)];
            int step = grey ? 0 : 1;
            auto rgb = std::uint32_t(c[0]) << 16 | std::uint32_t(c[step]) << 8 | c[2 * step];
            std::memcpy(&cloud->data[16 * i], &xyz_[3 * i], 12);
            std::memcpy(&cloud->data[16 * i + 12], &rgb, 4);
        }
        points_->publish(std::move(cloud));
    }

    void diagnose(diagnostic_updater::DiagnosticStatusWrapper &status) {
        using diagnostic_msgs::msg::DiagnosticStatus;
        if (!last_error_.empty())
            status.summary(DiagnosticStatus::ERROR, last_error_);
        else if (!stereo_)
            status.summary(DiagnosticStatus::OK, "nobody has subscribed, or no pair has come");
        else
            status.summary(DiagnosticStatus::OK, info_.backend);
        status.add("frames", frames_);
        status.add("ms a frame", ms_);
    }

    Settings settings_;
    std::vector<std::string> names_; /* of the library's parameters */
    livestereo *stereo_ = nullptr;
    livestereo_info info_ = livestereo_info_init();
    CameraInfo infos_used_[2];
    std::string encoding_, last_error_;
    std::vector<float> xyz_;
    std::vector<std::uint8_t> rgb_;
    std::int64_t number_ = 0, frames_ = 0;
    double ms_ = 0;
    rclcpp::Publisher<DisparityImage>::SharedPtr disparity_;
    rclcpp::Publisher<Image>::SharedPtr depth_;
    rclcpp::Publisher<CameraInfo>::SharedPtr depth_info_;
    rclcpp::Publisher<PointCloud2>::SharedPtr points_;
    image_transport::SubscriberFilter images_[2];
    message_filters::Subscriber<CameraInfo> infos_[2];
    std::shared_ptr<message_filters::Synchronizer<Policy>> sync_;
    tf2_ros::StaticTransformBroadcaster transforms_;
    diagnostic_updater::Updater diagnostics_;
    rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr set_callback_;
    rclcpp::TimerBase::SharedPtr timer_;
};

} // namespace livestereo_ros

RCLCPP_COMPONENTS_REGISTER_NODE(livestereo_ros::Node)
