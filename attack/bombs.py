#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that need much work or memory: scans, pixels, deep and aliased documents,
outlines, frame numbers, playlists, endless sources. Each must be refused, or finish, below a limit
of memory and of processor time that is many times the need of an honest file of its size."""
import json
import os
import resource
import sys
import threading
import time
import zlib

import numpy as np

import halyard
import samples
import tool
from common import SANITIZED, SLOWER, Failure, Program, attempt, main


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def within(work, words, memory_mib, cpu_s, call, *arguments, **named):
    """Makes a call that may be refused, and checks its limits."""
    work.call(words)
    memory, begin = peak_mib(), time.process_time()
    attempt(work, call, *arguments, **named)
    took, grown = time.process_time() - begin, peak_mib() - memory
    work.equal(took <= cpu_s * SLOWER, f"{words}: {took:.1f} s of processor time, at most {cpu_s}")
    work.equal(SANITIZED or grown <= memory_mib, f"{words}: {grown} MiB, at most {memory_mib}")


def program_within(work, memory_mib, cpu_s, *arguments, **options):
    done = tool.run(work, arguments, wall_s=100, **options)
    words = " ".join(map(str, arguments))
    work.equal(done.cpu_s <= cpu_s * SLOWER, f"{words}: {done.cpu_s:.1f} s, at most {cpu_s}")
    work.equal(SANITIZED or done.peak_mib <= memory_mib,
               f"{words}: {done.peak_mib} MiB, at most {memory_mib}")
    return done


class Bits:
    """Bits of a JPEG's scan, with zeros stuffed after 0xFF."""

    def __init__(self):
        self.text = []

    def add(self, value, count):
        self.text.append(format(value, f"0{count}b") if count else "")

    def bytes(self):
        text = "".join(self.text)
        text += "1" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")


def segment(marker, data):
    return bytes([0xFF, marker]) + (len(data) + 2).to_bytes(2, "big") + data


def empty_scan(blocks):
    """A scan of one band in which no block has a coefficient: runs of EOB of 2^k and k bits."""
    bits = Bits()
    while blocks:
        run = min(blocks, 32767)
        power = run.bit_length() - 1
        bits.add(power, 4)
        bits.add(run - (1 << power), power)
        blocks -= run
    return bits.bytes()


