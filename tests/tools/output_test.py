# SPDX-License-Identifier: Apache-2.0
"""What the program writes: files that are replaced, devices, signals, standard output."""
import concurrent.futures
import json
import os
import resource
import signal
import stat
import subprocess
import time
import unittest

from program import CLIP, MODEL, IMAGE, PROGRAM, ProgramTest, needs_engine, npy

MOT = "1,-1,100,100,50,80,0.9,-1,-1,-1\n"
FRAMES = IMAGE.read_bytes() * 4


class OutputTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.detections = self.dir / "det.txt"
        self.detections.write_text(MOT)

    def track(self, *args, **options):
        return self.run_program("track", "--mot", self.detections, *args, **options)

    def parts(self):
        return [entry.name for entry in self.dir.rglob("*part-*")]

    def device(self, name, minor):
        """A copy of a device of memory in the test's folder, where that can be made."""
        path = self.dir / name
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            os.close(os.open(path, os.O_WRONLY))
        except OSError as error:
            self.skipTest(f"no device can be made here: {error}")
        return path


class Replaced(OutputTest):
    def assert_kept(self, *line):
        """The option's path is a link to a file that others may not read; both stay so. The same
        where the link's target does not exist yet."""
        target, link = self.dir / "target.png", self.dir / "link.png"
        target.write_text("old")
        target.chmod(0o600)
        link.symlink_to("target.png")
        self.succeed(*line, link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o600)
        self.assertNotEqual(target.read_bytes(), b"old")
        target.unlink()
        self.succeed(*line, link)
        self.assertTrue(link.is_symlink())
        self.assertGreater(target.stat().st_size, 0)
        target.unlink()
        link.unlink()
        self.assertEqual(self.parts(), [])

    def test_text_keeps_links_and_permissions(self):
        self.assert_kept("track", "--mot", self.detections, "--out")
        self.assert_kept("convert", IMAGE)

    @needs_engine
    def test_outputs_of_a_run_keep_links_and_permissions(self):
        for option in ("--json", "--trace", "--out", "--contact-sheet"):
            with self.subTest(option):
                self.assert_kept("run", "-m", MODEL, IMAGE, "-q", option)

    def test_a_link_at_a_name_that_could_be_guessed_is_left_alone(self):
        victim = self.write("victim", "old")
        script = 'cd "$1"; ln -s victim o.txt.part-$$; exec "$2" track --mot det.txt --out o.txt'
        done = subprocess.run(["sh", "-c", script, "sh", str(self.dir), PROGRAM],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(victim.read_text(), "old")
        self.assertFalse((self.dir / "o.txt").is_symlink())


class Devices(OutputTest):
    def test_a_device_stays_a_device(self):
        null = self.device("null", 3)
        self.assertEqual(self.track("--out", null).returncode, 0)
        self.assertTrue(null.is_char_device())

    @needs_engine
    def test_a_trace_does_not_replace_a_device(self):
        null, full = self.device("null", 3), self.device("full", 7)
        self.succeed("run", "-m", MODEL, IMAGE, "-q", "--trace", null)
        self.fail_with(1, "run", "-m", MODEL, IMAGE, "-q", "--trace", full, says="No space")
        self.assertTrue(null.is_char_device() and full.is_char_device())
        self.succeed("run", "-m", MODEL, IMAGE, "-q", "--trace", "/dev/null")
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))

    @needs_engine
    def test_pipes_get_the_json_and_the_trace_however_much_there_is(self):
        for option, key in (("--json", "frames"), ("--trace", "traceEvents")):
            with self.subTest(option):
                pipe = self.dir / "pipe"
                os.mkfifo(pipe)
                with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as cat:
                    with concurrent.futures.ThreadPoolExecutor(1) as pool:
                        text = pool.submit(cat.stdout.read)
                        self.succeed("run", "-m", MODEL, CLIP, "-q", option, pipe)
                    text = text.result()
                self.assertGreater(len(text), 65536)  # what a pipe holds
                self.assertGreaterEqual(len(json.loads(text)[key]), len(list(CLIP.glob("*.jpg"))))
                self.assertTrue(pipe.is_fifo())
                pipe.unlink()

    def test_dev_stdout_is_standard_output(self):
        log = self.write("log", "before\n")
        with open(log, "a") as file:
            done = subprocess.run([PROGRAM, "track", "--mot", self.detections, "--out",
                                   "/dev/stdout"], stdout=file, timeout=60)
        self.assertEqual(done.returncode, 0)
        lines = log.read_text().splitlines()
        self.assertEqual(lines[0], "before")
        self.assertTrue(lines[1].startswith("1,1,100.000"), lines)
        self.assertTrue(os.path.islink("/dev/stdout"))


