# SPDX-License-Identifier: Apache-2.0
"""Images and videos of servers."""
import functools
import http.server
import json
import signal
import socket
import subprocess
import threading
import time
import unittest

from program import CLIP, MODEL, PROGRAM, ProgramTest, needs_engine, needs_video


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@needs_video
class Addresses(ProgramTest):
    def serve(self, folder):
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    @needs_engine
    def test_run_reads_an_image_and_a_video_as_from_a_file(self):
        there = self.serve(CLIP)
        line = ("--model", MODEL, "--quiet", "--json")
        self.succeed("run", CLIP / "frame_0000.jpg", *line, self.dir / "a.json")
        self.succeed("run", f"{there}/frame_0000.jpg", *line, self.dir / "b.json")
        ours, theirs = (self.read_json(name)["frames"][0]["detections"] for name in ("a.json",
                                                                                     "b.json"))
        self.assertGreater(len(ours), 5)
        self.assertEqual(ours, theirs)
        self.succeed("run", CLIP, "--model", MODEL, "--quiet", "--out", self.dir / "clip.mp4")
        there = self.serve(self.dir)
        self.assertIn("90", self.succeed("info", f"{there}/clip.mp4"))

    def test_what_is_not_there_names_the_address(self):
        there = self.serve(self.dir)
        self.fail_with(1, "info", f"{there}/none.mp4", says=f"{there}/none.mp4")
        self.fail_with(1, "info", "gopher://x/y.mp4", says="http, https, rtsp")

    @needs_engine
    def test_ctrl_c_ends_a_run_whose_server_is_silent(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}/a.mp4"
            with subprocess.Popen([PROGRAM, "run", address, "--model", MODEL],
                                  stderr=subprocess.DEVNULL) as run, silent.accept()[0]:
                time.sleep(0.3)  # it waits for an answer
                run.send_signal(signal.SIGINT)
                # By the signal itself before the pipeline has begun.
                self.assertIn(run.wait(60), (-signal.SIGINT, 130))


if __name__ == "__main__":
    unittest.main()
