#!/usr/bin/python3
# usage: tests/write_mcap.py FOLDER KEY=VALUE...
# Writes pairs as FOLDER/left/N.png, FOLDER/right/N.png, FOLDER/left.yaml and right.yaml, and the
# same as FOLDER/ros.mcap or ros.bag, by the specifications of MCAP, CDR and bags alone or, with
# writer=package, by the packages mcap and mcap-ros2-support or rosbags of PyPI. Keys: file (mcap,
# bag), writer (own), count (4), compression (none, lz4, zstd, bz2), chunk (bytes of a chunk, 0: no
# chunks), index, summary (1), encoding (mono8, mono16, rgb8, bgr8, bgra8, png, bayer_rggb8, ..),
# ros (2; 1: as ROS 1 writes messages), drop (numbers of right pictures that are left out), late
# (ms that right messages are recorded later), info (1: with CameraInfo; long: of 15 coefficients;
# zero: of a camera that was not calibrated; cut), messages (zstd: each compressed by itself), low
# (N: mono16 in 16 - N low bits; low_right: the same of the right ones), split (N: N pairs a file
# in FOLDER/bag), both (1: a topic with both pictures), other (a topic's ending: such topics with
# something else), pause (s, in the middle), speed (log times that many times nearer), late_right
# (ms that right pictures are taken later), bomb (N chunks, each of 250,000 messages without
# contents), damaged (N messages that are no pictures, behind the first topic's; first=1: before
# them), type (of compressed pictures), roi (X,Y: the pictures are this part of a sensor of twice
# their size), size, topics.
# SPDX-License-Identifier: MIT
import bz2
import ctypes
import io
import os
import struct
import sys
import zlib

import numpy as np
from PIL import Image

keys = dict(file="mcap", writer="own", count="4", compression="none", chunk="20000", index="1",
            summary="1", encoding="mono8", messages="", low="0", low_right="", split="", both="",
            other="", pause="0", speed="1", late_right="1", bomb="", damaged="0", first="0",
            ros="2", drop="", late="0", info="1",
            size="64x48", topics="/stereo/left/image_raw,/stereo/right/image_raw")
keys.update(word.split("=", 1) for word in sys.argv[2:])
folder = sys.argv[1]
W, H = map(int, keys["size"].split("x"))
START, STEP = 1_700_000_000_000_000_000, 50_000_000
TYPES = {"Image": "sensor_msgs/msg/Image", "CompressedImage": "sensor_msgs/msg/CompressedImage",
         "CameraInfo": "sensor_msgs/msg/CameraInfo"}
K = [60.0, 0, 31.5, 0, 60.0, 23.5, 0, 0, 1]
D = [-0.05, 0.01, 0.0005, -0.0003, 0.0]
R = [1.0, 0, 0, 0, 1, 0, 0, 0, 1]


def P(side):
    return [60.0, 0, 31.5, [0, -6.0][side], 0, 60, 23.5, 0, 0, 0, 1, 0]


class Packer:  # of a message
    def __init__(self):
        self.ros1 = keys["ros"] == "1" or keys["file"] == "bag"
        self.out = bytearray()

    def number(self, kind, *values):
        size = struct.calcsize(kind)
        for value in values:
            self.out += bytes(0 if self.ros1 else -len(self.out) % size)
            self.out += struct.pack("<" + kind, value)

    def string(self, text):
        text = text.encode() + (b"" if self.ros1 else b"\0")
        self.number("I", len(text))
        self.out += text

    def message(self):
        whole = bytes(self.out) if self.ros1 else b"\0\1\0\0" + bytes(self.out)
        return compress(whole, keys["messages"]) if keys["messages"] else whole


def pack(kind, m):
    p = Packer()
    if p.ros1:
        p.number("I", 7)
    p.number("i", m["header"]["stamp"]["sec"])
    p.number("I", m["header"]["stamp"]["nanosec"])
    p.string(m["header"]["frame_id"])
    if kind == "Image":
        p.number("I", m["height"], m["width"])
        p.string(m["encoding"])
        p.number("B", m["is_bigendian"])
        p.number("I", m["step"], len(m["data"]))
        p.out += m["data"]
    elif kind == "CompressedImage":
        p.string(m["format"])
        p.number("I", len(m["data"]))
        p.out += m["data"]
    else:
        p.number("I", m["height"], m["width"])
        p.string(m["distortion_model"])
        p.number("I", len(m["d"]))
        p.number("d", *m["d"], *m["k"], *m["r"], *m["p"])
        if keys["info"] == "cut":
            del p.out[-8:]
            return p.message()
        p.number("I", 0, 0, *m["roi"])
        p.number("B", 1)
    return p.message()


