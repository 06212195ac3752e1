#!/usr/bin/python3
# usage: tests/read_mcap.py FOLDER FX CX CY BASELINE
# FOLDER is of `batch --save mcap,depth,pfm,left`; the numbers are the rectified camera's.
# Reads FOLDER/maps.mcap by the specifications of MCAP and CDR, by its index and without it, and,
# where they are installed, by the packages mcap and mcap-ros2-support: pictures, depths and
# disparities are those of the other files. SPDX-License-Identifier: MIT
import csv
import ctypes
import struct
import sys
import zlib

import numpy as np
from PIL import Image
from read_pfm import pfm

folder = sys.argv[1]
fx, cx, cy, baseline = map(float, sys.argv[2:6])
path = f"{folder}/maps.mcap"
with open(path, "rb") as file:
    data = file.read()
MAGIC = b"\x89MCAP0\r\n"
assert data.startswith(MAGIC) and data.endswith(MAGIC)


def records(data):
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<BQ", data, at)
        yield at, kind, data[at + 9:at + 9 + length]
        at += 9 + length
    assert at == len(data)


def text(data, at):
    length, = struct.unpack_from("<I", data, at)
    return data[at + 4:at + 4 + length].decode(), at + 4 + length


def expand(chunk):
    size, crc = struct.unpack_from("<QI", chunk, 16)
    name, at = text(chunk, 28)
    length, = struct.unpack_from("<Q", chunk, at)
    room = ctypes.create_string_buffer(size)
    run = ctypes.CDLL("libzstd.so.1").ZSTD_decompress
    run.restype = ctypes.c_size_t
    packed = chunk[at + 8:]
    assert name == "zstd" and len(packed) == length
    assert run(room, ctypes.c_size_t(size), packed, ctypes.c_size_t(length)) == size
    assert zlib.crc32(room.raw) == crc
    return room.raw


