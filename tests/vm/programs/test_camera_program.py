# SPDX-License-Identifier: Apache-2.0
"""halyard run and serve on a camera: what a person sees in the first minutes with a board."""
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
from program import MODEL, PROGRAM, ProgramTest  # noqa: E402
from serving import ServingTest  # noqa: E402

from cameras import BUFFER_EACH, ONE_BUFFER  # noqa: E402

NOBODY = 65534


class CameraRunTest(ProgramTest):
    def wait_for_frames_in(self, path, count, process):
        end = time.monotonic() + 60
        while not path.exists() or path.read_text().count('"index"') < count:
            self.assertLess(time.monotonic(), end, "it reads no frames")
            self.assertIsNone(process.poll(), "it ended")
            time.sleep(0.05)

    def run_until(self, count, camera, *args):
        """Ends `halyard run` by Ctrl-C once its JSON has `count` frames. What it printed, and the
        JSON."""
        path = self.dir / f"{pathlib.Path(camera).name}.json"
        process = subprocess.Popen(
            [PROGRAM, "run", "--camera", camera, "--model", str(MODEL), "--json", str(path),
             "--stats", "-q", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            self.wait_for_frames_in(path, count, process)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=30)
        finally:
            process.kill()
            process.wait()
        self.assertEqual(process.returncode, 130, said)
        return said, json.loads(path.read_text())

    def test_frames_come_without_a_copy_until_ctrl_c(self):
        for camera in ONE_BUFFER, BUFFER_EACH:
            said, seen = self.run_until(30, camera, "--track")
            self.assertIn("copies per frame 0.0 (0 bytes)", said)
            numbers = [frame["index"] for frame in seen["frames"]]
            self.assertEqual(numbers, sorted(set(numbers)))
            self.assertEqual({frame["source"] for frame in seen["frames"]}, {camera})
            for frame in seen["frames"]:
                self.assertGreater(min(frame["width"], frame["height"]), 0)
                self.assertGreater(frame["timing_us"]["model"], 0)

    def test_a_camera_in_use_is_named(self):
        path = self.dir / "seen.json"
        with subprocess.Popen([PROGRAM, "run", "--camera", ONE_BUFFER, "--model", str(MODEL),
                               "--json", str(path), "-q"], stderr=subprocess.DEVNULL) as holder:
            try:
                self.wait_for_frames_in(path, 1, holder)
                self.fail_with(1, "run", "--camera", ONE_BUFFER, "--model", MODEL,
                               says=f"{ONE_BUFFER}: camera: another program uses it")
            finally:
                holder.send_signal(signal.SIGINT)
        self.assertEqual(holder.returncode, 130)

    def test_a_camera_without_permission_names_the_group(self):
        done = subprocess.run(
            [PROGRAM, "run", "--camera", ONE_BUFFER, "--model", str(MODEL)], text=True,
            capture_output=True, timeout=60, check=False, user=NOBODY, group=NOBODY,
            extra_groups=[])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(ONE_BUFFER, done.stderr)
        self.assertIn("video", done.stderr)

    def test_a_camera_that_is_not_there_is_named(self):
        missing = "/dev/video60"
        self.assertFalse(os.path.exists(missing))
        self.fail_with(1, "run", "--camera", missing, "--model", MODEL, says=missing)


class CameraServeTest(ServingTest):
    def images(self, count):
        """Images of /stream.mjpg."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", "/stream.mjpg")
        stream = connection.getresponse()
        out = []
        while len(out) < count:
            line = stream.fp.readline()
            if line.startswith(b"Content-Length:"):
                stream.fp.readline()
                out.append(stream.fp.read(int(line.split()[1])))
        return out

    def test_a_browser_sees_the_camera_move(self):
        self.serve("--camera", BUFFER_EACH)
        images = self.images(5)
        self.assertEqual(len(set(images)), 5)
        for image in images:
            self.assertEqual((image[:2], image[-2:]), (b"\xff\xd8", b"\xff\xd9"))
        self.wait_for_frames(20)
        _, state = self.get("/api/state")
        self.assertEqual(state["status"], "running")
        self.assertIsNone(state["error"])
        self.assertEqual(state["source"]["name"], BUFFER_EACH)
        self.assertEqual(state["copies"]["count"], 0)
        self.assertGreater(state["frames"]["rate"], 0)
        self.assertRegex(self.get("/metrics")[1], r"(?m)^halyard_frames_total\S* [1-9]")

    def test_a_paused_camera_goes_on_later(self):
        self.serve("--camera", ONE_BUFFER)
        self.wait_for_frames(5)
        self.pause_and_resume()
