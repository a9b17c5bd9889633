# SPDX-License-Identifier: Apache-2.0
"""Inputs that are played: from a time on, at their own speed, in a loop, and after a loss."""
import http.server
import os
import pty
import signal
import subprocess
import threading
import time
import unittest

from program import CLIP, MODEL, PROGRAM, ProgramTest, needs_engine, needs_video

BOUNDARY = "multipart/x-mixed-replace; boundary=frame"


class Camera(http.server.BaseHTTPRequestHandler):
    """Three frames of the clip for each connection, which then ends."""
    protocol_version = "HTTP/1.0"
    connections = 0

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", BOUNDARY)
        self.end_headers()
        for n in range(3):
            number = (3 * Camera.connections + n) % 90
            jpeg = (CLIP / f"frame_{number:04}.jpg").read_bytes()
            self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\n"
                             b"Content-Length: %d\r\n\r\n%s\r\n" % (len(jpeg), jpeg))
        Camera.connections += 1

    def log_message(self, *_):
        pass


@needs_engine
class Playing(ProgramTest):
    def frames(self, *args):
        self.succeed("run", *args, "--model", MODEL, "--quiet", "--json", self.dir / "a.json")
        return self.read_json("a.json")["frames"]

    def until(self, count, *args):
        """The first `count` lines of the run's output, and all of its messages."""
        line = [PROGRAM, "run", *map(str, args), "--model", str(MODEL)]
        # A terminal gets each line at once; into a pipe, 4096 bytes are written together.
        near, far = pty.openpty()
        with open(near, encoding="ascii") as output, subprocess.Popen(
                line, stdout=far, stderr=subprocess.PIPE, text=True) as run:
            os.close(far)
            lines = [output.readline() for _ in range(count)]
            run.send_signal(signal.SIGINT)
            _, messages = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 130, messages)
            return lines, messages

    def test_a_start_skips_what_is_before_it(self):
        found = self.frames(CLIP, "--start", 3.4)  # 25 a second
        self.assertEqual([frame["index"] for frame in found], [85, 86, 87, 88, 89])
        self.assertTrue(found[0]["source"].endswith("frame_0085.jpg"), found[0]["source"])
        self.fail_with(1, "run", CLIP, "--video-decoder", "cuda", "--model", MODEL,
                       says="video_decoder must be")
        self.fail_with(1, "run", CLIP, "--start", 100, "--model", MODEL, says="no frame")
        self.fail_with(2, "run", CLIP, CLIP, "--start", 1, "--model", MODEL,
                       says="--start: works with one input")

    def test_speed_waits_for_the_frames(self):
        begin = time.monotonic()
        self.frames(CLIP, "--start", 2.8, "--speed", 1)  # 20 frames
        self.assertGreater(time.monotonic() - begin, 19 / 25)
        images = [CLIP / f"frame_{n:04}.jpg" for n in range(11)]
        begin = time.monotonic()
        self.assertEqual(len(self.frames(*images, "--speed", 2)), 11)
        self.assertGreater(time.monotonic() - begin, 10 / 50)

    def test_loops_go_on_until_the_user_ends_them(self):
        for inputs in ([CLIP / "frame_0000.jpg"],
                       [CLIP / "frame_0000.jpg", CLIP / "frame_0001.jpg"]):
            lines, _ = self.until(7, *inputs, "--loop")
            again = [line.split(":", 1)[1] for line in lines]
            for n in range(len(inputs), 7):
                self.assertEqual(again[n], again[n - len(inputs)])

    @needs_video
    def test_a_lost_camera_is_connected_again_and_told(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Camera) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{server.server_port}/live"
            lines, messages = self.until(8, address, "--reconnect", "--on-overload", "wait")
            server.shutdown()
        self.assertGreater(len(set(lines)), 4, lines)  # other frames after each loss
        self.assertNotIn("", lines)
        self.assertGreaterEqual(messages.count(f"{address} is lost ("), 2,
                                messages)


if __name__ == "__main__":
    unittest.main()