class Fields:  # of a message
    def __init__(self, data):
        assert data[:4] == b"\0\1\0\0"
        self.data, self.at = data[4:], 0

    def take(self, kind, count=1):
        size = struct.calcsize(kind)
        self.at += -self.at % size
        values = struct.unpack_from(f"<{count}{kind}", self.data, self.at)
        self.at += size * count
        return values if count > 1 else values[0]

    def string(self):
        length = self.take("I")
        self.at += length
        return self.data[self.at - length:self.at - 1].decode()

    def header(self):
        seconds, ns = self.take("i"), self.take("I")
        return seconds * 10**9 + ns, self.string()

    def image(self):
        height, width, encoding = self.take("I"), self.take("I"), self.string()
        assert self.take("B") == 0
        step, size = self.take("I"), self.take("I")
        kind, channels = {"32FC1": ("<f4", 1), "rgb8": ("u1", 3), "mono8": ("u1", 1)}[encoding]
        values = np.frombuffer(self.data, kind, size // np.dtype(kind).itemsize, self.at)
        self.at += size
        assert step * height == size
        return values.reshape(height, width, channels).squeeze()


def fits(seen, x, y, width, height):  # whether the window holds what is seen alone
    return (x >= 0 and y >= 0 and x + width <= seen.shape[1] and y + height <= seen.shape[0] and
            seen[y:y + height, x:x + width].all())


# Messages in the order of the file; and where the index has them.
summary, = struct.unpack("<Q", data[-8 - 20:-8 - 12])
topics, messages, by_index, known = {}, {}, [], []
body = data[8:summary]
for at, kind, record in records(body):
    if kind == 4:
        n, = struct.unpack_from("<H", record)
        topics[n], _ = text(record, 4)
    if kind == 6:
        inside = expand(record)
        for offset, inner, message in records(inside):
            n, _, log, publish = struct.unpack_from("<HIQQ", message)
            assert inner == 5 and log == publish
            messages.setdefault(topics[n], []).append((log, message[22:]))
            known.append((n, log, offset))
    if kind == 7:
        n, size = struct.unpack_from("<HI", record)
        by_index += [(n, *entry) for entry in struct.iter_unpack("<QQ", record[6:6 + size])]
assert sorted(known) == sorted(by_index)
kinds = [kind for _, kind, _ in records(data[summary:-8])]
assert kinds == [3, 4] * len(topics) + [11] + [8] * kinds.count(8) + [2], kinds
for _, kind, record in records(data[summary:-8]):
    if kind == 8:  # points to its chunk, and to the indices behind it
        start, length = struct.unpack_from("<QQ", record, 16)
        assert data[start] == 6 and data[start + length] == 7
with open(f"{folder}/frames.csv") as file:
    times = [round(float(row["pts_s"]) * 1e6) for row in csv.DictReader(file)]
assert sorted(topics.values()) == ["/depth/camera_info", "/depth/image_rect", "/disparity",
                                   "/left/camera_info", "/left/image_rect"]
for topic, of in messages.items():
    assert len(of) == len(times), topic
    for i, (log, message) in enumerate(of):
        fields = Fields(message)
        stamp, frame = fields.header()
        assert stamp == log and abs(stamp / 1000 - times[i]) <= 1
        assert frame == "left"
        if topic == "/left/image_rect":
            assert (fields.image() == np.asarray(Image.open(f"{folder}/{i:06d}_left.png"))).all()
        elif topic == "/depth/image_rect":
            metres = pfm(f"{folder}/{i:06d}_depth.pfm")
            assert np.array_equal(fields.image(), metres, equal_nan=True)
        elif topic == "/disparity":
            assert fields.header() == (stamp, frame)
            d = fields.image()
            f, t = fields.take("f", 2)
            x, y, height, width = fields.take("I", 4)
            least, most, step = fields.take("f", 3) if fields.take("B") == 0 else ()
            seen = np.isfinite(pfm(f"{folder}/{i:06d}.pfm"))
            assert fits(seen, x, y, width, height)
            assert not any(fits(seen, x - left, y - up, width + left + right, height + up + down)
                           for left, right, up, down in np.eye(4, dtype=int))
            assert (d[~seen] == least - 1).all() and step == 1 / 16 and seen.any()
            z = metres = pfm(f"{folder}/{i:06d}_depth.pfm")
            near = seen & np.isfinite(metres)
            assert np.allclose(f * t / d[near], metres[near], rtol=1e-5)
            assert d[seen].max() <= most + 1
        else:
            height, width = fields.take("I", 2)
            assert (width, height) == (96, 64)
            assert fields.string() == "plumb_bob" and fields.take("I") == 0
            assert np.allclose(fields.take("d", 9), (fx, 0, cx, 0, fx, cy, 0, 0, 1), rtol=1e-6)
            assert fields.take("d", 9) == (1, 0, 0, 0, 1, 0, 0, 0, 1)
            p = fields.take("d", 12)
            assert np.allclose(p, (fx, 0, cx, 0, 0, fx, cy, 0, 0, 0, 1, 0), rtol=1e-6)
            fields.take("I", 6)
            fields.take("B")
        assert fields.at == len(fields.data), topic
try:
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory
except ImportError:
    print("without packages")
    sys.exit()
with open(path, "rb") as file:
    reader = make_reader(file, decoder_factories=[DecoderFactory()], validate_crcs=True)
    assert reader.get_summary().statistics.message_count == len(topics) * len(times)
    count = 0
    for schema, channel, message, ros in reader.iter_decoded_messages():
        count += 1
        if channel.topic == "/disparity":
            assert np.isclose(ros.t, baseline) and ros.image.encoding == "32FC1"
            assert len(ros.image.data) == ros.image.step * ros.image.height
        if channel.topic == "/left/camera_info":
            assert np.isclose(ros.k[0], fx) and len(ros.d) == 0
    assert count == len(topics) * len(times)
print("with packages")
