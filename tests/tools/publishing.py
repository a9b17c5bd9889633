# SPDX-License-Identifier: Apache-2.0
"""Processes that share topics, for the tests beside this file, and what halyard says of them."""
import os
import subprocess
import tempfile
import time

from json_schema import hold
from program import ProgramTest

PEER = os.environ["HALYARD_TOPIC_PEER"]
# What each command writes, by the definitions of docs/json.schema.json.
DEFINITIONS = {("pool", "ls"): "pools", ("pool", "stats"): "pool", ("pool", "gc"): "garbage",
               ("topic", "ls"): "topics", ("topic", "info"): "topic", ("topic", "hz"): "window",
               ("topic", "bw"): "window", ("topic", "echo"): "message", ("top",): "top"}


def definition_of(command):
    return DEFINITIONS.get(command[:2]) or DEFINITIONS[command[:1]]


class TopicTest(ProgramTest):
    """A registry of its own for each test, and processes in it."""

    def setUp(self):
        super().setUp()
        # A short path: that of a socket has 107 bytes at most.
        folder = tempfile.TemporaryDirectory(prefix="h", dir="/dev/shm",
                                             ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        os.environ["HALYARD_SHM_DIR"] = folder.name

    def start(self, role, name, number):
        process = subprocess.Popen([PEER, role, name, str(number)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.addCleanup(self.kill, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    @staticmethod
    def kill(process):
        process.kill()
        process.communicate()

    def wait_for(self, condition):
        for _ in range(1200):
            if condition():
                return
            time.sleep(0.05)
        self.fail("it did not come about")

    def json(self, *args):
        """What a command writes as JSON, held to docs/json.schema.json."""
        return hold(self, definition_of(args), self.succeed(*args, "--json"))

    def lines(self, *args):
        """The same of a command that writes a document a line."""
        text = self.succeed(*args, "--json")
        return [hold(self, definition_of(args), line) for line in text.splitlines()]