@needs_engine
class Signals(OutputTest):
    def outputs(self):
        return ("--json", self.dir / "o.json", "--trace", self.dir / "t.json", "--out",
                self.dir / "o.mkv", "--contact-sheet", self.dir / "s.png")

    def start(self, *args, **options):
        return subprocess.Popen([PROGRAM, "run", "-m", MODEL, "-", *self.outputs(), *args],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def wait_for(self, condition):
        for _ in range(6000):
            if condition():
                return
            time.sleep(0.01)
        self.fail("the program did not come so far")

    def assert_whole(self):
        self.assertEqual(self.parts(), [])
        for name in ("o.json", "t.json"):
            if (self.dir / name).exists():
                self.read_json(name)

    def test_a_signal_before_the_first_frame_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number), self.start() as process:
                process.stdin.write(FRAMES[:5000])
                process.stdin.flush()
                self.wait_for(self.parts)
                process.send_signal(number)
                process.communicate(timeout=60)
            # A request to finish once the pipeline waits for frames, else the end.
            self.assertIn(process.returncode, (-number, 1, 130))
            self.assert_whole()

    def test_a_closed_terminal_in_the_middle_leaves_nothing(self):
        with self.start() as process:
            process.stdin.write(FRAMES)
            process.stdin.flush()
            self.wait_for(lambda: any("o.mkv" in name for name in self.parts()))
            process.send_signal(signal.SIGHUP)
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGHUP)
        self.assert_whole()  # of the JSON there may be the frames until then
        self.assertFalse({"o.mkv", "s.png", "t.json"} & set(os.listdir(self.dir)))

    def test_a_signal_that_is_ignored_stays_ignored(self):
        with self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
            process.stdin.write(FRAMES)
            process.stdin.flush()
            self.wait_for(self.parts)
            process.send_signal(signal.SIGHUP)
            _, text = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, text)
        self.assert_whole()
        self.assertTrue((self.dir / "o.mkv").exists())

    def test_two_interrupts_leave_whole_files_or_none(self):
        for round_ in range(8):
            with self.subTest(round_), self.start() as process:
                process.stdin.write(FRAMES)
                process.stdin.flush()
                self.wait_for(self.parts)
                time.sleep(0.04 * round_)
                process.send_signal(signal.SIGINT)
                time.sleep(0.002 * round_)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=60)
            self.assertIn(process.returncode, (-signal.SIGINT, 1, 130))
            self.assert_whole()
            for name in ("o.json", "t.json", "o.mkv", "s.png"):
                (self.dir / name).unlink(missing_ok=True)

    def test_a_killed_run_leaves_the_json_of_its_frames(self):
        for number, times in ((signal.SIGKILL, 1), (signal.SIGINT, 2)):
            with self.subTest(number), self.start() as process:
                process.stdin.write(FRAMES)
                process.stdin.flush()
                self.wait_for((self.dir / "o.json").exists)
                for _ in range(times):
                    process.send_signal(number)
                process.wait(timeout=60)
            frames = self.read_json("o.json")["frames"]
            self.assertEqual([f["index"] for f in frames], list(range(len(frames))))
            self.assertGreater(len(frames), 0)
            for left in self.dir.glob("*o.*"):
                left.unlink()

    def test_a_full_disk_leaves_the_json_whole(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        self.fail_with(1, "run", "-m", MODEL, CLIP, "-q", "--json", self.dir / "o.json",
                       says="File too large", preexec_fn=limit)
        self.assertGreater(len(self.read_json("o.json")["frames"]), 0)

    def test_a_limit_of_file_sizes_is_an_error_like_a_full_disk(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        for option, name in (("--out", "o.jpg"), ("--out", "o.mkv"), ("--trace", "t.json"),
                             ("--contact-sheet", "s.png")):
            with self.subTest(name):
                path = self.dir / name
                self.fail_with(1, "run", "-m", MODEL, IMAGE, "-q", option, path,
                               says="File too large", preexec_fn=limit)
                self.assert_only("det.txt")
            for left in self.dir.glob("[ost].*"):
                left.unlink()


class StandardOutput(OutputTest):
    def lines(self):
        values = self.write("x.npy", npy("<f4", (1, 6, 1), bytes(24)))
        truth, found = self.dir / "g.json", self.dir / "d.json"
        truth.write_text('{"images": [], "annotations": [], "categories": []}')
        found.write_text("[]")
        return (("--help",), ("--version",), ("run", "--help"), ("doctor",), ("doctor", "--json"),
                ("info", IMAGE), ("info", "--json", IMAGE),
                ("track", "--mot", self.detections),
                ("track", "--mot", self.detections, "--out", "-"),
                ("decode", values, "--input-size", "64x64"),
                ("decode", values, "--input-size", "64x64", "--json", "-"),
                ("val", "--gt", truth, "--detections", found),
                ("val", "--gt", truth, "--detections", found, "--json", "-"))

    def refused(self, line, says, **options):
        done = subprocess.run([PROGRAM, *map(str, line)], stderr=subprocess.PIPE, timeout=60,
                              **options)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 1, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertIn(says, text)

    def test_a_full_one_is_an_error(self):
        for line in self.lines():
            with self.subTest(line), open("/dev/full", "w") as full:
                self.refused(line, "No space", stdout=full)

    def test_a_closed_one_is_an_error(self):
        for line in self.lines():
            with self.subTest(line):
                self.refused(line, "Bad file descriptor", preexec_fn=lambda: os.close(1))

    def test_a_pipe_without_a_reader_is_an_error(self):
        for line in self.lines():
            reader, writer = os.pipe()
            os.close(reader)
            with self.subTest(line), open(writer, "w") as pipe:
                self.refused(line, "Broken pipe", stdout=pipe)

    def test_a_closed_one_is_not_the_next_file(self):
        out = self.dir / "out.txt"
        self.refused(("track", "--mot", self.detections, "--out", out), "standard output",
                     preexec_fn=lambda: os.close(1))
        self.assertEqual(len(out.read_text().splitlines()), 1)
        self.assert_only("det.txt", "out.txt")

    @needs_engine
    def test_a_run_writes_only_its_json_there(self):
        for option, takes in (("--out", ".mp4"), ("--contact-sheet", ".png"), ("--trace", ".json")):
            with self.subTest(option):
                text = self.fail_with(2, "run", "-m", MODEL, IMAGE, "-q", option, "-",
                                      cwd=self.dir, says=f"{option} -: must name a")
                self.assertIn(takes, text)
                self.assert_only("det.txt")
        self.assertEqual(len(self.frames_of("run", "-m", MODEL, IMAGE, "-q", cwd=self.dir)), 1)
        self.assertTrue(self.succeed_json("run", "-m", MODEL, IMAGE, "-q", "--trace",
                                          "/dev/stdout")["traceEvents"])
        self.succeed("run", "-m", MODEL, IMAGE, "-q", "--out", "./-", cwd=self.dir)
        self.assert_only("-", "det.txt")

    @needs_engine
    def test_a_run_ends_when_nobody_reads_its_lines(self):
        reader, writer = os.pipe()
        os.close(reader)
        os.set_blocking(writer, True)
        with open(writer, "w") as pipe:
            done = subprocess.run([PROGRAM, "run", "-m", MODEL, *[CLIP] * 20, "--trace",
                                   self.dir / "t.json"], stdout=pipe, stderr=subprocess.PIPE,
                                  timeout=240)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output: cannot be written (Broken pipe)", done.stderr)
        self.assertEqual(self.parts(), [])


@needs_engine
class ContactSheet(OutputTest):
    def test_failures_name_the_option_and_the_path(self):
        for path in ("/sys/halyard.png", self.dir / "no" / "s.png", self.dir):
            text = self.fail_with(1, "run", "-m", MODEL, IMAGE, "--contact-sheet", path, "-q")
            self.assertTrue(text.startswith(f"halyard: --contact-sheet {path}: "), text)
        full = self.device("full.png", 7)
        text = self.fail_with(1, "run", "-m", MODEL, IMAGE, "--contact-sheet", full, "-q")
        self.assertTrue(text.startswith(f"halyard: --contact-sheet {full}: "), text)


if __name__ == "__main__":
    unittest.main()
