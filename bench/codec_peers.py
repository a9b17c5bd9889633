#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times decoding of PNG and JPEG in turn with EdgeFirst's wheel and OpenCV's. Run it with a
Python that has the wheels and finds halyard:

    pip install numpy opencv-python-headless edgefirst-hal
    HALYARD_TESTDATA_DIR=... bench/codec_peers.py [--turns N]

Medians over the turns, milliseconds of processor time (each decodes on one thread). The image is
photos/zidane.jpg of the real test data, 1280 x 720, written by OpenCV with its defaults (PNG: one
filter for all rows) and, if Pillow is installed, by Pillow (PNG: filters row by row). Ours and
EdgeFirst's decode into an existing tensor.
"""
import argparse
import io
import os
import statistics
import time

import cv2
import edgefirst_hal
import halyard
import numpy as np

try:
    from PIL import Image
except ImportError:
    Image = None


def files():
    photo = cv2.imread(os.environ["HALYARD_TESTDATA_DIR"] + "/photos/zidane.jpg")
    layouts = {"rgb": photo, "rgba": cv2.cvtColor(photo, cv2.COLOR_BGR2BGRA),
               "grey": cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY)}
    for name, pixels in layouts.items():
        yield f"PNG {name}, OpenCV's", cv2.imencode(".png", pixels)[1].tobytes()
        if Image is not None:
            out = io.BytesIO()
            order = {"rgb": cv2.COLOR_BGR2RGB, "rgba": cv2.COLOR_BGRA2RGBA}.get(name)
            ordered = pixels if order is None else cv2.cvtColor(pixels, order)
            Image.fromarray(ordered).save(out, "png")
            yield f"PNG {name}, Pillow's", out.getvalue()
    yield "JPEG, native YUV", cv2.imencode(".jpg", photo)[1].tobytes()


def decoder(module, data):
    tensor = module.Tensor.image(1280, 720, module.PixelFormat.Rgba, module.TensorMemory.MEM)
    return lambda: tensor.decode_image(data)


def timed(work, calls=3):
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=21)
    turns = parser.parse_args().turns
    print(f"{'file':24} {'ours':>7} {'EdgeFirst':>10} {'OpenCV':>7}   peers / ours")
    for name, data in files():
        array = np.frombuffer(data, np.uint8)
        works = [decoder(halyard, data), decoder(edgefirst_hal, data),
                 lambda array=array: cv2.imdecode(array, cv2.IMREAD_UNCHANGED)]
        times = [[] for _ in works]
        for _ in range(turns + 1):  # the first turn warms up
            for work, taken in zip(works, times):
                taken.append(timed(work))
        ours, edgefirst, opencv = (statistics.median(taken[1:]) for taken in times)
        print(f"{name:24} {ours:7.2f} {edgefirst:10.2f} {opencv:7.2f}   "
              f"{edgefirst / ours:.2f} {opencv / ours:.2f}", flush=True)


if __name__ == "__main__":
    main()
