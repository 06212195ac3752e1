/*
 * As much of ROS 2 as bindings/ros/src/node.cpp needs, for a test without ROS: types as the published .msg
 * files define them, and rclcpp in one thread. SPDX-License-Identifier: MIT
 */
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace std_msgs::msg {
struct Header {
    struct {
        std::int32_t sec = 0;
        std::uint32_t nanosec = 0;
    } stamp;
    std::string frame_id;
};
} // namespace std_msgs::msg
namespace sensor_msgs::msg {
struct Image {
    using ConstSharedPtr = std::shared_ptr<const Image>;
    std_msgs::msg::Header header;
    std::uint32_t height = 0, width = 0, step = 0;
    std::string encoding;
    std::uint8_t is_bigendian = 0;
    std::vector<std::uint8_t> data;
};
struct RegionOfInterest {
    std::uint32_t x_offset = 0, y_offset = 0, height = 0, width = 0;
    bool do_rectify = false;
    bool operator==(const RegionOfInterest &o) const {
        return x_offset == o.x_offset && y_offset == o.y_offset && height == o.height &&
               width == o.width && do_rectify == o.do_rectify;
    }
};
struct CameraInfo {
    using ConstSharedPtr = std::shared_ptr<const CameraInfo>;
    std_msgs::msg::Header header;
    std::uint32_t height = 0, width = 0, binning_x = 0, binning_y = 0;
    std::string distortion_model;
    std::vector<double> d;
    std::array<double, 9> k{}, r{};
    std::array<double, 12> p{};
    RegionOfInterest roi;
};
struct PointField {
    static constexpr std::uint8_t FLOAT32 = 7;
    std::string name;
    std::uint32_t offset = 0, count = 0;
    std::uint8_t datatype = 0;
};
struct PointCloud2 {
    std_msgs::msg::Header header;
    std::uint32_t height = 0, width = 0, point_step = 0, row_step = 0;
    std::vector<PointField> fields;
    bool is_bigendian = false, is_dense = false;
    std::vector<std::uint8_t> data;
};
} // namespace sensor_msgs::msg
namespace stereo_msgs::msg {
struct DisparityImage {
    std_msgs::msg::Header header;
    sensor_msgs::msg::Image image;
    float f = 0, t = 0, min_disparity = 0, max_disparity = 0, delta_d = 0;
    sensor_msgs::msg::RegionOfInterest valid_window;
};
} // namespace stereo_msgs::msg
namespace geometry_msgs::msg {
struct TransformStamped {
    std_msgs::msg::Header header;
    std::string child_frame_id;
    struct {
        struct {
            double x = 0, y = 0, z = 0;
        } translation;
        struct {
            double x = 0, y = 0, z = 0, w = 0;
        } rotation;
    } transform;
};
} // namespace geometry_msgs::msg
namespace rcl_interfaces::msg {
struct ParameterDescriptor {
    std::string description, additional_constraints;
    bool read_only = false;
    struct IntegerRange {
        std::int64_t from_value, to_value;
    };
    struct FloatingPointRange {
        double from_value, to_value;
    };
    std::vector<IntegerRange> integer_range;
    std::vector<FloatingPointRange> floating_point_range;
};
struct SetParametersResult {
    bool successful = false;
    std::string reason;
};
} // namespace rcl_interfaces::msg
namespace diagnostic_msgs::msg {
struct DiagnosticStatus {
    enum { OK, WARN, ERROR };
};
} // namespace diagnostic_msgs::msg

namespace rclcpp {
enum class ParameterType { PARAMETER_BOOL, PARAMETER_INTEGER, PARAMETER_DOUBLE, PARAMETER_STRING };
class Parameter {
  public:
    using Value = std::variant<bool, std::int64_t, double, std::string>;
    Parameter(std::string name, Value value) : name_(std::move(name)), value_(std::move(value)) {
    }
    const std::string &get_name() const {
        return name_;
    }
    ParameterType get_type() const {
        return static_cast<ParameterType>(value_.index());
    }
    const std::string &as_string() const {
        return std::get<std::string>(value_);
    }
    std::int64_t as_int() const {
        return std::get<std::int64_t>(value_);
    }
    bool as_bool() const {
        return std::get<bool>(value_);
    }
    std::string value_to_string() const {
        if (auto *b = std::get_if<bool>(&value_))
            return *b ? "true" : "false";
        if (auto *i = std::get_if<std::int64_t>(&value_))
            return std::to_string(*i);
        if (auto *d = std::get_if<double>(&value_))
            return std::to_string(*d);
        return as_string();
    }

