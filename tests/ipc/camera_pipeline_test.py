# SPDX-License-Identifier: Apache-2.0
"""The three processes of examples/camera_pipeline.cpp, each of them killed again and again: the
others go on, images come again soon after it is back, and nothing is ever copied.

    camera_pipeline_test.py PROGRAM [CLIP]
"""
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest

PROGRAM = sys.argv.pop(1)
CLIP = [sys.argv.pop(1)] if len(sys.argv) > 1 else []
LIMIT = 30  # seconds; a machine with other work may take some to start a program
ROUNDS = 4
LINE = re.compile(r"image (\d+): \[(\S+) (\S+) (\S+) (\S+)\] red (\d+), (\S+) ms old, (\d+) lost, "
                  r"(\d+) copies\n")


class Pipeline(unittest.TestCase):
    def setUp(self):
        self.namespace = f"c{os.getpid()}"
        self.processes, self.images, self.longest = {}, queue.Queue(), 0.0
        self.addCleanup(self.end)

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
        base = os.environ.get("HALYARD_SHM_DIR", "/dev/shm")
        shutil.rmtree(f"{base}/halyard-{os.geteuid()}/{self.namespace}", ignore_errors=True)

    def start(self, role):
        process = subprocess.Popen(
            [PROGRAM, role, *(CLIP if role == "capture" else [])], stdout=subprocess.PIPE,
            text=True, env=dict(os.environ, HALYARD_NAMESPACE=self.namespace))
        self.processes[role] = process
        threading.Thread(target=self.listen, args=(process,), daemon=True).start()

    def listen(self, process):
        with process.stdout as lines:
            for line in lines:
                # A line that a killed process had begun ends early.
                if line.endswith("\n"):
                    self.images.put((line, process))

    def next_image(self, deadline):
        """The number of the next image, of which all that can be checked is."""
        line, _ = self.images.get(timeout=max(0.001, deadline - time.monotonic()))
        match = LINE.fullmatch(line)
        self.assertTrue(match, line)
        number, red, copies = int(match[1]), int(match[6]), int(match[9])
        self.assertEqual(copies, 0, line)
        left, top, right, bottom = (float(match[i]) for i in range(2, 6))
        self.assertTrue(0 <= left < right <= 640 and 0 <= top < bottom <= 360, line)
        if not CLIP:
            self.assertEqual(red, 255, line)
            self.assertLessEqual(right - left, 140, line)
        return number

    def expect_images(self, last, count=5):
        """`count` images after `last`, in their order. The last one's number."""
        start = time.monotonic()
        deadline, seen = start + LIMIT, 0
        while seen < count:
            try:
                number = self.next_image(deadline)
            except queue.Empty:
                self.fail(f"{seen} of {count} images within {LIMIT} s")
            if number > last:
                last, seen = number, seen + 1
            else:
                self.assertEqual(seen, 0, "numbers go back")
        for role, process in self.processes.items():
            self.assertIsNone(process.poll(), f"{role} has ended")
        self.longest = max(self.longest, time.monotonic() - start)
        return last

    def test_each_may_be_killed(self):
        for role in ("view", "detect", "capture"):
            self.start(role)
        last = self.expect_images(0)
        for i in range(ROUNDS):
            for role in ("capture", "detect", "view"):
                with self.subTest(round=i, killed=role):
                    self.processes[role].kill()
                    self.processes[role].wait()
                    if i % 2 == 0:
                        time.sleep(0.2)  # the others see that it is gone
                    while not self.images.empty():
                        last = max(last, self.next_image(time.monotonic() + 1))
                    for other, process in self.processes.items():
                        if other != role:
                            self.assertIsNone(process.poll(), f"{other} has ended")
                    self.start(role)
                    last = self.expect_images(last)
        print(f"images were missing for {self.longest:.2f} s at most")


if __name__ == "__main__":
    unittest.main()
