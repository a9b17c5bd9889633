# SPDX-License-Identifier: Apache-2.0
"""Copies between arrays and the tensors of negotiated buffers."""
import numpy as np
import pytest

from parties import app
from helpers import fails

import halyard as ef


def test_arrays_are_copied_whatever_the_order_of_axes():
    attrs = app(**{"g.pad_fill": "zero"})
    attrs.accept("NCxHWx32")
    (buffer,) = ef.reconcile([attrs]).allocate()
    pixels = np.random.default_rng(3).integers(1, 255, (1, 64, 100, 3), np.uint8)
    with buffer.lock("write") as lock:
        np.asarray(lock)[:] = 0xEE
    buffer.copy_from(pixels, "NHWC")
    blocks = np.asarray(buffer.tensor())
    assert blocks.shape == (1, 1, 64, 100, 32)
    assert (blocks[:, 0, :, :, :3] == pixels).all() and not blocks[..., 3:].any()
    back = np.zeros((1, 3, 64, 100), np.uint8)
    buffer.copy_to(back)
    assert (back == pixels.transpose(0, 3, 1, 2)).all()
    fails(ValueError, r"wanted \[1, 3, 64, 100\]", lambda: buffer.copy_from(pixels))
    fails(ValueError, "order", lambda: buffer.copy_to(back, "CHWN"))
    fails(ValueError, "uint8", lambda: buffer.copy_from(pixels.astype(np.float32), "NHWC"))
    with buffer.submit(), pytest.raises(TimeoutError):
        buffer.copy_to(back, timeout=0.06)
