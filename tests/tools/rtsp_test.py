# SPDX-License-Identifier: Apache-2.0
"""RTSP cameras in the live view: shown, lost and found again, with their password kept secret."""
import json
import signal
import subprocess
import unittest

from program import CLIP, MODEL, PROGRAM, needs_engine, needs_video
from rtsp_camera import RtspCamera, access_units
from serving import ServingTest

SPS = 7


@needs_engine
@needs_video
class RtspTest(ServingTest):
    frames = None  # of a camera, written by the first test

    def setUp(self):
        super().setUp()
        if RtspTest.frames is None:
            path = self.dir / "camera.avi"
            self.succeed("run", CLIP, "--model", MODEL, "--quiet", "--out", path)
            RtspTest.frames = access_units(path.read_bytes())
        if not self.frames or SPS not in [unit[0] & 0x1F for unit in self.frames[0]]:
            self.skipTest("this machine writes no H.264")

    def camera(self, **options):
        camera = RtspCamera(self.frames, **options)
        self.addCleanup(camera.close)
        return camera

    def end(self):
        """Ends it by Ctrl-C. Returns what it printed: a loss is a line of the log."""
        if self.process.stdout.closed:
            return ""
        self.process.send_signal(signal.SIGINT)
        text, _ = self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 130, text)
        return text

    def serve_later(self, *args):
        """As serve(), for an input that is not there yet. Returns what it printed before."""
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--model", str(MODEL), "--listen", ":0", *map(str, args)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.end)
        return self.process.stdout.readline()

    def state(self):
        return self.get("/api/state")[1]

    def test_a_camera_is_shown_and_shown_again_after_a_loss(self):
        camera = self.camera()
        self.serve(camera.address(), "--track")
        self.wait_for_frames(5)
        state = self.state()
        self.assertEqual((state["source"]["width"], state["source"]["height"]), (640, 360))
        self.assertEqual(state["status"], "running")
        self.wait_until(lambda: self.state()["objects"]["detections"] > 0)
        camera.close()
        before = self.state()["frames"]["passed"]
        again = self.camera(port=camera.port)
        self.wait_for_frames(before + 20)
        self.assertEqual((camera.plays, again.plays), (1, 1))
        self.assertIn(f"{camera.address()} is lost", self.end())

    def test_a_camera_that_is_not_there_is_waited_for(self):
        later = self.camera()
        later.close()
        self.assertIn(f"{later.address()} cannot be opened", self.serve_later(later.address()))
        self.camera(port=later.port)
        lines = iter(self.process.stdout.readline, "")
        line = next(each for each in lines if each.startswith("Live view: "))
        self.port = int(line.rstrip("/\n").rpartition(":")[2])
        self.wait_for_frames(5)

    def test_a_password_is_used_and_never_shown(self):
        camera = self.camera(password="sesame")
        self.serve(camera.address("me:sesame@"))
        self.wait_for_frames(5)
        self.assertNotIn("sesame", json.dumps(self.state()))
        self.assertNotIn("sesame", self.get("/metrics")[1])
        self.assertNotIn("sesame", self.end())

    def test_a_wrong_password_ends_with_the_reason(self):
        camera = self.camera(password="sesame")
        text = self.fail_with(1, "run", camera.address("me:salami@"), "--model", MODEL,
                              says="authorization failed")
        self.assertNotIn("salami", text)


if __name__ == "__main__":
    unittest.main()
