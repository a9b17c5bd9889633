# SPDX-License-Identifier: Apache-2.0
"""halyard pool, topic and top: what they say of processes that share pools and topics."""
import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from json_schema import SCHEMA, definitions_of, seen_keys
from program import PROGRAM
from publishing import TopicTest, definition_of


class Nothing(TopicTest):
    def test_help_has_examples(self):
        for command in ("pool", "topic", "top"):
            self.assertIn("Examples", self.succeed(command, "--help"))

    def test_nothing_is_said(self):
        self.assertEqual(self.succeed("pool", "ls"), "no pools: no process has one open\n")
        self.assertEqual(self.succeed("topic", "ls"), "no topics: no process has joined one\n")
        self.assertEqual(self.succeed("pool", "gc"), "nothing to remove\n")
        self.assertEqual(self.json("pool", "ls"), {"schema": 1, "pools": []})
        self.assertEqual(self.json("topic", "ls"), {"schema": 1, "topics": []})
        text = self.succeed("top", "--once", "--interval", "0.05")
        self.assertIn("No pools", text)
        self.assertIn("No topics", text)
        self.assertIn("0 processes", text)

    def test_what_is_not_there_is_an_error(self):
        self.fail_with(1, "pool", "stats", "7", says="no process has it open")
        for command in ("info", "echo", "hz", "bw"):
            self.fail_with(1, "topic", command, "no/such", says="nobody has joined it")
            self.fail_with(1, "topic", command, "a b", says="name: must consist of")

    def test_wrong_lines_end_with_2(self):
        for line in (("pool",), ("pool", "nosuch"), ("pool", "stats"), ("pool", "stats", "x"),
                     ("pool", "stats", "-1"), ("topic",), ("topic", "info"),
                     ("topic", "hz", "a", "--window", "0"), ("topic", "echo", "a", "--count", "0"),
                     ("topic", "echo", "a", "--duration", "nan"), ("top", "--interval", "0")):
            with self.subTest(line):
                self.fail_with(2, *line)
        self.fail_with(2, "top", says="give --once or --json")


