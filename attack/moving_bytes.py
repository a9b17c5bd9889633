#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that another thread changes while it is read: the bytes of a file while they are decoded,
images while they are converted, outputs while they are decoded. Any result or refusal is allowed. A
crash, an invalid read (found by a sanitizer), or a result of another shape is a failure."""
import sys
import threading

import numpy as np

import halyard
import samples
from common import Program, attempt, main


class Changing:
    """A thread that writes noise, and sometimes the true bytes, until the block ends."""

    def __init__(self, work, array):
        self.array, self.true = array.reshape(-1).view(np.uint8), array.tobytes()
        self.random = np.random.default_rng(work.chance.randrange(2**32))
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.change)

    def change(self):
        true = np.frombuffer(self.true, np.uint8)
        count = max(1, len(true) // 50)
        while not self.ending.is_set():
            places = self.random.integers(0, len(true), count)
            self.array[places] = self.random.integers(0, 256, count)
            if self.random.random() < 0.4:
                self.array[:] = true

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


def files(work):
    """JPEG and PNG whose bytes change, into new tensors and into an existing one."""
    data = work.chance.choice(samples.JPEGS + samples.PNGS)
    data = work.chance.choice([data, samples.frame(200, 150).to_jpeg(),
                               samples.frame(90, 70).to_png(), data])
    moving = np.frombuffer(data, np.uint8).copy()
    ready = halyard.Tensor([400 * 300 * 4], "uint8", samples.MEM)
    work.input(data)
    with Changing(work, moving):
        for _ in range(150):
            work.call(f"decoding {len(data)} moving bytes")
            attempt(work, halyard.Tensor.load_from_bytes, moving)
            attempt(work, ready.decode_image, moving)
            attempt(work, halyard.Tensor.peek_image_info, moving)


def images(work):
    """Images that change while they are converted, encoded and normalised."""
    processor = halyard.ImageProcessor(threads=2)
    for _ in range(3):
        kind = work.chance.choice(["rgb", "rgba", "nv12", "yuyv", "planar_rgb", "grey"])
        source = samples.frame(120, 90, kind, work.seed)
        target = halyard.Tensor.image(64, 48, work.chance.choice(["rgb", "rgba", "grey"]),
                                      samples.MEM)
        floats = np.zeros((90, 120, 3), np.float32)
        with Changing(work, np.asarray(source)):
            for _ in range(40):
                work.call(f"convert, to_jpeg, to_png of a moving {kind}")
                attempt(work, processor.convert, source, target)
                made, error = attempt(work, source.to_jpeg)
                if error is None:
                    read, _ = attempt(work, halyard.Tensor.load_from_bytes, made)
                    work.equal(read is not None and (read.width, read.height) == (120, 90),
                               "a moving image became a file of another size")
                attempt(work, source.to_png)
                attempt(work, source.normalize_to_numpy, floats)


def outputs(work):
    """Outputs of models that change while boxes and masks are decoded from them."""
    output, protos = samples.many_objects(work.seed), samples.prototypes()
    decoder, processor = samples.segmenter(), halyard.ImageProcessor(threads=2)
    tracker = halyard.ByteTrack()
    with Changing(work, output), Changing(work, protos):
        for turn in range(40):
            work.call("decode, decode_proto, materialize_masks of moving outputs")
            found, error = attempt(work, decoder.decode, [output, protos])
            if error is None:
                work.equal(len(found.xyxy) == len(found.confidence) == len(found.masks) <= 300,
                           "a decode of moving outputs gives lists of several lengths")
            found, error = attempt(work, decoder.decode_proto, [output, protos])
            if error is None and found.protos is not None:
                attempt(work, processor.materialize_masks, *found)
            attempt(work, decoder.decode_tracked, tracker, turn, [output, protos])


def arrays(work):
    """Boxes and colours that change while they are tracked, merged and drawn."""
    boxes, scores, labels = samples.boxes(50)
    tracker, processor = halyard.ByteTrack(), halyard.ImageProcessor(threads=1)
    target = halyard.Tensor.image(64, 48, "rgb", samples.MEM)
    seg = np.zeros((8, 8, 1), np.uint8)
    with Changing(work, boxes), Changing(work, labels), Changing(work, seg):
        for turn in range(40):
            work.call("update, merge, draw of moving boxes")
            attempt(work, tracker.update, boxes, scores, labels, turn)
            attempt(work, halyard.merge_tiled_detections, boxes, scores, labels,
                    halyard.MergeConfig())
            attempt(work, processor.draw_decoded_masks, target, boxes, scores, labels, [seg])
            work.equal(target.shape == (48, 64, 3), "drawing changed the image's shape")


WAYS = {function.__name__: function for function in (files, images, outputs, arrays)}
PROGRAM = Program("moving_bytes", WAYS, cpu_s=100, wall_s=120, memory_mib=6144)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
