#!/usr/bin/python3
# usage: tests/read_rgbd.py FOLDER    of `batch --save rgbd,depth`, read as others read it
# The depths in mm are those of NAME_depth.pfm, associations.txt and times.txt name all pictures in
# the order of time, and, where Open3D is installed, its points are X = (x - cx) Z / fx and so on.
# SPDX-License-Identifier: MIT
import json
import os
import sys

import numpy as np
from PIL import Image
from read_pfm import pfm

folder = sys.argv[1]
with open(f"{folder}/intrinsics.json") as file:
    about = json.load(file)
fx, _, _, _, fy, _, cx, cy, _ = about["intrinsic_matrix"]
times = [float(line) for line in open(f"{folder}/times.txt")]
pairs = [line.split() for line in open(f"{folder}/associations.txt")]
assert times == sorted(times) == [float(pair[0]) for pair in pairs] == [float(p[2]) for p in pairs]
for side, column in (("color", 1), ("depth", 3)):
    names = sorted(os.listdir(f"{folder}/{side}"))
    assert [f"{side}/{name}" for name in names] == [pair[column] for pair in pairs], names
for _, color, _, depth in pairs:
    colors = np.asarray(Image.open(f"{folder}/{color}"))
    mm = np.asarray(Image.open(f"{folder}/{depth}")).astype(float)
    metres = pfm(f"{folder}/{os.path.basename(color)[:-4]}_depth.pfm")
    assert colors.shape[:2] == mm.shape == metres.shape == (about["height"], about["width"])
    near = np.nan_to_num(metres, nan=np.inf) < 65.535
    assert near.any() and np.abs(mm - metres * 1000)[near].max() <= 0.51
    assert not mm[~near].any()
with open(f"{folder}/calibration.yaml") as file:  # as OpenCV's FileStorage and ROS write it
    words = file.read().split()
assert words[0] == "%YAML:1.0" and [float(word.strip(",")) for word in words[-10:-1]] == [
    fx, 0, cx, 0, fy, cy, 0, 0, 1]
try:
    import open3d
except ImportError:
    print("without Open3D")
    sys.exit()
camera = open3d.io.read_pinhole_camera_intrinsic(f"{folder}/intrinsics.json")
assert np.allclose(camera.intrinsic_matrix, [[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
both = open3d.geometry.RGBDImage.create_from_color_and_depth(
    open3d.io.read_image(f"{folder}/{color}"), open3d.io.read_image(f"{folder}/{depth}"),
    depth_scale=about["depth_units_per_metre"], depth_trunc=1000, convert_rgb_to_intensity=False)
points = np.asarray(open3d.geometry.PointCloud.create_from_rgbd_image(both, camera).points)
y, x = np.nonzero(mm)
z = mm[y, x] / 1000
assert np.allclose(points, np.stack([(x - cx) * z / fx, (y - cy) * z / fy, z], 1), atol=1e-4)
print(f"with Open3D, {len(points)} points")