class Frames(TopicTest):
    def setUp(self):
        super().setUp()
        self.publisher = self.start("frames", "cam/left", 100)
        self.fast = self.start("subscribe", "cam/left", 0)
        self.slow = self.start("subscribe", "cam/left", 200)

    def test_topics_are_listed(self):
        text = self.succeed("topic", "ls")
        self.assertRegex(text, r"cam/left +halyard.Tensor +4 +drop_oldest +1 +2 +\d+\n")
        topic = self.json("topic", "ls")["topics"][0]
        self.assertEqual((topic["publishers"], topic["subscribers"]), (1, 2))

    def test_info_shows_the_endpoints(self):
        self.wait_for(lambda: any(e["lost"] > 0
                                  for e in self.json("topic", "info", "cam/left")["endpoints"]))
        topic = self.json("topic", "info", "cam/left")
        by_pid = {endpoint["pid"]: endpoint for endpoint in topic["endpoints"]}
        publisher, slow = by_pid[self.publisher.pid], by_pid[self.slow.pid]
        self.assertEqual(publisher["role"], "publisher")
        self.assertGreater(publisher["sent"], 0)
        self.assertGreaterEqual(publisher["sent_bytes"], publisher["sent"] * 64 * 48 * 3 // 2)
        self.assertGreater(slow["lost"], 0)
        self.assertEqual(slow["readers"][0]["publisher"], publisher["endpoint"])
        text = self.succeed("topic", "info", "cam/left")
        for part in ("halyard.Tensor", "4 messages of each publisher", "drop_oldest",
                     f"{self.publisher.pid}  ", f"{self.slow.pid}  ", "subscriber"):
            self.assertIn(part, text)

    def test_echo_shows_frames(self):
        lines = self.lines("topic", "echo", "cam/left", "--count", "3")
        self.assertEqual(len(lines), 3)
        for number, line in enumerate(lines):
            self.assertGreaterEqual(line["sequence"], number)
            frame = line["frame"]
            self.assertEqual((frame["format"], frame["width"], frame["height"]), ("nv12", 64, 48))
            self.assertEqual((frame["dtype"], frame["device"], frame["name"]),
                             ("u8", "cpu", "left"))
        text = self.succeed("topic", "echo", "cam/left", "-n", "2")
        self.assertRegex(text, r"#\d+.*: \d+x\d+ u8, nv12 64x48, 4.5 KiB, \w+ on cpu, \"left\"\n")
        self.assertEqual(len(text.splitlines()), 2)
        self.assertEqual(self.json("topic", "ls")["topics"][0]["subscribers"], 2, "it has left")

    def test_rates_are_those_of_the_publisher(self):
        window = self.lines("topic", "hz", "cam/left", "--count", "2", "--window", "0.5")
        self.assertEqual(len(window), 2)
        for line in window:
            (publisher,) = line["publishers"]
            self.assertEqual(publisher["pid"], self.publisher.pid)
            self.assertGreater(publisher["messages"], 0)
            self.assertAlmostEqual(publisher["hz"], publisher["messages"] / publisher["seconds"])
        text = self.succeed("topic", "hz", "cam/left", "--duration", "0.3")
        pid = self.publisher.pid
        self.assertRegex(text, rf"^pid {pid}: [\d.]+ Hz, \d+ messages? in 0.\d\d s\n$")
        text = self.succeed("topic", "bw", "cam/left", "--duration", "0.3")
        self.assertRegex(text, rf"^pid {pid}: [\d.]+ [KM]iB/s, 4.5 KiB a message, ")
        self.assertEqual(len(self.json("topic", "info", "cam/left")["endpoints"]), 3)

    def test_pools_say_who_holds_what(self):
        (pool,) = self.json("pool", "ls")["pools"]
        # The subscribers have no part of it: they allocate nothing.
        (part,) = pool["parts"]
        self.assertEqual(part["pid"], self.publisher.pid)
        self.wait_for(lambda: self.slow.pid in self.holders(pool["id"]))
        text = self.succeed("pool", "ls")
        self.assertRegex(text, rf"{pool['id']} +\d+/1024 .*1.0 GiB +16.0 MiB +1 +0 +cam/left\n")
        text = self.succeed("pool", "stats", pool["id"])
        for words in ("HELD BY OWNER", "BORROWER PID", str(self.slow.pid), "of 1024 used"):
            self.assertIn(words, text)

    def holders(self, pool):
        (part,) = self.json("pool", "stats", pool)["parts"]
        return {borrower["pid"]: borrower["slots"] for borrower in part["borrowers"]
                if borrower["slots"] > 0}

    def test_top_shows_all(self):
        seen = self.json("top", "--once", "--interval", "0.5")
        by_pid = {endpoint["pid"]: endpoint for endpoint in seen["topics"][0]["endpoints"]}
        self.assertGreater(by_pid[self.publisher.pid]["sent_per_s"], 0)
        self.assertGreater(by_pid[self.slow.pid]["lost_per_s"], 0)
        text = self.succeed("top", "--once", "--interval", "0.5")
        for words in ("1 pool, 1 topic, 3 processes", "cam/left: halyard.Tensor, depth 4", "HOLDER",
                      "KiB/s", "16.0 MiB", str(self.fast.pid)):
            self.assertIn(words, text)
        self.assertNotIn("\x1b", text)

    def test_every_documented_key_is_written(self):
        (pool,) = self.json("pool", "ls")["pools"]
        self.wait_for(lambda: self.slow.pid in self.holders(pool["id"]))
        seen, commands = {}, [("pool", "ls"), ("pool", "stats", pool["id"]), ("topic", "ls"),
                              ("topic", "info", "cam/left"), ("top", "--once", "--interval", "0.2"),
                              ("topic", "echo", "cam/left", "--count", "1"),
                              ("topic", "bw", "cam/left", "--count", "1", "--window", "0.2")]
        for command in commands:
            seen_keys(self.json(*command), definition_of(command), seen)
        self.slow.send_signal(signal.SIGSTOP)
        os.waitpid(self.slow.pid, os.WUNTRACED)
        seen_keys(self.json("top", "--once"), "top", seen)
        self.assertEqual({name: sorted(keys) for name, keys in seen.items()},
                         {name: sorted(SCHEMA["$defs"][name]["properties"])
                          for command in commands
                          for name in definitions_of(definition_of(command))})

    def test_a_stopped_process_is_named(self):
        self.slow.send_signal(signal.SIGSTOP)
        os.waitpid(self.slow.pid, os.WUNTRACED)
        topic = self.json("topic", "info", "cam/left")
        self.assertEqual([entry["pid"] for entry in topic["unobserved"]], [self.slow.pid])
        self.assertIn(f"pid {self.slow.pid} was not observed", self.succeed("top", "--once"))

    def test_garbage_of_killed_processes_is_removed(self):
        for process in (self.publisher, self.fast, self.slow):
            process.kill()
            process.wait()
        self.assertEqual(self.json("topic", "ls"), {"schema": 1, "topics": []})
        found = self.json("pool", "gc")
        self.assertEqual((found["entries"], found["skipped"]), (2, 0))
        self.assertGreater(found["members"], 0)
        self.assertEqual(self.succeed("pool", "gc"), "nothing to remove\n")


class Numbers(TopicTest):
    def test_echo_shows_bytes(self):
        self.start("numbers", "count", 200)
        text = self.succeed("topic", "echo", "count", "--count", "2")
        self.assertRegex(text, r"^#\d+(?: \(\d+ lost before\))?: 16 B: "
                         r"[0-9a-f]{16}deadbeef00000000\n#\d")
        first, second = self.lines("topic", "echo", "count", "--count", "2")
        value = struct.unpack("<Q", bytes.fromhex(first["inline_hex"])[:8])[0]
        after = struct.unpack("<Q", bytes.fromhex(second["inline_hex"])[:8])[0]
        self.assertEqual(after, value + 1 + second["lost"])
        self.assertNotIn("frame", first)

    def test_echo_ends_in_time(self):
        self.start("subscribe", "silent", 0)
        self.assertEqual(self.succeed("topic", "echo", "silent", "--duration", "0.2"), "")
        self.fail_with(1, "topic", "echo", "silent", "--duration", "0.2", "--count", "5",
                       says="0 of 5 messages came in 0.2 s")
        self.assertEqual(self.succeed("topic", "hz", "silent", "--duration", "0.2"),
                         "no publisher\n")

    def test_ctrl_c_ends_with_130(self):
        self.start("numbers", "count", 100)
        for line in (("topic", "echo", "count"), ("topic", "hz", "count", "--window", "0.1"),
                     ("top", "--json", "--interval", "0.1")):
            with self.subTest(line):
                done = subprocess.Popen([PROGRAM, *line], stdout=subprocess.PIPE)
                self.assertTrue(done.stdout.readline())
                done.send_signal(signal.SIGINT)
                done.communicate(timeout=60)
                self.assertEqual(done.returncode, 130)

    def test_a_closed_pipe_ends_it(self):
        self.start("numbers", "count", 200)
        done = subprocess.Popen([PROGRAM, "topic", "echo", "count"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        done.stdout.readline()
        done.stdout.close()
        self.assertIn(b"standard output", done.stderr.read())
        self.assertEqual(done.wait(timeout=60), 1)
        done.stderr.close()


class Screen(TopicTest):
    """halyard top in a terminal of 100 columns and `rows` rows."""

    @contextlib.contextmanager
    def terminal(self, rows=30):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(PROGRAM, [PROGRAM, "top", "--interval", "0.2"])
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
        try:
            yield pid, terminal
        finally:
            os.close(terminal)

    def read_until(self, terminal, words, text=""):
        end = time.monotonic() + 60
        while words not in text and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    text += os.read(terminal, 65536).decode()
                except OSError:  # the program has ended
                    break
        self.assertIn(words, text)
        return text

    def test_q_ends_it_and_puts_the_screen_back(self):
        self.start("frames", "cam/left", 100)
        with self.terminal() as (pid, terminal):
            text = self.read_until(terminal, "/s")
            self.assertTrue(text.startswith("\x1b[?1049h\x1b[?25l"), text)
            self.assertIn("cam/left: halyard.Tensor", text)
            os.write(terminal, b"xq")
            self.read_until(terminal, "\x1b[?25h\x1b[?1049l")
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def test_ctrl_c_ends_it(self):
        with self.terminal() as (pid, terminal):
            self.read_until(terminal, "No topics")
            os.write(terminal, b"\x03")
            self.read_until(terminal, "\x1b[?1049l")
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)

    def test_what_does_not_fit_is_counted(self):
        for number in range(4):
            self.start("numbers", f"count/{number}", 10)
        with self.terminal(rows=6) as (pid, terminal):
            self.read_until(terminal, "lines below")
            os.write(terminal, b"q")
            self.read_until(terminal, "\x1b[?1049l")
            os.waitpid(pid, 0)


if __name__ == "__main__":
    unittest.main()
