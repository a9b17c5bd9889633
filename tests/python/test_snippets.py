# SPDX-License-Identifier: Apache-2.0
"""Programs as their documents print them, run as they stand; the import is the only line that may
differ."""
import os

import numpy as np
import pytest

import halyard as ef
from helpers import run_python
import models

QUICK_START = '''
import edgefirst_hal as ef
img = ef.Tensor.load("image.jpg", ef.PixelFormat.Rgb)
processor = ef.ImageProcessor()
output = processor.create_image(640, 640, ef.PixelFormat.Rgb)
processor.convert(img, output)
decoder = ef.Decoder(config, 0.5, 0.45)
boxes, scores, classes, masks = decoder.decode([output0, output1])
processor.draw_masks(decoder, [output0, output1], output)
'''

REUSE = '''
proc = ef.ImageProcessor()
dst = proc.create_image(640, 640, ef.PixelFormat.Rgb)
for frame in camera_frames:
    proc.convert(frame, dst)
    run_inference(dst)
'''

IMPORT_CACHE = '''
import os
buffer_cache: dict[tuple[int, int], ef.Tensor] = {}
def get_or_import(proc, fd, offset, width, height, fmt):
    key = (os.fstat(fd).st_ino, offset)
    t = buffer_cache.get(key)
    if t is None:
        t = proc.import_image(fd, width, height, fmt, "uint8", offset=offset)
        buffer_cache[key] = t
    return t
'''

STRIDED = '''
tensor.from_numpy(np.ascontiguousarray(arr_strided))
tensor.from_numpy(arr_strided)
'''

MASKS = '''
import edgefirst_hal as hal
tiles = proc.materialize_masks(boxes, scores, classes, proto_data,
                               letterbox=lb,
                               resolution=hal.MaskResolution.Scaled(W, H))
for tile, box in zip(tiles, boxes):
    canvas[y:y+h, x:x+w] = (tile[:, :, 0] > 127).astype(np.uint8)
'''

TRACING = '''
import edgefirst_hal as hal
with hal.Tracing("{path}"):
    # ... run inference pipeline ...
    pass
'''


def run(text, **names):
    text = text.replace("import edgefirst_hal", "import halyard.edgefirst")
    exec(compile(text, "snippet", "exec"), names)
    return names


def segmentation_config():
    return {"decoder_version": "yolov8", "outputs": [
        {"type": "detection", "decoder": "ultralytics", "normalized": True,
         "shape": [1, 4 + models.CLASSES + models.PROTOS, models.ANCHORS],
         "dshape": [("batch", 1), ("num_features", 4 + models.CLASSES + models.PROTOS),
                    ("num_boxes", models.ANCHORS)]},
        {"type": "protos", "decoder": "ultralytics",
         "shape": [1, models.SIDE, models.SIDE, models.PROTOS],
         "dshape": [("batch", 1), ("height", models.SIDE), ("width", models.SIDE),
                    ("num_protos", models.PROTOS)]}]}


def outputs():
    return [models.tensor(models.detection_output(extra=models.PROTOS)),
            models.tensor(models.prototypes())]


@pytest.fixture
def image(tmp_path, monkeypatch):
    image = ef.Tensor.image(320, 240, ef.PixelFormat.Rgb, ef.TensorMemory.MEM)
    image.fill(200)
    image.save_jpeg(str(tmp_path / "image.jpg"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_quick_start(image):
    first, second = outputs()
    names = run(QUICK_START, config=segmentation_config(), output0=first, output1=second)
    assert names["boxes"].shape == (2, 4) and len(names["masks"]) == 2
    with names["output"].map() as pixels:
        assert np.array(pixels).any()


def test_quick_start_unchanged_in_a_process_of_its_own(image):
    tests = os.path.dirname(__file__)
    text = (f"import sys; sys.path.insert(0, {tests!r})\n"
            "import halyard.compat; halyard.compat.install()\n"
            "import test_snippets as t\nconfig = t.segmentation_config()\n"
            "output0, output1 = t.outputs()\n" + QUICK_START + "print(len(boxes), len(masks))\n")
    done = run_python("-c", text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "2"]


def test_processor_and_destination_are_reused():
    frames = [ef.Tensor.image(320, 240, ef.PixelFormat.Rgb, ef.TensorMemory.MEM) for _ in range(3)]
    for value, frame in enumerate(frames):
        frame.fill(50 * value)
    seen = []

    def run_inference(dst):
        seen.append(int(np.asarray(dst)[10, 10, 0]))
    run(REUSE, ef=ef, camera_frames=frames, run_inference=run_inference)
    assert seen == [0, 50, 100]


def test_imports_are_cached_by_inode():
    names = run(IMPORT_CACHE, ef=ef)
    made = []

    class Processor:
        def import_image(self, fd, width, height, fmt, dtype, offset):
            made.append((fd, width, height, fmt, dtype, offset))
            return object()
    with open(os.devnull) as one:
        calls = [names["get_or_import"](Processor(), one.fileno(), offset, 64, 48,
                                        ef.PixelFormat.Nv12) for offset in (0, 0, 4096)]
    assert calls[0] is calls[1] and calls[0] is not calls[2] and len(made) == 2


def test_imports_of_real_buffers():
    if not ef.is_dma_available():
        pytest.skip("no DMA-BUF heap on this machine")
    names, processor = run(IMPORT_CACHE, ef=ef), ef.ImageProcessor()
    image = ef.Tensor.image(64, 48, ef.PixelFormat.Rgba, ef.TensorMemory.DMA)
    fd = image.fd
    try:
        one = names["get_or_import"](processor, fd, 0, 64, 48, ef.PixelFormat.Rgba)
        assert names["get_or_import"](processor, fd, 0, 64, 48, ef.PixelFormat.Rgba) is one
    finally:
        os.close(fd)


def test_strided_arrays_are_taken_as_they_are():
    array = np.arange(24, dtype=np.float32).reshape(1, 4, 6).transpose(0, 2, 1)
    tensor = ef.Tensor(list(array.shape), "float32", ef.TensorMemory.MEM)
    run(STRIDED, tensor=tensor, np=np, arr_strided=array)
    assert np.array_equal(np.asarray(tensor), array)


def test_masks_at_the_image_s_size():
    canvas = np.zeros((480, 640), np.uint8)
    only = models.segmenter()
    only.max_det = 1
    found = only.decode_proto([models.detection_output(models.OBJECTS[:1], models.PROTOS),
                               models.prototypes()])
    boxes = found.boxes / np.tile(models.INPUT, 2)
    x, y = round(float(boxes[0, 0]) * 640), round(float(boxes[0, 1]) * 480)
    w, h = round(float(boxes[0, 2]) * 640) - x, round(float(boxes[0, 3]) * 480) - y
    names = run(MASKS, proc=ef.ImageProcessor(), boxes=found.boxes, scores=found.scores,
                classes=found.classes, proto_data=found.protos, lb=None, W=640, H=480, np=np,
                canvas=canvas, x=x, y=y, w=w, h=h)
    assert names["tiles"][0].shape == (h, w, 1) and set(np.unique(canvas)) <= {0, 1}


def test_tracing(tmp_path):
    path = tmp_path / "trace.json"
    run(TRACING.replace("{path}", str(path)))
    assert path.read_text().startswith(("{", "["))