def scan_bomb(side, scans):
    """A valid progressive grey JPEG of `scans` scans that visit all blocks but change nothing."""
    blocks = (side // 8) ** 2
    out = [b"\xff\xd8", segment(0xDB, b"\0" + bytes([1] * 64)),
           segment(0xC2, b"\x08" + side.to_bytes(2, "big") * 2 + b"\x01\x01\x11\0"),
           segment(0xC4, b"\0" + bytes([1] + [0] * 15) + b"\0"),
           segment(0xC4, b"\x10" + bytes([0, 0, 0, 15] + [0] * 12) + bytes(range(0, 0xF0, 16))),
           segment(0xDA, b"\x01\x01\x00\x00\x00\x00"), bytes(blocks // 8)]
    empty, left = empty_scan(blocks), scans - 1
    for band in range(1, 64):
        for high, low in [(0, 13)] + [(bit + 1, bit) for bit in range(12, -1, -1)]:
            if left > 0:
                left -= 1
                head = bytes([1, 1, 0, band, band, high << 4 | low])
                out += [segment(0xDA, head), empty]
    return b"".join(out) + b"\xff\xd9"


def scans(work):
    side = 16384
    data = scan_bomb(side, 882)
    work.input(data)
    within(work, f"JPEG of {len(data)} bytes, {side} x {side}, 882 scans", 1100, 5,
           halyard.Tensor.load_from_bytes, data)


def honest_scans(work):
    """The same file with few scans, which must be accepted: this shows that the file is valid."""
    data = scan_bomb(512, 12)
    tensor, error = attempt(work, halyard.Tensor.load_from_bytes, data)
    work.equal(error is None and tensor.width == 512, f"a valid JPEG of 12 scans: {error}")


def pixels(work):
    """A PNG of a palette with transparency: decodes to thousands of times the file's bytes."""
    side, depth = 16384, work.chance.choice([1, 2])
    row = bytes(1 + side * depth // 8)
    packer = zlib.compressobj(9)
    rows = b"".join([packer.compress(row) for _ in range(side)]) + packer.flush()
    before = [(b"PLTE", bytes(3 << depth)), (b"tRNS", bytes(1 << depth))]
    data = samples.png(side, side, rows, depth, 3, before)
    work.input(data)
    within(work, f"PNG of {len(data)} bytes, {side} x {side}", 600, 8,
           halyard.Tensor.load_from_bytes, data)


def headers(work):
    """Sizes that no memory holds, ten thousands of chunks, texts that expand to much."""
    zeros = zlib.compress(bytes(1 << 24), 9)
    small = zlib.compress(bytes(72))
    large = scan_bomb(512, 2).replace(b"\x02\x00\x02\x00", b"\xff\xdc" * 2)
    files = {"PNG of 65500 x 65500": samples.png(65500, 65500, zeros, 16, 6),
             "PNG of 2^31 - 1": samples.png(2**31 - 1, 2**31 - 1, zeros, 16, 6),
             "zTXt": samples.png(8, 8, small, before=[(b"zTXt", b"a\0\0" + zeros)]),
             "iCCP": samples.png(8, 8, small, before=[(b"iCCP", b"a\0\0" + zeros)]),
             "50,000 chunks": samples.png(8, 8, small, before=[(b"tEXt", b"a\0b")] * 50000),
             "JPEG of 65500 x 65500": large}
    for name, data in files.items():
        work.input(data)
        for call in (halyard.Tensor.load_from_bytes, halyard.Tensor.peek_image_info):
            within(work, f"{name}, {len(data)} bytes", 200, 4, call, data)


def documents(work):
    """Nested and aliased descriptions."""
    deep = work.chance.choice([450, 2000, 100000])
    alias = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    texts = {"arrays": "[" * deep + "]" * deep, "objects": '{"a":' * deep + "1" + "}" * deep,
             "flows": "outputs: " + "[" * deep + "]" * deep, "lists": "- " * deep + "a",
             "keys": "".join(" " * i + "a:\n" for i in range(min(deep, 1500))),
             "aliases": alias, "merges": alias + "outputs: *a11\n",
             "anchors": "outputs: " + "&a " * deep + "x", "tags": "outputs: " + "!!seq " * deep}
    for name, text in texts.items():
        work.input(text.encode())
        for call in (halyard.Decoder.new_from_json_str, halyard.Decoder.new_from_yaml_str):
            within(work, f"{name} {deep} deep by {call.__name__}", 200, 5, call, text)


def small_stack(work):
    """The same in a thread with the smallest stack that Python allows."""
    if SANITIZED:
        return  # stack frames are larger with a sanitizer
    threading.stack_size(64 << 10)
    texts = ["[" * 450 + "]" * 450, "outputs: " + "[" * 450 + "]" * 450, "- " * 450 + "a",
             "".join(" " * i + "a:\n" for i in range(450)), '{"a":' * 450 + "1" + "}" * 450]

    def body():
        for text in texts:
            for call in (halyard.Decoder.new_from_json_str, halyard.Decoder.new_from_yaml_str):
                work.call(f"{call.__name__} of {text[:12]}... in a thread of 64 kB")
                attempt(work, call, text)
        attempt(work, halyard.Tensor.load_from_bytes, samples.JPEGS[0])
        attempt(work, halyard.Tensor.load_from_bytes, samples.PNGS[0])
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    threading.stack_size(0)
    work.counts["equal"] += 1


def polygons(work):
    """Outlines that cross all columns of the largest image, over and over."""
    count = work.chance.choice([60, 100])
    zigzag = [float(value) for i in range(50) for value in (65534 * (i % 2), i * 1300)]
    truth = {"images": [{"id": 1, "width": 65535, "height": 65535, "file_name": "a.jpg"}],
             "categories": [{"id": 1, "name": "a"}],
             "annotations": [{"id": i, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9],
                              "area": 81, "iscrowd": 0, "segmentation": [zigzag]}
                             for i in range(count)]}
    (work.folder / "gt.json").write_text(json.dumps(truth))
    (work.folder / "dt.json").write_text(json.dumps(
        [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5,
          "segmentation": {"size": [65535, 65535], "counts": [65535 ** 2]}}]))
    work.input((work.folder / "gt.json").read_bytes())
    program_within(work, 400, 5, "val", "--gt", work.folder / "gt.json", "--detections",
                   work.folder / "dt.json", "--masks")


def frames(work):
    """Two lines of MOT text whose frame numbers are far apart."""
    number = work.chance.choice([10**7, 9999999])
    path = work.folder / "mot.txt"
    path.write_text(f"1,1,10,10,20,20,0.9\n{number},1,10,10,20,20,0.9\n")
    extra = work.chance.choice([(), ("--gt", path)])
    program_within(work, 200, 4, "track", "--mot", path, "--out", work.folder / "o.txt", *extra)


def endless(work):
    """Sources without an end: reading must stop at the limit."""
    for command in (("info", "/dev/zero"), ("convert", "/dev/zero", work.folder / "o.png"),
                    ("val", "--gt", "/dev/zero", "--detections", "/dev/zero"),
                    ("track", "--out", work.folder / "o.txt", "--mot", "/dev/zero")):
        program_within(work, 1200, 15, *command)


def playlists(work):
    """Lists that name other files, under every container's name: no named file may be opened."""
    secret = work.folder / "secret.mp4"
    made = tool.run(work, ["run", "-m", tool.MODEL, *tool.FRAMES[:4], "-q", "--out", secret])
    if made.code != 0:
        return  # a build without videos or without an engine
    uri = work.chance.choice([secret.as_uri(), str(secret), "secret.mp4", f"file:{secret}"])
    lists = {"hls": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n" + uri + "\n#EXT-X-ENDLIST\n",
             "concat": f"ffconcat version 1.0\nfile '{uri}'\n",
             "dash": "<?xml version='1.0'?><MPD type='static' "
                     "xmlns='urn:mpeg:dash:schema:mpd:2011'>"
                     f"<Period><AdaptationSet mimeType='video/mp4'><Representation id='0'><BaseURL>"
                     f"{uri}</BaseURL></Representation></AdaptationSet></Period></MPD>",
             "sdp": "v=0\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\na=control:" + uri + "\n"}
    for name in work.chance.sample(sorted(lists) * 2 + ["hls", "concat"] * 2, 6):
        play(work, secret, name, lists[name])


def play(work, secret, name, text):
    ends = ["mp4", "avi", "m3u8", "mkv", "ffconcat", "mpd", "ts", "sdp"]
    path = work.folder / f"list.{work.chance.choice(ends)}"
    path.write_text(text)
    work.input(path.read_bytes())
    from_stdin = work.chance.random() < 0.3
    with tool.Opened(secret) as opened:
        source = "-" if from_stdin else path
        with open(path, "rb") as stream:
            tool.run(work, ["run", "-m", tool.MODEL, source, "-q"], folder=work.folder,
                     streams={"stdin": stream} if from_stdin else {})
    if opened.times:
        raise Failure(f"{path.name}, a list ({name}): the file that it names was opened: {text}")


def wandering_images(work):
    """Ground truth whose images are outside the given folder."""
    inside, outside = work.folder / "in", work.folder / "out.jpg"
    inside.mkdir()
    outside.write_bytes(tool.FRAMES[0].read_bytes())
    os.symlink(outside, inside / "link.jpg")
    os.mkfifo(inside / "pipe.jpg")
    labels = (tool.HARBOUR / "labels.txt").read_text().split()
    name = work.chance.choice(["../out.jpg", str(outside), "a/../../out.jpg", "pipe.jpg"])
    (work.folder / "gt.json").write_text(json.dumps(
        {"images": [{"id": 1, "width": 640, "height": 480, "file_name": name}],
         "categories": [{"id": i, "name": label} for i, label in enumerate(labels)],
         "annotations": []}))
    with tool.Opened(outside) as opened:
        tool.run(work, ["val", "--gt", work.folder / "gt.json", "-m", tool.MODEL, "--images",
                        inside], wall_s=20)
    work.equal(opened.times == 0, f"file_name {name!r} was opened")


def sequences(work):
    """Sequences that are counted before they are read."""
    image = samples.frame()
    processor = halyard.ImageProcessor(threads=1)
    calls = {"Tensor(range)": lambda many: halyard.Tensor(many),
             "reshape(range)": image.reshape,
             "letterbox=range": lambda many: processor.convert(image, samples.frame(8, 8),
                                                               letterbox=many),
             "pad=range": lambda many: processor.convert(image, samples.frame(8, 8), pad=many),
             "TrackInfo(range)": lambda many: halyard.TrackInfo("0" * 32, many, 1, 0, 0),
             "set_class_colors": lambda many: processor.set_class_colors([many]),
             "item": lambda many: image[tuple(many[:10**6])],
             "tracks": lambda many: halyard.ActiveTrackInfo(
                 halyard.TrackInfo("0" * 32, [0, 0, 1, 1], 1, 0, 0), many, 0.5, 1)}
    for name, call in calls.items():
        within(work, f"{name} of 10^7", 64, 3, call, range(10**7))


def outputs(work):
    """Outputs in which every anchor is an object."""
    decoder = samples.decoder(**{})
    full = np.full((1, 9, 400), 0.9, np.float32)
    within(work, "400 candidates, all over the threshold", 200, 4, decoder.decode, [full])
    boxes = np.tile(np.array([[0, 0, 9, 9]], np.float32), (100000, 1))
    within(work, "100,000 equal boxes to merge", 300, 8, halyard.merge_tiled_detections, boxes,
           np.full(100000, 0.5, np.float32), np.zeros(100000, np.int64), halyard.MergeConfig())
    within(work, "5000 boxes to track", 300, 10, halyard.ByteTrack().update, boxes[:5000],
           np.full(5000, 0.9, np.float32), np.zeros(5000, np.int64), 1)


WAYS = {function.__name__: function for function in (
    scans, honest_scans, pixels, headers, documents, small_stack, polygons, frames, endless,
    playlists, wandering_images, sequences, outputs)}
PROGRAM = Program("bombs", WAYS, cpu_s=120, wall_s=150, memory_mib=8192)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
