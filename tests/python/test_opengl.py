# SPDX-License-Identifier: Apache-2.0
"""Programs that ask for OpenGL, on any renderer: the pixels of the CPU, within 1."""

import numpy as np
import pytest

import halyard
import halyard.edgefirst
from helpers import in_threads

F = halyard.PixelFormat
MEM = halyard.TensorMemory.MEM
RNG = np.random.default_rng(11)


@pytest.fixture(name="software_gl", autouse=True)
def _software_gl(monkeypatch):
    monkeypatch.setenv("HALYARD_ALLOW_SOFTWARE_GL", "1")
    monkeypatch.setenv("HALYARD_SHADER_CACHE", "off")
    try:
        halyard.ImageProcessor(backend="opengl").close()
    except RuntimeError as error:
        assert "opengl" in str(error)
        pytest.skip(str(error))


@pytest.fixture(name="ef", params=[halyard, halyard.edgefirst], ids=["halyard", "edgefirst"])
def _ef(request):
    return request.param


def noise(ef, width, height, format, mem=MEM):
    t = ef.Tensor.image(width, height, format, mem=mem)
    with t.map() as m:
        flat = np.asarray(m)
        flat[...] = RNG.integers(0, 256, flat.shape, dtype=np.uint8)
    return t


def pixels(tensor):
    with tensor.map() as m:
        return np.array(m, dtype=float)


def check(ef, src, make, *arguments, scale=1, **options):
    """Converts on both, and compares codes."""
    gpu, cpu = ef.ImageProcessor(backend="opengl"), ef.ImageProcessor(backend="cpu")
    by_gpu, by_cpu = make(), make()
    assert gpu.explain(src, by_gpu).startswith("opengl: runs it")
    gpu.convert(src, by_gpu, *arguments, **options)
    cpu.convert(src, by_cpu, *arguments, **options)
    assert abs(pixels(by_gpu) - pixels(by_cpu)).max() * scale <= 1
    assert pixels(by_cpu).std() > 0


@pytest.mark.parametrize("to", ["Rgb", "Rgba", "Bgra", "Grey", "PlanarRgb", "Nv12"])
@pytest.mark.parametrize("source", ["Nv12", "Nv16", "Nv24", "Yuyv", "Rgb", "Rgba", "Bgra", "Grey",
                                    "PlanarRgb"])
def test_formats(ef, source, to):
    check(ef, noise(ef, 48, 32, F[source]), lambda: ef.Tensor.image(36, 28, F[to], mem=MEM))


@pytest.mark.parametrize("dtype, scale", [("float32", 255), ("float16", 255), ("int8", 1)])
def test_element_types(ef, dtype, scale):
    check(ef, noise(ef, 48, 32, F.Nv12),
          lambda: ef.Tensor.image(36, 28, F.PlanarRgb, dtype=dtype, mem=MEM), scale=scale)


@pytest.mark.parametrize("rotation", list(halyard.Rotation))
@pytest.mark.parametrize("flip", list(halyard.Flip))
def test_turns(ef, rotation, flip):
    check(ef, noise(ef, 48, 32, F.Nv12), lambda: ef.Tensor.image(30, 40, F.Rgb, mem=MEM), rotation,
          flip)


def test_crops_letterboxes_and_numbers(ef):
    src = noise(ef, 48, 32, F.Yuyv)
    image = lambda: ef.Tensor.image(40, 40, F.Rgb, mem=MEM)
    planes = lambda: ef.Tensor.image(40, 40, F.PlanarRgb, dtype="float32", mem=MEM)
    check(ef, src, image, source=ef.Region(8, 4, 30, 20), letterbox=(114, 114, 114, 255))
    check(ef, src, image, src_crop=ef.Rect(2, 2, 20, 20), dst_crop=ef.Rect(4, 6, 24, 20),
          dst_color=(1, 2, 3, 255))
    check(ef, src, image, antialias=True)
    check(ef, src, planes, normalize="imagenet", scale=255 * 0.225)


def test_own_images_and_queues(ef):
    with ef.ImageProcessor(backend="opengl") as gpu, ef.ImageProcessor(backend="cpu") as cpu:
        src = gpu.create_image(48, 32, F.Rgba)
        assert src.memory in (ef.TensorMemory.PBO, ef.TensorMemory.DMA)
        with src.map() as m:
            np.asarray(m)[...] = RNG.integers(0, 256, (32, 48, 4), dtype=np.uint8)
        made = [gpu.create_image(36, 28, F.Rgb) for _ in range(3)]
        expected = ef.Tensor.image(36, 28, F.Rgb, mem=MEM)
        cpu.convert(src, expected)
        for dst in made:
            gpu.convert_deferred(src, dst)
        gpu.flush()
        for dst in made:
            assert abs(pixels(dst) - pixels(expected)).max() <= 1


def test_displays_by_name(ef):
    displays = ef.probe_egl_displays()
    with ef.ImageProcessor(displays[0].kind, backend="opengl") as gpu:
        src, dst = noise(ef, 16, 16, F.Rgb), ef.Tensor.image(16, 16, F.Rgb, mem=MEM)
        gpu.convert(src, dst)
        assert np.array_equal(pixels(src), pixels(dst))


def test_the_variable_of_the_reference(ef, monkeypatch):
    monkeypatch.setenv("EDGEFIRST_FORCE_BACKEND", "OpenGL")
    src, dst = noise(ef, 48, 32, F.Nv12), ef.Tensor.image(36, 28, F.Rgb, mem=MEM)
    expected = ef.Tensor.image(36, 28, F.Rgb, mem=MEM)
    with ef.ImageProcessor() as gpu:
        assert gpu.explain(src, dst).startswith("opengl: runs it")
        gpu.convert(src, dst)
    ef.ImageProcessor(backend="cpu").convert(src, expected)
    assert abs(pixels(dst) - pixels(expected)).max() <= 1


def test_threads_with_processors_of_their_own(ef):
    sources = [noise(ef, 48, 32, F.Nv12) for _ in range(3)]

    def work(src):
        with ef.ImageProcessor(backend="opengl") as gpu, ef.ImageProcessor(backend="cpu") as cpu:
            dst, expected = (ef.Tensor.image(36, 28, F.Rgb, mem=MEM) for _ in range(2))
            cpu.convert(src, expected)
            for _ in range(20):
                dst.fill(0)
                gpu.convert(src, dst)
                assert abs(pixels(dst) - pixels(expected)).max() <= 1

    in_threads(work, sources)
