# SPDX-License-Identifier: Apache-2.0
"""examples/negotiated_frames.cpp and its viewer in Python: one layout from the camera to NumPy,
without a copy, and what halyard pool ls says of the frames meanwhile.

    negotiated_frames_test.py PROGRAM HALYARD VIEWER IMAGE
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

IMAGE, VIEWER, HALYARD, PROGRAM = (sys.argv.pop() for _ in range(4))
LIMIT = 60  # seconds


class NegotiatedFrames(unittest.TestCase):
    def setUp(self):
        self.environment = dict(os.environ, HALYARD_NAMESPACE=f"n{os.getpid()}")
        base = os.environ.get("HALYARD_SHM_DIR", "/dev/shm")
        folder = f"{base}/halyard-{os.geteuid()}/{self.environment['HALYARD_NAMESPACE']}"
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)

    def start(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                   env=self.environment)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        process.kill()
        process.wait()
        process.stdout.close()

    def test_frames_lie_the_same_everywhere(self):
        # It sends until it is killed: the viewer takes its time to start.
        frames = self.start(PROGRAM, IMAGE, "100000")
        agreed = frames.stdout.readline()
        self.assertIn("rgba 600x400 pitch 2560", agreed)
        self.assertIn("tensor NHWC u8 [1,400,600,4]", agreed)
        viewer = self.start(sys.executable, VIEWER, "10")
        seen, _ = viewer.communicate(timeout=LIMIT)
        self.assertEqual(viewer.returncode, 0, seen)
        self.assertIn("(400, 600, 4) strides (2560, 4, 1)", seen)
        self.assertIn("10 frames, 0 copies", seen)
        self.assertGreater(float(re.search(r"mean (\S+)", seen)[1]), 1.0, "a real image")
        pools = subprocess.run([HALYARD, "pool", "ls"], check=True, capture_output=True, text=True,
                               env=self.environment, timeout=LIMIT).stdout
        self.assertRegex(pools, r"negotiated/frames +rgba 600x400 pitch 2560, u8 \[1, 400, 600,")

    def test_the_publisher_copies_nothing(self):
        frames = self.start(PROGRAM, IMAGE, "5")
        text, _ = frames.communicate(timeout=LIMIT)
        self.assertEqual(frames.returncode, 0, text)
        self.assertIn("5 frames, 0 copies", text)


if __name__ == "__main__":
    unittest.main()
