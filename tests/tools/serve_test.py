# SPDX-License-Identifier: Apache-2.0
"""halyard serve: its command line, and what it answers, key by key as docs/live-view.md has it."""
import contextlib
import http.client
import json
import re
import socket
import ssl
import subprocess
import unittest

from masks_test import read_png, write_png
from program import (CLIP, IMAGE, MODEL, PROGRAM, SOURCE, ProgramTest, needs_engine,
                     needs_video)
from publishing import TopicTest
from segmentation_model import pose_model, segmentation_model
from serving import ServingTest

TOKEN = "0123456789abcdef0123"
PAGE = (SOURCE / "docs" / "live-view.md").read_text()


def keys_of(value, prefix=""):
    """The keys of a document and of the objects in it, with dots; not of those in arrays."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from keys_of(inner, f"{prefix}{key}.")
        else:
            yield prefix + key


def documented(heading):
    """The texts in backquotes in the first column of the tables below a heading."""
    part = re.split(r"^##+ ", PAGE, flags=re.M)
    part = next(each for each in part if each.startswith(heading))
    cells = re.findall(r"^\| (`[^|]*) \|", part, re.M)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


class OptionsTest(ProgramTest):
    """What is refused before anything listens."""

    def refuse(self, code, *args, says):
        self.fail_with(code, "serve", "--model", MODEL, CLIP, *args, says=says)

    def test_other_machines_need_a_token(self):
        self.refuse(2, "--listen", "0.0.0.0:0", says="--token")
        self.refuse(1, "--listen", "0.0.0.0:0", "--token", "short", says="16 characters")

    def test_addresses_are_checked(self):
        for text in "board", "1.2.3.4:x", "[::1", "":
            done = self.run_program("serve", "--model", MODEL, CLIP, "--listen", text)
            self.assertEqual(done.returncode, 2)

    def test_files_of_tokens_are_private(self):
        path = self.write("token", TOKEN)
        path.chmod(0o644)
        self.refuse(1, "--token-file", path, says="chmod 600")
        self.refuse(1, "--token-file", self.dir / "none", says="--token-file")
        self.refuse(2, "--token-file", path, "--token", TOKEN, says="either")

    def test_certificate_and_key_belong_together(self):
        self.refuse(2, "--cert", "a.pem", says="--key")

    def test_what_chooses_a_network_needs_one(self):
        for option in ("--track", "--engine=openvino", "--iou=0.5", "--config=x.json"):
            done = self.run_program("serve", CLIP, option)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"--model", done.stderr)

    @needs_engine
    def test_a_port_in_use_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.refuse(1, "--listen", f":{port}", says=f"127.0.0.1:{port}")

    @needs_engine
    def test_streams_come_alone(self):
        self.fail_with(1, "serve", "--model", MODEL, CLIP, "rtsp://a:b@nowhere/x", says="only")


@needs_engine
class ApiTest(ServingTest):
    def test_keys_are_those_of_the_page(self):
        self.serve(CLIP, "--track")
        self.wait_for_frames()
        for path, heading, kept in (
                ("/api/state", "/api/state", {"stages", "timeline", "objects.labels"}),
                ("/api/model", "/api/model", {"metadata"}),
                ("/api/controls", "/api/controls", set())):
            _, document = self.get(path)
            keys = {re.sub(r"^(metadata|controls)\..*", r"\1", key) for key in keys_of(document)}
            self.assertLessEqual(kept - {"metadata"}, keys)
            self.assertEqual(keys, documented(heading), path)
        _, pools = self.get("/api/pools")
        self.assertLessEqual(set(pools) - {"schema"}, documented("/api/record"))
        _, text = self.get("/metrics")
        names = set(re.findall(r"^# TYPE (\w+)", text, re.M))
        self.assertEqual(names, {re.sub(r"\{.*", "", each) for each in documented("/metrics")})
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [-+.e0-9]+)$')

    def test_frames_pass_and_thresholds_act(self):
        self.serve(CLIP, "--track")
        self.wait_for_frames()
        _, state = self.get("/api/state")
        self.assertEqual((state["source"]["width"], state["source"]["height"]), (640, 360))
        self.assertGreater(state["objects"]["detections"], 0)
        self.assertEqual([each["name"] for each in state["stages"]],
                         ["load", "convert", "model", "decode", "track", "show"])
        self.assertEqual(self.post("/api/controls", {"score": 1.0})[0], 200)
        self.wait_until(lambda: self.get("/api/state")[1]["objects"]["detections"] == 0)
        self.pause_and_resume()

    def test_an_image_is_streamed_and_saved(self):
        self.serve(IMAGE)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", "/stream.mjpg")
        stream = connection.getresponse()
        self.assertIn("multipart/x-mixed-replace", stream.getheader("Content-Type"))
        for _ in range(3):
            self.assertEqual(stream.fp.readline(), b"--halyard-frame\r\n")
            self.assertEqual(stream.fp.readline(), b"Content-Type: image/jpeg\r\n")
            size = int(stream.fp.readline().split()[1])
            stream.fp.readline()
            jpeg = stream.fp.read(size)
            self.assertEqual((jpeg[:2], jpeg[-2:]), (b"\xff\xd8", b"\xff\xd9"))
            stream.fp.readline()
        status, snapshot = self.get("/api/snapshot")
        self.assertEqual((status, snapshot[:2]), (200, b"\xff\xd8"))

    def test_a_file_is_shown_once_if_asked(self):
        self.serve(IMAGE, "--once")
        self.wait_until(lambda: self.get("/api/state")[1]["status"] == "ended")
        self.assertEqual(self.get("/api/state")[1]["frames"]["passed"], 1)
        status, snapshot = self.get("/api/snapshot")
        self.assertEqual((status, snapshot[:2]), (200, b"\xff\xd8"))

    @needs_video
    def test_a_recording_is_a_video(self):
        self.serve(CLIP, "--record-to", self.dir / "videos")
        self.wait_for_frames()
        status, answer = self.post("/api/record", {"on": True})
        self.assertEqual((status, answer["on"]), (200, True))
        self.wait_until(lambda: self.get("/api/state")[1]["recording"]["frames"] >= 5)
        self.post("/api/record", {"on": False})
        path = self.dir / "videos" / answer["file"]
        self.wait_until(path.exists)
        info = self.succeed("info", path)
        self.assertIn("640", info)

    def test_the_token_is_asked_for_and_never_shown(self):
        self.serve(IMAGE, "--token", TOKEN)
        self.assertEqual(self.get("/api/state")[0], 401)
        self.assertEqual(self.get("/api/state?token=" + TOKEN)[0], 401)
        right = {"Authorization": "Bearer " + TOKEN}
        self.assertEqual(self.get("/api/state", right)[0], 200)
        self.assertEqual(self.post("/api/controls", {}, {"Authorization": "Bearer x"})[0], 401)
        self.assertNotIn(TOKEN, self.end())

    def test_https_is_served(self):
        key, certificate = self.dir / "key.pem", self.dir / "cert.pem"
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate],
            capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("openssl makes no certificate here")
        self.fail_with(1, "serve", "--model", MODEL, IMAGE, "--listen", ":0", "--cert", key,
                       "--key", key, says="--cert")
        self.serve(IMAGE, "--cert", certificate, "--key", key)
        context = ssl.create_default_context(cafile=certificate)
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=30,
                                                 context=context)
        self.addCleanup(connection.close)
        for _ in range(2):
            connection.request("GET", "/api/state")
            self.assertEqual(json.loads(connection.getresponse().read())["schema"], 1)
        with socket.create_connection(("localhost", self.port), timeout=30) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                self.assertNotIn(b"200 OK", plain.recv(1000))

    def pixel(self, x, y):
        """Of a snapshot that is made after the call."""
        self.get("/api/snapshot")
        passed = self.get("/api/state")[1]["frames"]["passed"]
        self.wait_for_frames(passed + 3)
        self.write("seen.jpg", self.get("/api/snapshot")[1])
        self.succeed("convert", self.dir / "seen.jpg", self.dir / "seen.png")
        return read_png(self.dir / "seen.png")[y][x]

    def is_grey(self, pixel):
        return max(abs(value - 128) for value in pixel) < 16

    def test_masks_are_drawn_and_hidden(self):
        model, image = self.dir / "m.onnx", self.dir / "p.png"
        # The prototypes are the image's colours: the mask covers all of its box.
        model.write_bytes(segmentation_model([(32, 32, 48, 24, 0, 0.9, 1, 1, 1)]))
        write_png(image, [[128, 128, 128] * 128 for _ in range(64)])
        self.serve(image, "--track", model=model)
        self.wait_for_frames()
        self.assertTrue(self.get("/api/state")[1]["source"]["masks"])
        self.post("/api/controls", {"boxes": False})
        self.assertFalse(self.is_grey(self.pixel(64, 32)))
        self.assertTrue(self.is_grey(self.pixel(4, 4)))
        self.post("/api/controls", {"masks": False})
        self.assertTrue(self.is_grey(self.pixel(64, 32)))

    def test_keypoints_are_drawn_with_the_boxes(self):
        model, image = self.dir / "m.onnx", self.dir / "p.png"
        model.write_bytes(pose_model([(32, 32, 48, 24, 0.9, [(32, 32, 0.9), (40, 40, 0.1)])]))
        write_png(image, [[128, 128, 128] * 128 for _ in range(128)])
        self.serve(image, model=model)
        self.wait_for_frames()
        self.assertFalse(self.is_grey(self.pixel(64, 64)))
        self.assertTrue(self.is_grey(self.pixel(80, 80)))
        self.post("/api/controls", {"boxes": False})
        self.assertTrue(self.is_grey(self.pixel(64, 64)))


@needs_engine
class LiveTopicTest(ServingTest, TopicTest):
    def test_frames_of_a_topic_are_shown_when_it_comes_and_when_it_comes_back(self):
        camera = self.start("images", "cam/left", 50)
        self.serve("--topic", "cam/left")
        self.wait_for_frames(5)
        state = self.get("/api/state")[1]
        self.assertEqual((state["source"]["width"], state["source"]["height"]), (64, 48))
        self.assertEqual(state["status"], "running")
        self.wait_until(lambda: self.get("/api/pools")[1].get("topics"))
        (topic,) = self.get("/api/pools")[1]["topics"]
        self.assertEqual(topic["name"], "cam/left")
        self.kill(camera)
        before = self.get("/api/state")[1]["frames"]["passed"]
        self.start("images", "cam/left", 50)
        self.wait_for_frames(before + 5)


class WithoutModelTest(ServingTest, TopicTest):
    def test_images_are_shown_as_they_are(self):
        self.serve(IMAGE, model=None)
        self.wait_for_frames(1)
        state = self.get("/api/state")[1]
        self.assertEqual((state["source"]["width"], state["source"]["height"]), (640, 360))
        self.assertEqual((state["source"]["model"], state["source"]["published"]), (False, False))
        self.assertEqual(state["objects"]["detections"], 0)
        self.assertEqual([each["name"] for each in state["stages"]], ["load", "show"])
        status, document = self.get("/api/model")
        self.assertEqual((status, document["error"]),
                         (404, "this server was started without --model"))
        self.assertEqual(self.get("/api/snapshot")[0], 200)

    @needs_engine
    def test_a_topic_is_shown_with_what_its_publisher_found(self):
        publisher = subprocess.Popen(
            [PROGRAM, "run", "--model", MODEL, "--track", "--loop", "--speed", "1", "--publish",
             "boats", "-q", CLIP], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.kill, publisher)
        self.wait_for(lambda: "boats/detections" in self.succeed("topic", "ls"))
        self.serve("topic:boats", "--labels", MODEL.with_name("labels.txt"), model=None)
        state = lambda: self.get("/api/state")[1]
        self.wait_until(lambda: state()["objects"]["tracks"] > 2)
        objects = state()["objects"]
        self.assertLessEqual({each["label"] for each in objects["labels"]},
                             {"boat", "buoy", "gull"})
        self.assertEqual(state()["copies"]["count"], 0)
        self.assertTrue(state()["source"]["published"])
        self.assertEqual(self.post("/api/controls", {"score": 1.0})[0], 200)
        self.wait_until(lambda: state()["objects"]["detections"] == 0)


if __name__ == "__main__":
    unittest.main()