  private:
    std::string name_;
    Value value_;
};
struct NodeOptions {
    std::map<std::string, Parameter::Value> overrides;
};
struct rmw_qos_profile {};
struct SensorDataQoS {
    rmw_qos_profile get_rmw_qos_profile() const {
        return {};
    }
};
struct QosOverridingOptions {
    static QosOverridingOptions with_default_policies() {
        return {};
    }
};
struct PublisherOptions {
    QosOverridingOptions qos_overriding_options;
};
struct SubscriptionOptions {
    QosOverridingOptions qos_overriding_options;
};
template <typename T> struct Publisher {
    using SharedPtr = std::shared_ptr<Publisher>;
    std::size_t subscribers = 0;
    std::unique_ptr<T> last;
    std::size_t get_subscription_count() const {
        return subscribers;
    }
    void publish(std::unique_ptr<T> message) {
        last = std::move(message);
    }
};
struct TimerBase {
    using SharedPtr = std::shared_ptr<TimerBase>;
    std::function<void()> call;
};
namespace node_interfaces {
struct OnSetParametersCallbackHandle {
    using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
    std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> call;
};
} // namespace node_interfaces
struct Logger {};
struct Clock {};
class Node {
  public:
    Node(const char *, const NodeOptions &options) : overrides_(options.overrides) {
    }
    virtual ~Node() = default;
    template <typename T>
    T declare_parameter(const std::string &name, const T &value,
                        const rcl_interfaces::msg::ParameterDescriptor &d) {
        using Kept = std::conditional_t<std::is_same_v<T, int>, std::int64_t, T>;
        auto given = overrides_.find(name);
        Kept kept = given == overrides_.end() ? Kept(value) : std::get<Kept>(given->second);
        values.insert_or_assign(name, Parameter(name, kept));
        descriptors.insert_or_assign(name, d);
        return static_cast<T>(kept);
    }
    Parameter get_parameter(const std::string &name) const {
        return values.at(name);
    }
    template <typename T, typename Qos>
    std::shared_ptr<Publisher<T>> create_publisher(const std::string &topic, const Qos &,
                                                   const PublisherOptions &) {
        auto publisher = std::make_shared<Publisher<T>>();
        publishers[topic] = publisher;
        return publisher;
    }
    template <typename T> std::shared_ptr<Publisher<T>> publisher(const std::string &topic) {
        return std::static_pointer_cast<Publisher<T>>(publishers.at(topic));
    }
    template <typename Call>
    std::shared_ptr<node_interfaces::OnSetParametersCallbackHandle>
    add_on_set_parameters_callback(Call call) {
        on_set = std::make_shared<node_interfaces::OnSetParametersCallbackHandle>();
        on_set->call = call;
        return on_set;
    }
    template <typename Call>
    TimerBase::SharedPtr create_wall_timer(std::chrono::milliseconds, Call call) {
        timer = std::make_shared<TimerBase>();
        timer->call = call;
        return timer;
    }
    Logger get_logger() const {
        return {};
    }
    std::shared_ptr<Clock> get_clock() const {
        return std::make_shared<Clock>();
    }

    std::map<std::string, Parameter> values;
    std::map<std::string, rcl_interfaces::msg::ParameterDescriptor> descriptors;
    std::map<std::string, std::shared_ptr<void>> publishers;
    std::shared_ptr<node_interfaces::OnSetParametersCallbackHandle> on_set;
    TimerBase::SharedPtr timer;

  private:
    std::map<std::string, Parameter::Value> overrides_;
};
} // namespace rclcpp
#define RCLCPP_INFO(logger, ...) \
    (static_cast<void>(logger), std::printf("# " __VA_ARGS__), std::printf("\n"))
#define RCLCPP_ERROR_THROTTLE(logger, clock, ms, ...) \
    (static_cast<void>(clock), RCLCPP_INFO(logger, __VA_ARGS__))
#define RCLCPP_COMPONENTS_REGISTER_NODE(node)

namespace image_transport {
struct SubscriberFilter {
    std::string topic;
    void subscribe(rclcpp::Node *, const std::string &name, const std::string &,
                   const rclcpp::rmw_qos_profile &, const rclcpp::SubscriptionOptions &) {
        topic = name;
    }
    void unsubscribe() {
        topic.clear();
    }
};
} // namespace image_transport
namespace message_filters {
template <typename T> struct Subscriber {
    std::string topic;
    void subscribe(rclcpp::Node *, const std::string &name, const rclcpp::rmw_qos_profile &,
                   const rclcpp::SubscriptionOptions &) {
        topic = name;
    }
    void unsubscribe() {
        topic.clear();
    }
};
namespace sync_policies {
template <typename...> struct ApproximateTime {
    explicit ApproximateTime(std::uint32_t) {
    }
};
} // namespace sync_policies
template <typename Policy> struct Synchronizer {
    template <typename... In> Synchronizer(const Policy &, In &...) {
    }
    template <typename Method, typename Node> void registerCallback(Method, Node *) {
    }
};
} // namespace message_filters
namespace tf2_ros {
struct StaticTransformBroadcaster {
    explicit StaticTransformBroadcaster(rclcpp::Node &) {
    }
    void sendTransform(const geometry_msgs::msg::TransformStamped &t) {
        last = t;
    }
    geometry_msgs::msg::TransformStamped last;
};
} // namespace tf2_ros
namespace diagnostic_updater {
struct DiagnosticStatusWrapper {
    template <typename Level, typename Text> void summary(Level, const Text &) {
    }
    template <typename T> void add(const char *, const T &) {
    }
};
struct Updater {
    explicit Updater(rclcpp::Node *) {
    }
    void setHardwareID(const std::string &) {
    }
    template <typename Node>
    void add(const char *, Node *, void (Node::*)(DiagnosticStatusWrapper &)) {
    }
};
} // namespace diagnostic_updater
