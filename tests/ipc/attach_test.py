# SPDX-License-Identifier: Apache-2.0
"""A publisher of the library and a subscriber without it, attach.py, in one topic: what the page
says is enough, and is what the library does.

    attach_test.py TEST_PROGRAM
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/shared-memory.md"
PROGRAM = sys.argv.pop(1)
DEPTH = 16


def bytes_of(number, size):
    return bytes((i * 7 + number) % 251 for i in range(size))


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


class Publisher:
    """The role frame_publisher of page_test.cpp."""

    def __init__(self, topic):
        to_child, self.to = os.pipe()
        self.back, from_child = os.pipe()
        os.dup2(to_child, 200)
        os.dup2(from_child, 201)
        self.process = subprocess.Popen(
            [PROGRAM, "--gtest_filter=Peer.DISABLED_frame_publisher", "--gtest_brief=1",
             "--gtest_also_run_disabled_tests"], pass_fds=(200, 201),
            env=dict(os.environ, HALYARD_TEST_PEER=topic))
        for fd in (to_child, from_child, 200, 201):
            os.close(fd)
        self.said = os.fdopen(self.back, "r")
        assert self.said.readline() == "joined\n"

    def ask(self, line):
        os.write(self.to, f"{line}\n".encode())
        return self.said.readline().strip()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        os.close(self.to)
        self.said.close()
        self.process.wait(30)


class Stranger:
    """attach.py."""

    def __init__(self, topic, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-B", HERE / "attach.py", PAGE, topic, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.joined = self.process.stdout.readline().strip()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.kill()
        self.process.communicate()


class Attach(unittest.TestCase):
    def setUp(self):
        os.environ["HALYARD_NAMESPACE"] = f"a{os.getpid()}"
        self.topic = f"attach/{self.id().rsplit('.', 1)[1][:40]}"
        self.publisher = Publisher(self.topic)

    def tearDown(self):
        self.publisher.close()

    def stranger(self, *options):
        stranger = Stranger(self.topic, *options)
        self.addCleanup(stranger.close)
        self.assertEqual(stranger.joined, "joined 1")
        return stranger

    def reads_frames(self, *options):
        stranger = self.stranger(*options)
        self.assertEqual(stranger.ask("refusals"), "[5, 9]", "not_found, malformed")
        self.assertEqual(self.publisher.ask("tensor 3"), "sent")
        first = digest(bytes_of(3, 3 * 40 * 50 * 2))
        self.assertEqual(stranger.ask("recv"), f"frame 3, u16 [3, 40, 50], {first}, lost 0")
        # What it holds stays, whatever is sent; what leaves the window, it loses.
        for number in range(4, 4 + DEPTH + 5):
            self.assertEqual(self.publisher.ask(f"tensor {number}"), "sent")
        self.assertEqual(stranger.ask("check"), first)
        self.assertEqual(self.publisher.ask("used"), str(DEPTH + 1))
        self.assertEqual(stranger.ask("give"), "given")
        self.assertEqual(self.publisher.ask("used"), str(DEPTH))
        for number in range(9, 9 + DEPTH):
            self.assertIn(f"frame {number}, u16", said := stranger.ask("recv"))
            self.assertIn("lost 5", said)
        self.assertEqual(self.publisher.ask("image 7"), "sent")
        image = digest(bytes_of(7, 64 * 72))
        self.assertEqual(stranger.ask("recv"), f"frame 7, nv12 64x48, {image}, lost 5")
        self.assertEqual(self.publisher.ask("used"), "1")
        self.assertEqual(stranger.ask("leave"), "left")
        self.assertEqual(self.publisher.ask("tensor 1"), "sent")
        self.assertEqual(self.publisher.ask("used"), "0", "nobody is there to read it")

    def test_reads_frames_from_offered_memory(self):
        self.reads_frames()

    def test_reads_frames_from_memory_that_it_asks_for(self):
        self.reads_frames("--ask")

    def test_reads_what_a_killed_publisher_has_sent(self):
        stranger = self.stranger()
        for number in (1, 2):
            self.assertEqual(self.publisher.ask(f"tensor {number}"), "sent")
        self.publisher.kill()
        for number in (1, 2):
            self.assertIn(digest(bytes_of(number, 3 * 40 * 50 * 2)), stranger.ask("recv"))

    def test_gives_all_back_when_it_is_killed(self):
        stranger = self.stranger()
        self.assertEqual(self.publisher.ask("tensor 1"), "sent")
        self.assertIn("frame 1", stranger.ask("recv"))
        self.assertEqual(self.publisher.ask("used"), "1")
        stranger.close()
        for _ in range(500):
            # The publisher hears of the end at its own time.
            self.assertEqual(self.publisher.ask("tensor 1"), "sent")
            if self.publisher.ask("used") == "0":
                return
        self.fail("what the killed process had borrowed is not back")

    @classmethod
    def tearDownClass(cls):
        base = os.environ.get("HALYARD_SHM_DIR", "/dev/shm")
        folder = f"{base}/halyard-{os.geteuid()}/{os.environ['HALYARD_NAMESPACE']}"
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
