#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files with changed bytes: images and descriptions through the package, and decoders on any
outputs; .npy, MOT, COCO, ONNX, TFLite, labels and videos through the program. Each must be refused
with a message, or accepted. fuzz/ searches the same inputs with libFuzzer."""
import io
import json
import os
import sys
import zipfile

import numpy as np

import halyard
import samples
import tool
from common import Failure, Program, attempt, main

SPEC = json.dumps(samples.models.config())
YAML = """outputs:
  - {type: detection, decoder: ultralytics, normalized: true, shape: [1, 9, 400],
     dshape: [[batch, 1], [num_features, 9], [num_boxes, 400]], quantization: [0.5, 3]}
  - {type: protos, decoder: ultralytics, shape: [1, 16, 16, 8]}
nms: class_agnostic
"""


def told(error, words):
    """Checks that the error is ours: a class of halyard, or a type of Python's own calls; with a
    message."""
    text = str(error)
    if "nanobind" in text or "conversion error" in text or "std::" in text or not text:
        raise Failure(f"{words}: {error!r}")
    if type(error) is RuntimeError:
        raise Failure(f"{words}: a bare RuntimeError: {text}")


def images(work):
    ready = halyard.Tensor([512 * 512 * 3], "uint8", samples.MEM)
    for _ in range(120):
        data = samples.mutate(work.chance, work.chance.choice(samples.JPEGS + samples.PNGS),
                              samples.JPEGS + samples.PNGS)
        work.input(data)
        work.call(f"load, decode_image, peek of {len(data)} bytes")
        for call in (halyard.Tensor.load_from_bytes, ready.decode_image,
                     halyard.Tensor.peek_image_info):
            made, error = attempt(work, call, data)
            if error is not None:
                told(error, call.__name__)
            elif isinstance(made, halyard.Tensor):
                view = np.asarray(made)
                work.equal(view.size == 0 or int(view.flat[-1]) >= 0, "pixels")


def exif(work):
    """EXIF blocks: sizes, offsets and loops."""
    blocks = [path.read_bytes() for path in sorted((samples.CORPUS / "codec_exif").iterdir())]
    plain = samples.frame().to_jpeg()
    for _ in range(120):
        block = b"Exif\0\0" + samples.mutate(work.chance, work.chance.choice(blocks), blocks)
        block = block[:65533]
        data = plain[:2] + b"\xff\xe1" + (len(block) + 2).to_bytes(2, "big") + block + plain[2:]
        work.input(data)
        work.call("peek and load with an EXIF block")
        info, error = attempt(work, halyard.Tensor.peek_image_info, data)
        work.equal(error is None and info.rotation_degrees in (0, 90, 180, 270),
                   f"a bad EXIF block: {error!r}")
        attempt(work, halyard.Tensor.load_from_bytes, data)


def random_outputs(chance):
    """Tensors of the shapes that descriptions name, or nearly."""
    out = []
    for _ in range(chance.randrange(1, 4)):
        shape = chance.choice([(1, 9, 400), (1, 400, 9), (1, 16, 16, 8), (1, 17, 400), (1, 9, 4)])
        kind = chance.choice(["f4", "f4", "u1", "i1", "i2", "f2"])
        count = int(np.prod(shape))
        out.append(np.frombuffer(chance.randbytes(count * np.dtype(kind).itemsize),
                                 kind).reshape(shape))
    return out


def descriptions(work):
    """JSON and YAML; a document that becomes a decoder then decodes tensors of any values."""
    processor = halyard.ImageProcessor(threads=1)
    for _ in range(60):
        is_json = work.chance.random() < 0.5
        data = samples.mutate(work.chance, (SPEC if is_json else YAML).encode(), [b"{}", b"[1, 2]"],
                              True)
        text = data.decode("utf-8", "replace" if work.chance.random() < 0.7 else "surrogateescape")
        call = halyard.Decoder.new_from_json_str if is_json else halyard.Decoder.new_from_yaml_str
        work.input(data)
        work.call(f"{call.__name__} {text[:200]!r}")
        decoder, error = attempt(work, lambda t: call(t, input_dims=samples.models.INPUT), text)
        if error is not None:
            if not isinstance(error, (UnicodeError, TypeError)):
                told(error, call.__name__)
            continue
        for _ in range(3):
            attempt(work, decoder.decode, random_outputs(work.chance))
            found, error = attempt(work, decoder.decode_proto, random_outputs(work.chance))
            if error is None and found.protos is not None:
                attempt(work, processor.materialize_masks, *found)


def words(work):
    """Names, labels and paths with any letters: errors keep their class."""
    odd = ["\u00e9", "\udcff", "\0", "a" * 5000, "\u4e2d" * 40, "a" * 63 + "\u00e9", "\x1b]0;x\a"]
    for word in odd:
        work.call(f"names {word[:9]!r}")
        uses = [lambda w: halyard.load(w + ".jpg"), lambda w: halyard.Tensor((4,), name=w),
                lambda w: halyard.Decoder.new_from_json_str('{"outputs": ' + w + "}"),
                lambda w: halyard.Decoder.new_from_yaml_str("outputs: [" + w),
                lambda w: halyard.TrackInfo(w, [0, 0, 1, 1], 1, 0, 0),
                lambda w: halyard.Tensor.image(8, 8, w), lambda w: halyard.Tensor((4,), w),
                lambda w: samples.frame().save_png(work.folder / w / "a.png")]
        for use in uses:
            _, error = attempt(work, use, word)
            if error is not None and not isinstance(error, (UnicodeError, TypeError, ValueError)):
                told(error, f"{word[:9]!r}")
    missing = os.fsdecode(bytes(work.folder) + b"/\xff.jpg")
    work.call(f"load of {missing!r}, which is missing")
    _, error = attempt(work, halyard.load, missing)
    work.equal(isinstance(error, FileNotFoundError), f"a missing file with another name: {error!r}")


def mutated(work, name, data, others=(), text=False):
    path = work.folder / name
    path.write_bytes(samples.mutate(work.chance, data, others, text))
    work.input(path.read_bytes())
    return path


def npy(work):
    stream = io.BytesIO()
    np.save(stream, samples.detection_output())
    for _ in range(8):
        path = mutated(work, "a.npy", stream.getvalue()[:work.chance.choice([200, 20000])])
        tool.run(work, ["decode", path, "--input-size", "64x64", "--box-units", "fraction"])
        tool.run(work, ["convert", path, work.folder / "o.png", "--input-format", "grey"])


def mot(work):
    lines = "".join(f"{i},1,{i},10,20,20,0.9,-1,-1,-1\n" for i in range(1, 30)).encode()
    for _ in range(6):
        path = mutated(work, "mot.txt", lines, [lines], True)
        tool.run(work, ["track", "--mot", path, "--out", work.folder / "o.txt"])
        tool.run(work, ["track", "--mot", path, "--gt", path])


def coco(work):
    truth = json.dumps({"images": [{"id": 1, "width": 60, "height": 40, "file_name": "a.jpg"}],
                        "categories": [{"id": 1, "name": "a"}], "annotations": [
                            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 20],
                             "area": 600, "iscrowd": 0,
                             "segmentation": [[1.0, 2.0, 30.0, 2.0, 30.0, 20.0, 1.0, 20.0]]}]})
    found = json.dumps([{"image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 20], "score": 0.5,
                         "segmentation": {"size": [40, 60], "counts": [100, 2300]}}])
    for _ in range(6):
        gt = mutated(work, "gt.json", truth.encode(), [found.encode()], True)
        dt = work.folder / "dt.json"
        dt.write_text(found)
        if work.chance.random() < 0.5:
            gt.write_text(truth)
            dt = mutated(work, "dt.json", found.encode(), [truth.encode()], True)
        tool.run(work, ["val", "--gt", gt, "--detections", dt,
                        *work.chance.choice([(), ("--masks",)])])


def model_files(work):
    """ONNX and TFLite with an archive of metadata, as `info` reads them."""
    onnx = tool.MODEL.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", work.chance.choice([zipfile.ZIP_STORED,
                                                          zipfile.ZIP_DEFLATED])) as archive:
        archive.writestr("metadata.json", json.dumps({"task": "detect", "names": {"0": "a"}}))
        archive.writestr("labels.txt", "a\nb\n" * 200)
        archive.writestr("edgefirst.yaml", YAML)
    tflite = b"\x1c\0\0\0TFL3" + bytes(200)
    for _ in range(3):
        if work.chance.random() < 0.5:
            path = mutated(work, "a.onnx", onnx[:work.chance.choice([3000, len(onnx)])])
        else:
            path = mutated(work, "a.tflite", tflite + packed.getvalue(), [packed.getvalue()])
        tool.run(work, ["info", path, *work.chance.choice([(), ("--json",)])])


def videos(work):
    """Damaged containers of every kind that the program writes, from files and from a pipe."""
    end = work.chance.choice(["mp4", "mkv", "mov", "avi", "webm"])
    whole = work.folder / f"whole.{end}"
    frames = tool.FRAMES[:3]
    if tool.run(work, ["run", "-m", tool.MODEL, *frames, "-q", "--out", whole]).code != 0:
        return
    data = work.chance.choice([whole.read_bytes(), b"".join(f.read_bytes() for f in frames)])
    for _ in range(4):
        path = mutated(work, f"a.{work.chance.choice([end, end, 'mjpeg', 'avi'])}", data)
        if work.chance.random() < 0.3:
            with open(path, "rb") as stream:
                tool.run(work, ["run", "-m", tool.MODEL, "-", "-q"], streams={"stdin": stream})
        else:
            tool.run(work, ["run", "-m", tool.MODEL, path, "-q", "--json", "-"])


def terminal(work):
    """Names and labels of files are printed without control characters of a terminal."""
    bad = work.chance.choice(["a\x1b]0;pwned\x07\nb", "a\rb", "a\xc2\x9b2Jb", "\u009b2J", "a\x7fb",
                              "a\x08\x08b", "\x9b\x9b"])
    name = os.fsencode(bad)
    image = os.path.join(bytes(work.folder), name + b".jpg")
    with open(image, "wb") as out:
        out.write(tool.FRAMES[0].read_bytes())
    labels = work.folder / "labels.txt"
    labels.write_bytes(b"\n".join([name.replace(b"\n", b"")] * 3))
    np.save(work.folder / "a.npy", samples.detection_output())
    image = os.fsdecode(image)
    for arguments in (["info", image], ["info", image + "x"],
                      ["run", "-m", tool.MODEL, image, "--labels", labels],
                      ["run", "-m", tool.MODEL, image, "--stats"],
                      ["run", "-m", image, image],
                      ["decode", work.folder / "a.npy", "--labels", labels, "--input-size", "64x64",
                       "--box-units", "fraction"],
                      ["convert", image, image + ".png", "--tiles", "200x200"],
                      ["convert", image, image + ".png", "--explain"],
                      ["track", "--mot", image],
                      ["val", "--gt", image, "--detections", image]):
        done = tool.run(work, arguments)
        lines = (done.out + done.err).split(b"\n")
        work.equal(not any(line.startswith(b"b.jpg") for line in lines), "a name forges a line")


WAYS = {function.__name__: function for function in (
    images, exif, descriptions, words, npy, mot, coco, model_files, videos, terminal)}
PROGRAM = Program("bad_files", WAYS, cpu_s=100, wall_s=120, memory_mib=8192)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
