# SPDX-License-Identifier: Apache-2.0
"""Limits of decoding: given to a call, or to the process."""
import numpy as np
import pytest

import halyard
from halyard import DecodeLimits, Tensor
from helpers import fails


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo.png"
    halyard.imwrite(path, np.zeros((20, 30, 3), np.uint8))
    return path


def calls(path):
    data = path.read_bytes()
    return {
        "load": lambda **k: halyard.load(path, **k),
        "Tensor.load": lambda **k: Tensor.load(path, **k),
        "load_from_bytes": lambda **k: Tensor.load_from_bytes(data, **k),
        "imread": lambda **k: halyard.imread(path, **k),
        "decode_image": lambda **k: Tensor((20, 30, 3)).decode_image(data, **k),
        "decode_image_file": lambda **k: Tensor((20, 30, 3)).decode_image_file(path, **k),
        "peek_image_info": lambda **k: Tensor.peek_image_info(data, **k),
        "peek_image_info_file": lambda **k: Tensor.peek_image_info_file(path, **k),
    }


@pytest.mark.parametrize("name", ["load", "Tensor.load", "load_from_bytes", "imread",
                                  "decode_image", "decode_image_file", "peek_image_info",
                                  "peek_image_info_file"])
def test_every_call_that_decodes_takes_limits(photo, name):
    call = calls(photo)[name]
    call(limits=DecodeLimits(max_pixels=600))
    call(limits=None)
    fails(halyard.Error, r"limits\.max_pixels: 30 x 20 > 599",
          lambda: call(limits=DecodeLimits(max_pixels=599)))
    fails(TypeError, "limits: must be a DecodeLimits, not int", lambda: call(limits=599))


def test_limits_of_the_process_count_in_calls_that_name_none(photo):
    usual = halyard.default_decode_limits()
    try:
        halyard.set_default_decode_limits(DecodeLimits(max_height=19))
        for call in calls(photo).values():
            fails(halyard.Error, r"limits\.max_height: 20 > 19", call)
            call(limits=usual)
        assert DecodeLimits().max_height == 19
        assert DecodeLimits(max_width=5) == DecodeLimits(max_width=5, max_height=19)
    finally:
        halyard.set_default_decode_limits(None)
    assert halyard.default_decode_limits() == usual
    halyard.load(photo)


def test_each_field_is_set_read_and_shown():
    names = ["max_width", "max_height", "max_pixels", "max_bytes", "max_expansion",
             "expansion_floor", "max_scans", "max_scan_passes"]
    limits = DecodeLimits(**{name: 10 + i for i, name in enumerate(names)})
    assert [getattr(limits, name) for name in names] == list(range(10, 18))
    assert all(f"{name}={10 + i}" in repr(limits) for i, name in enumerate(names))
    limits.max_scans = 3
    assert limits.max_scans == 3 and limits != DecodeLimits()
    for wrong in (-1, "many", 1.5, 2**70):
        fails((TypeError, ValueError, OverflowError, halyard.Error), "max_pixels",
              lambda: DecodeLimits(max_pixels=wrong))


def test_bytes_count_the_decoded_pixels(photo):
    with pytest.raises(halyard.Error, match=r"limits\.max_bytes"):
        halyard.load(photo, limits=DecodeLimits(max_bytes=1799))
    assert halyard.load(photo, limits=DecodeLimits(max_bytes=1800)).width == 30
