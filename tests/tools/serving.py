# SPDX-License-Identifier: Apache-2.0
"""A running `halyard serve` for the tests beside this file, and requests to it."""
import http.client
import json
import re
import signal
import subprocess
import time

from program import MODEL, PROGRAM, ProgramTest


class ServingTest(ProgramTest):
    def serve(self, *args, model=MODEL):
        """Starts the server on a free port, which it prints. Without a model if that is None."""
        network = [] if model is None else ["--model", str(model)]
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *network, "--listen", ":0", *map(str, args)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.end)
        line = self.process.stdout.readline()
        match = re.match(r"Live view: https?://127.0.0.1:(\d+)/$", line)
        self.assertTrue(match, line)
        self.port = int(match.group(1))

    def end(self):
        """Ends it by Ctrl-C. Returns what else it printed."""
        if self.process.stdout.closed:
            return ""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            text, _ = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        self.assertEqual(self.process.returncode, 130, text)
        self.assertNotIn("halyard: ", text)
        return text

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            data = reply.read()
        finally:
            connection.close()
        kind = reply.getheader("Content-Type", "")
        if kind == "application/json":
            return reply.status, json.loads(data)
        return reply.status, data if kind == "image/jpeg" else data.decode()

    def get(self, path, headers=None):
        return self.request("GET", path, None, headers)

    def post(self, path, document, headers=None):
        headers = headers or {"Origin": f"http://127.0.0.1:{self.port}"}
        return self.request("POST", path, json.dumps(document),
                            {"Content-Type": "application/json", **headers})

    def wait_until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not come about")
            time.sleep(0.05)

    def pause_and_resume(self):
        """Frames stop, and come again."""
        self.assertEqual(self.post("/api/controls", {"paused": True})[0], 200)
        time.sleep(0.5)
        before = self.get("/api/state")[1]["frames"]["passed"]
        time.sleep(0.5)
        _, state = self.get("/api/state")
        self.assertEqual((state["frames"]["passed"], state["status"]), (before, "paused"))
        self.post("/api/controls", {"paused": False})
        self.wait_for_frames(before + 3)

    def wait_for_frames(self, count=5):
        self.wait_until(lambda: self.get("/api/state")[1]["frames"]["passed"] >= count)
