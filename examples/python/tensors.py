#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors and NumPy arrays over the same memory; strings for enumerations."""
from __future__ import annotations

import numpy as np

import halyard


def shared_memory() -> halyard.Tensor:
    array = np.zeros((2, 480, 640, 3), np.uint8)
    batch = halyard.from_numpy(array)          # no copy; asarray() takes any object with memory
    assert batch.shape == (2, 480, 640, 3) and batch.dtype == np.uint8
    assert batch.size == array.size and batch.nbytes == array.nbytes
    flat = batch.reshape(2, -1)                # another tensor over the same bytes
    np.asarray(flat)[1] = 7
    assert array[1].min() == 7 and batch[1].shape == (480, 640, 3)
    return batch


def words(batch: halyard.Tensor) -> halyard.Tensor:
    image = batch[0]
    image.set_format("rgb")
    net = halyard.Tensor.image(320, 320, "planar_rgb", mem="heap", dtype="f4")
    halyard.ImageProcessor().convert(image, net, rotation=90, fit="letterbox",
                                     pad=[114, 114, 114, 255], normalize="imagenet")
    return net


def main() -> None:
    net = words(shared_memory())
    print(net)
    try:
        halyard.Tensor.image(8, 8, "rbg")  # type: ignore[arg-type]  # pyright: ignore
    except ValueError as error:
        print(error)


if __name__ == "__main__":
    main()
