"""ros2 launch livestereo_ros livestereo.launch.py camera:=/stereo preset:=live disparity_range:=96
SPDX-License-Identifier: MIT
"""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import ComposableNodeContainer
from launch_ros.descriptions import ComposableNode


def generate_launch_description():
    def value(name):
        return LaunchConfiguration(name)

    node = ComposableNode(
        package="livestereo_ros", plugin="livestereo_ros::Node", namespace=value("camera"),
        parameters=[{"preset": value("preset"), "disparity_range": value("disparity_range")}])
    return LaunchDescription([
        DeclareLaunchArgument("camera", default_value="/stereo",
                              description="namespace of left/image_raw, left/camera_info"),
        DeclareLaunchArgument("preset", default_value="live"),
        DeclareLaunchArgument("disparity_range", default_value="64"),
        ComposableNodeContainer(name="livestereo_container", namespace="",
                                package="rclcpp_components", executable="component_container",
                                composable_node_descriptions=[node]),
    ])
