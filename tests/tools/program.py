# SPDX-License-Identifier: Apache-2.0
"""Runs the program `halyard` for the tests beside this file, and checks how it ends."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["HALYARD_PROGRAM"]
SOURCE = pathlib.Path(os.environ["HALYARD_SOURCE_DIR"])
HARBOUR = SOURCE / "examples" / "harbour"
CLIP = HARBOUR / "clip"
MODEL = HARBOUR / "harbour.onnx"
IMAGE = CLIP / "frame_0000.jpg"
DATA = os.environ.get("HALYARD_TESTDATA_DIR")

needs_engine = unittest.skipUnless(os.environ.get("HALYARD_HAS_ENGINE") == "1",
                                   "this build has no inference engine")
needs_video = unittest.skipUnless(os.environ.get("HALYARD_HAS_VIDEO") == "1",
                                  "this build has no FFmpeg")
needs_data = unittest.skipUnless(DATA, "HALYARD_TESTDATA_DIR is not set")


def npy(descr, shape, data, order="False"):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    header = header.ljust(118 - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def read_npy(path):
    raw = path.read_bytes()
    length = struct.unpack_from("<H", raw, 8)[0]
    return eval(raw[10:10 + length].decode()), raw[10 + length:]


def with_exif(orientation, jpeg):
    """A JPEG's bytes with an EXIF block that holds the orientation tag alone."""
    tiff = struct.pack("<2sHI HHHIHH I", b"II", 42, 8, 1, 0x112, 3, 1, orientation, 0, 0)
    block = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + jpeg[2:]


class ProgramTest(unittest.TestCase):
    """A folder of its own for each test, and the program as a call."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def write(self, name, content=""):
        """A file of the test's folder: of bytes, of a text, or of another value as JSON."""
        path = self.dir / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def first_frames(self, count=20):
        """A folder with the first images of the clip, beside the test's folder."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for image in sorted(CLIP.glob("*.jpg"))[:count]:
            (pathlib.Path(folder.name) / image.name).symlink_to(image)
        return pathlib.Path(folder.name)

    def read_json(self, name):
        return json.loads((self.dir / name).read_text())

    def run_program(self, *args, **options):
        return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, timeout=240,
                              **options)

    def succeed(self, *args, **options):
        done = self.run_program(*args, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def succeed_json(self, *args, **options):
        return json.loads(self.succeed(*args, **options))

    def frames_of(self, *args, **options):
        """What a command that takes --json writes of each frame."""
        return self.succeed_json(*args, "--json", "-", **options)["frames"]

    def fail_with(self, code, *args, says="", **options):
        """One line on stderr that starts with the program's name and holds `says`."""
        done = self.run_program(*args, **options)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, code, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith("halyard: "), text)
        self.assertIn(says, text)
        return text

    def assert_only(self, *names):
        """The test's folder holds these files and no half-written one."""
        self.assertEqual(sorted(entry.name for entry in self.dir.iterdir()), sorted(names))
