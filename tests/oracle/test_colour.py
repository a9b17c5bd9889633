# SPDX-License-Identifier: Apache-2.0
"""YUV to RGB against the ITU-R formulas in double precision."""
import numpy as np
import pytest

WEIGHTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}
RANGES = {"full": (0.0, 255.0, 255.0), "limited": (16.0, 219.0, 224.0)}


def itu_rgb(y, u, v, encoding, value_range):
    """E'R, E'G, E'B of ITU-R BT.601, BT.709 and BT.2020 from 8-bit codes, clipped, as codes."""
    kr, kb = WEIGHTS[encoding]
    kg = 1 - kr - kb
    offset, luma, chroma = RANGES[value_range]
    ey = np.maximum((y.astype(np.float64) - offset) / luma, 0)
    cb = (u.astype(np.float64) - 128) / chroma
    cr = (v.astype(np.float64) - 128) / chroma
    r = ey + 2 * (1 - kr) * cr
    b = ey + 2 * (1 - kb) * cb
    g = (ey - kr * r - kb * b) / kg
    return np.clip(np.stack([r, g, b], -1) * 255, 0, 255)


@pytest.mark.parametrize("encoding", WEIGHTS)
@pytest.mark.parametrize("value_range", RANGES)
def test_every_code_is_within_one_of_the_formula(program, encoding, value_range):
    # All luma codes against a grid of chroma codes with the ends, the neutral and odd values.
    grid = np.unique(np.r_[0:256:9, 15, 16, 17, 127, 128, 129, 239, 240, 241, 255]).astype(np.uint8)
    y, u, v = np.meshgrid(np.arange(256, dtype=np.uint8), grid, grid, indexing="ij")
    height, width = 256, grid.size * grid.size
    y, u, v = (a.reshape(height, width) for a in (y, u, v))
    nv24 = np.concatenate([y.reshape(-1), np.stack([u, v], -1).reshape(-1)])
    if width % 2:  # a semi-planar row holds an even count of samples
        y, u, v = (np.pad(a, ((0, 0), (0, 1)), mode="edge") for a in (y, u, v))
        width += 1
        nv24 = np.concatenate([y.reshape(-1), np.stack([u, v], -1).reshape(-1)])
    got = program.convert(nv24.reshape(3 * height, width), "nv24", (width, height),
                          colorimetry=f"{encoding},{value_range}")
    error = np.abs(got.astype(np.float64) - itu_rgb(y, u, v, encoding, value_range))
    print(f"{encoding} {value_range}: max {error.max():.3f} mean {error.mean():.4f}")
    assert error.max() <= 1.0


def test_nv12_replicates_chroma_like_opencv(program):
    cv2 = pytest.importorskip("cv2")
    rng = np.random.default_rng(4)
    width, height = 64, 48
    nv12 = rng.integers(0, 256, (height * 3 // 2, width), np.uint8)
    got = program.convert(nv12, "nv12", (width, height), colorimetry="bt601,limited")
    want = cv2.cvtColor(nv12, cv2.COLOR_YUV2RGB_NV12)
    difference = np.abs(got.astype(int) - want)
    print(f"OpenCV cvtColor NV12: max {difference.max()} mean {difference.mean():.4f}")
    assert difference.max() <= 1