def compress(data, kind=None):
    kind = kind or keys["compression"]
    if kind == "bz2":
        return bz2.compress(data)
    if kind == "zstd":
        lib = ctypes.CDLL("libzstd.so.1")
        bound, run, level = lib.ZSTD_compressBound, lib.ZSTD_compress, 3
    elif kind == "lz4":
        lib = ctypes.CDLL("liblz4.so.1")
        bound, run, level = lib.LZ4F_compressFrameBound, lib.LZ4F_compressFrame, None
    else:
        return data
    bound.restype = run.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(bound(ctypes.c_size_t(len(data)), None))
    size = run(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), level)
    return room.raw[:size]


def text(value):
    return struct.pack("<I", len(value)) + value.encode()


def record(kind, data):
    return struct.pack("<BQ", kind, len(data)) + data


class Mcap:
    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(b"\x89MCAP0\r\n" + record(1, text("ros2") + text("test")))
        self.known, self.chunk, self.index, self.summary = {}, b"", {}, b""

    def message(self, topic, kind, message, log_ns):
        define = b""
        if topic not in self.known:
            self.known[topic] = len(self.known) + 1
            n = self.known[topic]
            name = TYPES[kind] if keys["ros"] == "2" else TYPES[kind].replace("/msg", "")
            encoding = "cdr" if keys["ros"] == "2" else "ros1"
            define = record(3, struct.pack("<H", n) + text(name) + text("ros2msg") + text("")) + \
                record(4, struct.pack("<HH", n, n) + text(topic) + text(encoding) + text(""))
            self.summary += define
        n = self.known[topic]
        self.chunk += define
        self.index.setdefault(n, []).append((log_ns, len(self.chunk)))
        self.chunk += record(5, struct.pack("<HIQQ", n, 0, log_ns, log_ns) + pack(kind, message))
        if len(self.chunk) > int(keys["chunk"]):
            self.flush()

    def flush(self):
        if self.chunk and keys["chunk"] == "0":
            self.file.write(self.chunk)
        elif self.chunk:
            packed = compress(self.chunk)
            name = "" if keys["compression"] == "none" else keys["compression"]
            head = struct.pack("<QQQI", 0, 0, len(self.chunk), zlib.crc32(self.chunk))
            self.file.write(record(6, head + text(name) +
                                   struct.pack("<Q", len(packed)) + packed))
            for n, entries in self.index.items() if keys["index"] == "1" else ():
                self.file.write(record(7, struct.pack("<HI", n, 16 * len(entries)) + b"".join(
                    struct.pack("<QQ", *entry) for entry in entries)))
        self.chunk, self.index = b"", {}

    def raw(self, log_ns):
        self.index.setdefault(1, []).append((log_ns, len(self.chunk)))
        self.chunk += record(5, struct.pack("<HIQQ", 1, 0, log_ns, log_ns) + bytes(40))

    def bomb(self, chunks):
        self.flush()
        self.chunk = record(5, struct.pack("<HIQQ", 1, 0, 0, 0)) * 250_000
        before = self.file.tell()
        self.flush()
        self.file.flush()
        after = self.file.tell()
        with open(self.file.name, "rb") as written:
            for _ in range(chunks - 1):
                written.seek(before)
                self.file.write(written.read(after - before))

    def finish(self):
        self.flush()
        if keys["summary"] == "1":
            self.file.write(record(15, bytes(4)) + self.summary + record(2, bytes(20)) +
                            b"\x89MCAP0\r\n")
        self.file.close()


def fields(**values):
    return b"".join(struct.pack("<I", len(name) + 1 + len(value)) + name.encode() + b"=" + value
                    for name, value in values.items())


