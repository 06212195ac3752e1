#!/usr/bin/env python3
# usage: docs/boards.py FOLDER
# Chessboards of 9x6 corners and squares of 25 mm, held before two cameras 6 cm apart of which the
# right one is turned a little: FOLDER/left/NN.pgm and FOLDER/right/NN.pgm. For pictures of
# calibration. SPDX-License-Identifier: MIT
import math
import os
import sys

WIDTH, HEIGHT, FOCAL, SQUARE, SAMPLES = 640, 480, 580.0, 0.025, 2
# tilt about x and y and turn about z (degrees), middle of the board (m) before the left camera
VIEWS = [(0, 0, 0, 0.03, 0, 0.36), (28, 0, 4, 0.03, 0.01, 0.38), (-28, 0, -4, 0.03, -0.01, 0.38),
         (0, 30, 5, 0.03, 0, 0.38), (0, -30, -5, 0.03, 0, 0.38), (18, 18, 8, -0.07, -0.06, 0.45),
         (-18, 18, -8, 0.1, -0.05, 0.45), (18, -18, 12, -0.07, 0.06, 0.45),
         (-18, -18, -12, 0.12, 0.06, 0.45), (10, -25, 20, 0.03, 0, 0.6),
         (-25, 10, -20, 0.03, 0, 0.75), (25, 20, 0, -0.1, 0.08, 0.6),
         (-20, -25, 0, 0.16, -0.08, 0.6)]
CAMERAS = [('left', 0.0, (0, 0, 0)), ('right', 0.06, (0.6, -1.1, 0.9))]


def rotation(x, y, z):  # degrees; rows of Rz Ry Rx
    (cx, sx), (cy, sy), (cz, sz) = [(math.cos(math.radians(a)), math.sin(math.radians(a)))
                                    for a in (x, y, z)]
    return [[cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx], [-sy, cy * sx, cy * cx]]


def grey(a, b):  # of the board's plane, in squares from its middle
    if abs(a) > 5.7 or abs(b) > 4.2:
        return 105
    if abs(a) > 5 or abs(b) > 3.5:
        return 225
    return 35 if (math.floor(a + 5) + math.floor(b + 3.5)) % 2 else 225


def picture(view, at, turn):
    board, eye = rotation(*view[:3]), rotation(*turn)
    normal = [row[2] for row in board]
    middle = [view[3] - at, view[4], view[5]]  # from the camera
    depth = sum(n * m for n, m in zip(normal, middle))
    # ray of a pixel, M (u, v, 1): eye's axes are the columns of its rotation
    rows = [[sum(eye[k][i] * c[k] for k in range(3)) for i in range(3)]
            for c in (normal, [r[0] for r in board], [r[1] for r in board])]
    zero = [sum(c[k] * middle[k] for k in range(3)) / SQUARE
            for c in ([r[0] for r in board], [r[1] for r in board])]
    out = bytearray()
    steps = [(k + 0.5) / SAMPLES - 0.5 for k in range(SAMPLES)]
    for y in range(HEIGHT):
        for x in range(WIDTH):
            total = 0
            for v in [(y + s - HEIGHT / 2) / FOCAL for s in steps]:
                for u in [(x + s - WIDTH / 2) / FOCAL for s in steps]:
                    n, a, b = [r[0] * u + r[1] * v + r[2] for r in rows]
                    t = depth / n / SQUARE
                    total += grey(t * a - zero[0], t * b - zero[1])
            out.append(total // SAMPLES ** 2)
    return out


for name, at, turn in CAMERAS:
    os.makedirs(os.path.join(sys.argv[1], name))
    for i, view in enumerate(VIEWS):
        with open(os.path.join(sys.argv[1], name, '%02d.pgm' % (i + 1)), 'wb') as file:
            file.write(b'P5 %d %d 255\n' % (WIDTH, HEIGHT) + picture(view, at, turn))
