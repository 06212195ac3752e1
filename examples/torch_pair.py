#!/usr/bin/env python3
"""A pair as tensors of PyTorch on a GPU: taken and given by DLPack, nothing is copied to the host.
Compares the bytes with those from arrays on the host, and the times of both.

    torch_pair.py [left.png right.png] --preset live --labels 128

SPDX-License-Identifier: MIT
"""
import argparse
import statistics
import time

import livestereo as ls
import numpy as np
import torch


def made_up(width, height, shift):
    """Noise, of which the right picture shows what lies shift px further to the right."""
    noise = np.random.default_rng(1).integers(0, 256, (height, width + shift, 3), np.uint8)
    return noise[:, :width].copy(), noise[:, shift:].copy()


def read(path):
    from PIL import Image
    return np.array(Image.open(path).convert("RGB"))


def on_host(matcher, left, right):
    return matcher(left, right).disparity


def on_device(matcher, left, right):
    return torch.from_dlpack(matcher(left, right).disparity)


def compare(preset, left, right, labels, rounds):
    height, width = left.shape[:2]
    matcher = ls.Matcher(width, height, preset=preset, backend="cuda", disparity_range=labels)
    tensors = [torch.from_dlpack(picture).cuda() for picture in (left, right)]
    result = matcher(*tensors)
    disparity = torch.from_dlpack(result.disparity)
    assert disparity.is_cuda and disparity.data_ptr() == result.disparity.data  # the same memory
    assert np.array_equal(np.from_dlpack(disparity.cpu()), on_host(matcher, left, right))
    times = {on_host: [], on_device: []}
    for _ in range(rounds):
        for way, pictures in ((on_host, (left, right)), (on_device, tensors)):
            torch.cuda.synchronize()
            start = time.perf_counter()
            way(matcher, *pictures)
            torch.cuda.synchronize()
            times[way].append(1000 * (time.perf_counter() - start))
    host, device = (statistics.median(times[way]) for way in (on_host, on_device))
    print(f"{width}x{height}x{labels} {preset:8} {host:6.2f} ms host to host, "
          f"{device:6.2f} ms device to device, same bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="*", metavar="PICTURE",
                        help="left and right; without them, noise of several sizes")
    parser.add_argument("--preset", action="append", choices=ls.presets())
    parser.add_argument("--labels", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=50)
    args = parser.parse_args()

    torch.cuda.init()
    pairs = [[read(path) for path in args.pictures]] if args.pictures else [
        made_up(*size, 20) for size in ((640, 480), (1280, 720), (1920, 1080))]
    print(f"livestereo {ls.__version__}, torch {torch.__version__}, "
          f"{torch.cuda.get_device_name()}")
    for left, right in pairs:
        for preset in args.preset or ["live", "default"]:
            compare(preset, left, right, args.labels, args.rounds)


if __name__ == "__main__":
    main()