def bag_record(data, **head):
    head = fields(**head)
    return struct.pack("<I", len(head)) + head + struct.pack("<I", len(data)) + data


class Bag:
    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(b"#ROSBAG V2.0\n" + bag_record(
            b" " * 40, op=b"\3", index_pos=bytes(8), conn_count=bytes(4), chunk_count=bytes(4)))
        self.known, self.chunk, self.index, self.summary = {}, b"", {}, b""

    def message(self, topic, kind, message, log_ns):
        define = b""
        if topic not in self.known:
            self.known[topic] = struct.pack("<I", len(self.known))
            about = fields(topic=b"/other", type=TYPES[kind].replace("/msg", "").encode(),
                           md5sum=b"*", message_definition=b"bytes a=b")
            define = bag_record(about, op=b"\7", conn=self.known[topic], topic=topic.encode())
        number = self.known[topic]
        self.summary += define
        self.chunk += define
        time = struct.pack("<II", log_ns // 10**9, log_ns % 10**9)
        self.index.setdefault(number, []).append(time + struct.pack("<I", len(self.chunk)))
        self.chunk += bag_record(pack(kind, message), op=b"\2", conn=number, time=time)
        if len(self.chunk) > int(keys["chunk"]):
            self.flush()

    def flush(self):
        if self.chunk:
            self.file.write(bag_record(compress(self.chunk), op=b"\5",
                                       compression=keys["compression"].encode(),
                                       size=struct.pack("<I", len(self.chunk))))
            for number, entries in self.index.items() if keys["index"] == "1" else ():
                self.file.write(bag_record(b"".join(entries), op=b"\4", ver=b"\1\0\0\0",
                                           conn=number, count=struct.pack("<I", len(entries))))
        self.chunk, self.index = b"", {}

    def bomb(self, chunks):
        self.flush()
        self.chunk = bag_record(b"", op=b"\2", conn=bytes(4), time=bytes(8)) * 250_000
        before = self.file.tell()
        self.flush()
        self.file.flush()
        after = self.file.tell()
        with open(self.file.name, "rb") as written:
            for _ in range(chunks - 1):
                written.seek(before)
                self.file.write(written.read(after - before))

    def finish(self):
        self.flush()
        if keys["summary"] == "1":
            self.file.write(self.summary)
        self.file.close()


class BagPackage:  # by rosbags
    def __init__(self, path):
        from rosbags.rosbag1 import Writer
        from rosbags.typesys import Stores, get_typestore
        self.store = get_typestore(Stores.ROS1_NOETIC)
        self.writer = Writer(path)
        if keys["compression"] != "none":
            self.writer.set_compression(Writer.CompressionFormat[keys["compression"].upper()])
        self.writer.chunk_threshold = int(keys["chunk"])
        self.writer.open()
        self.known = {}

    def build(self, name, m):
        types = self.store.types
        stamp = types["builtin_interfaces/msg/Time"](**m["header"]["stamp"])
        header = types["std_msgs/msg/Header"](seq=7, stamp=stamp, frame_id="c")
        array = {"data": np.uint8, **dict.fromkeys("dkrp", np.float64)}
        m = {k: np.frombuffer(v, np.uint8) if isinstance(v, bytes) else
             np.array(v, array[k]) if k in array else v for k, v in m.items()}
        if name.endswith("CameraInfo"):
            m = {k.upper() if k in "dkrp" else k: v for k, v in m.items()}
            m.update(binning_x=0, binning_y=0, roi=types["sensor_msgs/msg/RegionOfInterest"](
                0, 0, 0, 0, False))
        return types[name](**{**m, "header": header})

    def message(self, topic, kind, message, log_ns):
        name = TYPES[kind]
        if topic not in self.known:
            self.known[topic] = self.writer.add_connection(topic, name, typestore=self.store)
        self.writer.write(self.known[topic], log_ns,
                          self.store.serialize_ros1(self.build(name, message), name))

    def finish(self):
        self.writer.close()


class Package:  # by mcap and mcap-ros2-support
    DEFINITIONS = {
        "Image": "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n"
                 "uint8 is_bigendian\nuint32 step\nuint8[] data\n",
        "CompressedImage": "std_msgs/Header header\nstring format\nuint8[] data\n",
        "CameraInfo": "std_msgs/Header header\nuint32 height\nuint32 width\n"
                      "string distortion_model\nfloat64[] d\nfloat64[9] k\nfloat64[9] r\n"
                      "float64[12] p\nuint32 binning_x\nuint32 binning_y\n"
                      "uint32 x_offset\nuint32 y_offset\nuint32 roi_height\n"
                      "uint32 roi_width\nbool do_rectify\n"}  # the last five: of roi, in a row
    HEADER = "=" * 80 + "\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" \
        + "=" * 80 + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"

    def __init__(self, path):
        from mcap.writer import CompressionType
        from mcap_ros2.writer import Writer
        kind = {"none": CompressionType.NONE, "lz4": CompressionType.LZ4,
                "zstd": CompressionType.ZSTD}[keys["compression"]]
        self.file = open(path, "wb")
        self.writer = Writer(self.file, chunk_size=int(keys["chunk"]), compression=kind)
        self.schemas = {}

    def message(self, topic, kind, message, log_ns):
        if kind not in self.schemas:
            self.schemas[kind] = self.writer.register_msgdef(
                TYPES[kind], self.DEFINITIONS[kind] + self.HEADER)
        if kind == "CameraInfo":
            names = ("x_offset", "y_offset", "roi_height", "roi_width")
            message = {**message, "binning_x": 0, "binning_y": 0, "do_rectify": True,
                       **dict(zip(names, message["roi"]))}
        self.writer.write_message(topic, self.schemas[kind], message, log_time=log_ns,
                                  publish_time=log_ns)

    def finish(self):
        self.writer.finish()
        self.file.close()


def deep(picture, bits):  # white is white
    return picture.astype("<u2") << bits - 8 | picture >> 16 - bits


def bayer(picture):
    """A sensor's numbers of a picture in colour, and what they show: a number that was not
    measured is the mean of the 3x3 px around it that were."""
    names = keys["encoding"][6:10]
    colors = np.array([["rgb".index(c) for c in names[:2]], ["rgb".index(c) for c in names[2:]]])
    which = np.tile(colors, (H // 2, W // 2))[..., None] == np.arange(3)
    raw = np.where(which, picture, 0).sum(2)
    padded = np.pad(np.where(which, raw[..., None], 0), ((1, 1), (1, 1), (0, 0)))
    counts = np.pad(which.astype(int), ((1, 1), (1, 1), (0, 0)))
    total, count = (sum(a[y:y + H, x:x + W] for y in range(3) for x in range(3))
                    for a in (padded, counts))
    shown = np.where(which, raw[..., None], (total + count // 2) // count)
    return raw.astype(np.uint8), shown.astype(np.uint8)


def encode(picture, header, side=0):
    name = keys["encoding"]
    if name in ("png", "jpeg"):
        out = io.BytesIO()
        Image.fromarray(picture).save(out, name)
        return "CompressedImage", dict(header=header, format=name, data=out.getvalue())
    if name in ("mono10", "mono12"):
        rows = deep(picture, int(name[4:]))
    elif name == "mono16":
        low = int(side and keys["low_right"] or keys["low"])
        rows = picture.astype("<u2") << 8 - low if low else deep(picture, 16)
    elif name.startswith("bayer"):
        rows = deep(bayer(picture)[0], 16) if name.endswith("16") else bayer(picture)[0]
    elif name == "bgr8":
        rows = picture[..., ::-1]
    elif name == "bgra8":
        rows = np.dstack([picture[..., ::-1], np.zeros((H, W), np.uint8)])
    else:
        rows = picture
    width = rows.shape[1]
    rows = np.ascontiguousarray(rows).reshape(H, -1).view(np.uint8)
    rows = np.hstack([rows, np.full((H, 8), 99, np.uint8)])  # a gap behind each row
    return "Image", dict(header=header, height=H, width=width, encoding=name, is_bigendian=0,
                         step=rows.shape[1], data=rows.tobytes())


def calibration(side):
    def matrix(name, values, columns):
        rows = len(values) // columns
        return f"{name}:\n  rows: {rows}\n  cols: {columns}\n  data: {values}\n"
    return (f"image_width: {W}\nimage_height: {H}\ncamera_name: camera\n" +
            matrix("camera_matrix", K, 3) + "distortion_model: plumb_bob\n" +
            matrix("distortion_coefficients", D, 5) + matrix("rectification_matrix", R, 3) +
            matrix("projection_matrix", P(side), 4))


TYPES["CompressedImage"] = keys.get("type", TYPES["CompressedImage"])
generator = np.random.default_rng(5)
color = keys["encoding"][:5] in ("rgb8", "bgr8", "bgra8", "bayer")
classes = {"mcap": (Mcap, Package), "bag": (Bag, BagPackage)}[keys["file"]]
out = classes[keys["writer"] != "own"](f"{folder}/ros.{keys['file']}")
topics, dropped = keys["topics"].split(","), [int(n) for n in keys["drop"].split(",") if n]
messages = []
for side in range(2):
    os.makedirs(f"{folder}/{('left', 'right')[side]}", exist_ok=True)
    with open(f"{folder}/{('left', 'right')[side]}.yaml", "w") as file:
        file.write(calibration(side))
for i in range(int(keys["count"])):
    wide = generator.integers(0, 256, (H, W + 8, 3) if color else (H, W + 8), np.uint8)
    for side in range(2):
        picture = np.ascontiguousarray(wide[:, 5 * side:5 * side + W])
        ns = START + i * STEP + side * int(keys["late_right"]) * 1_000_000
        ns += int(keys["pause"]) * 1_000_000_000 * (i > int(keys["count"]) // 2)
        stamp = dict(sec=ns // 10**9, nanosec=ns % 10**9)
        header = dict(stamp=stamp, frame_id=f"camera{side}")
        if side == 1 and i in dropped:
            continue
        shown = bayer(picture)[1] if keys["encoding"].startswith("bayer") else picture
        Image.fromarray(shown).save(f"{folder}/{('left', 'right')[side]}/{i:06d}.png")
        log_ns = (ns - START) // int(keys["speed"]) + START + side * int(keys["late"]) * 1_000_000
        if keys["both"]:
            picture = np.concatenate([wide[:, :W], wide[:, 5:5 + W]], 1)
        if not (keys["both"] and side == 1):
            messages.append((log_ns, topics[side], *encode(picture, header, side)))
        if keys["other"]:
            messages.append((log_ns, topics[side] + keys["other"], "CompressedImage", dict(
                header=header, format="16UC1; compressedDepth png", data=b"none")))
        if keys["info"] != "0":
            info = dict(header=header, height=H, width=W, distortion_model="plumb_bob",
                        d=D * (3 if keys["info"] == "long" else 1),
                        k=[0.0] * 9 if keys["info"] == "zero" else K, r=R, p=P(side))
            info["roi"] = [0, 0, 0, 0]
            if "roi" in keys:
                x, y = map(int, keys["roi"].split(","))
                info.update(height=2 * H, width=2 * W, roi=[x, y, H, W])
                for name, at in (("k", (2, 5)), ("p", (2, 6))):
                    info[name] = list(info[name])
                    info[name][at[0]] += x
                    info[name][at[1]] += y
            where = topics[side].removesuffix("/compressed").rsplit("/", 1)[0] + "/camera_info"
            messages.append((log_ns, where, "CameraInfo", info))
messages.sort(key=lambda m: m[0])
if keys["split"]:
    out.finish()
    os.remove(f"{folder}/ros.mcap")
    os.makedirs(f"{folder}/bag")
    size = int(keys["split"]) * len(messages) // int(keys["count"])
    for k in range(0, len(messages), size):
        out = classes[0](f"{folder}/bag/bag_{k // size}.mcap")
        for log_ns, topic, kind, message in sorted(messages[k:k + size], key=lambda m: m[1:2],
                                                   reverse=k % 2 == 1):
            out.message(topic, kind, message, log_ns)
        out.finish()
    sys.exit()
for log_ns, topic, kind, message in messages:
    out.message(topic, kind, message, log_ns)
for i in range(int(keys["damaged"])):
    out.raw(START + (1 if keys["first"] == "0" else -1) * (i + 1) * STEP)
if keys["bomb"]:
    out.bomb(int(keys["bomb"]))
out.finish()
