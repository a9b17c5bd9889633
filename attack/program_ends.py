#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends the program at random moments by signals and limits, and gives its outputs harmful names:
devices, pipes, links, inputs, one another. A final name must have a complete file or the old one;
no part file may be left; inputs must be unchanged; devices must stay devices."""
import hashlib
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

import numpy as np

import halyard
import samples
import tool
from common import SLOWER, Failure, Program, attempt, main

ENDED = (0, 1, 130, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGXFSZ, 129, 143)


class Desk:
    """A folder `in` of inputs, whose bytes are remembered, and a folder `out`."""

    def __init__(self, work):
        self.inputs, self.out = work.folder / "in", work.folder / "out"
        shutil.rmtree(work.folder, ignore_errors=True)
        for folder in (self.inputs / "clip", self.out):
            folder.mkdir(parents=True)
        # Enough that most signals come before the end.
        self.frames = tool.FRAMES[:30]
        for frame in self.frames:
            shutil.copy(frame, self.inputs / "clip")
        shutil.copy(tool.MODEL, self.inputs / "m.onnx")
        (self.inputs / "labels.txt").write_text("boat\nbuoy\ngull\n")
        (self.inputs / "mot.txt").write_text("".join(
            f"{i},-1,{i % 50},10,20,30,0.9,-1,-1,-1\n" for i in range(1, 3000)))
        (self.inputs / "gt.json").write_text(json.dumps(
            {"images": [{"id": 1, "width": 60, "height": 40, "file_name": "a.jpg"}],
             "categories": [{"id": 1, "name": "a"}], "annotations": [
                 {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 20], "area": 600,
                  "iscrowd": 0}]}))
        (self.inputs / "dt.json").write_text(json.dumps(
            [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 20], "score": 0.5}]))
        np.save(self.inputs / "a.npy", samples.detection_output())
        large = samples.frame(1600, 1200, seed=work.seed)
        (self.inputs / "large.jpg").write_bytes(large.to_jpeg())
        self.before = self.sums()
        self.model = ["-m", self.inputs / "m.onnx"]

    def sums(self):
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(self.inputs.rglob("*")) if path.is_file()}

    def jobs(self):
        """{name: (arguments, names that may be in `out` afterwards)}."""
        clip, out = self.inputs / "clip", self.out
        frames = {f"drawn/{frame.name}" for frame in self.frames} | {"drawn"}
        return {
            "images": (["run", *self.model, clip, "-q", "--out", out / "drawn", "--json",
                          out / "o.json", "--trace", out / "t.json", "--contact-sheet",
                          out / "s.png"], frames | {"o.json", "t.json", "s.png"}),
            "video": (["run", *self.model, clip, "-q", "--track", "--out", out / "o.mp4", "--json",
                       out / "o.json"], {"o.mp4", "o.json"}),
            "tiles": (["convert", self.inputs / "large.jpg", out / "o.png", "--tiles", "300x300"],
                      {f"o_{i:04}.png" for i in range(99)}),
            "convert": (["convert", self.inputs / "large.jpg", out / "o.npy", "--dtype", "f32",
                         "--size", "1500x1100"], {"o.npy"}),
            "track": (["track", "--mot", self.inputs / "mot.txt", "--out", out / "o.txt"],
                      {"o.txt"}),
            "val": (["val", "--gt", self.inputs / "gt.json", "--detections",
                     self.inputs / "dt.json", "--json", out / "o.json"], {"o.json"}),
            "decode": (["decode", self.inputs / "a.npy", "--input-size", "64x64", "--box-units",
                        "fraction", "--json", out / "o.json"], {"o.json"})}

    def names(self):
        """The names of all jobs."""
        return set().union(*(names for _, names in self.jobs().values()))

    def judge(self, work, words, names):
        """Checks the content of the folders after a job, however it ended."""
        work.equal(self.sums() == self.before, f"{words}: an input has changed")
        left = tool.left_behind(self.out, names)
        work.equal(not left, f"{words}: left behind {left}")
        for path in self.out.rglob("*"):
            if path.is_file() and not whole(path):
                raise Failure(f"{words}: {path.name} is incomplete, {path.stat().st_size} bytes")


def whole(path):
    """Whether a file is complete, by the format of its name."""
    data = path.read_bytes()
    if path.suffix in (".png", ".jpg"):
        try:
            return halyard.load(path).width > 0
        except Exception:
            return False
    if path.suffix == ".json":
        try:
            return json.loads(data) is not None
        except ValueError:
            return False
    if path.suffix == ".npy":
        return np.load(path).size > 0
    return b"moov" in data if path.suffix == ".mp4" else data.endswith(b"\n")


def signals(work):
    """INT once or twice, TERM, HUP at any moment between the start and the end."""
    desk = Desk(work)
    jobs, known = desk.jobs(), set()
    for _ in range(3):
        name = work.chance.choice(["images", "images", "video", "tiles", "convert", "track"])
        arguments, names = jobs[name]
        known |= names  # the files of an earlier job stay
        kind = work.chance.choice(["INT", "INT INT", "INT INT", "TERM", "HUP", "HUP"])
        after_s = work.chance.random() ** 2 * (1.5 if name in ("images", "video") else 0.15)
        words = f"{name}, {kind} after {after_s:.4f} s"
        work.call(words)
        running = tool.Running(arguments)
        time.sleep(after_s * SLOWER)
        for one in kind.split():
            running.send(tool.SIGNALS[one])
            time.sleep(work.chance.random() * 0.02)
        done = running.finish()
        tool.check(work, [words], done, ENDED)
        desk.judge(work, words, known)


def amid_parts(work):
    """A signal at a moment when a part file exists."""
    desk = Desk(work)
    arguments, names = desk.jobs()[work.chance.choice(["images", "video"])]
    kind = work.chance.choice(["HUP", "INT", "INT INT", "TERM"])
    words = f"{arguments[0]}, {kind} while something is written"
    work.call(words)
    running = tool.Running(arguments)
    tool.wait_until(lambda: tool.left_behind(desk.out, names) or not running.is_running(), 10)
    for one in kind.split():
        running.send(tool.SIGNALS[one])
        time.sleep(work.chance.random() * 0.01)
    done = running.finish()
    tool.check(work, [words], done, ENDED)
    desk.judge(work, words, names)


def file_size(work):
    """Files that may not grow (SIGXFSZ)."""
    desk = Desk(work)
    for name, (arguments, _) in desk.jobs().items():
        most = work.chance.choice([0, 1, 100, 5000, 100000])
        done = tool.run(work, arguments, ENDED, limits={resource.RLIMIT_FSIZE: most})
        words = f"{name} with files of at most {most} bytes: {done.err[:200]!r}"
        desk.judge(work, words, desk.names())


class PipeReader:
    """A process that reads all data of a pipe, so that a writer never waits for long."""

    def __init__(self, path, copy):
        self.copy = copy
        with open(copy, "wb") as file:
            self.process = subprocess.Popen(["cat", path], stdout=file, stderr=subprocess.DEVNULL)

    def finish(self, is_written):
        """The bytes that came; a pipe that nobody wrote to has no end."""
        if not is_written:
            self.process.kill()
        self.process.wait(60 * SLOWER)
        return self.copy.read_bytes()


def special(work, path):
    """Makes a device, a pipe with a reader, or a link to one; returns its kind and its reader."""
    kind = work.chance.choice(["null", "full", "fifo", "link"] if os.geteuid() == 0 else ["fifo"])
    target = path if kind != "link" else path.with_name("device")
    reader = None
    try:
        if kind != "fifo":
            number = os.makedev(1, 7 if kind == "full" else 3)
            os.mknod(target, 0o666 | stat.S_IFCHR, number)
    except PermissionError:
        kind = "link" if kind == "link" else "fifo"
    if not os.path.lexists(target):
        os.mkfifo(target)
        reader = PipeReader(target, work.folder / "read")
    if target != path:
        os.symlink(target, path)
    return kind, reader


def devices(work):
    """Each output as a device or a pipe: it must be written to, and still exist."""
    for name, option in (("images", "--trace"), ("images", "--json"), ("video", "--json"),
                         ("images", "--contact-sheet"), ("track", "--out"), ("val", "--json"),
                         ("decode", "--json"), ("convert", None)):
        desk = Desk(work)
        arguments, names = desk.jobs()[name]
        place = arguments.index(option) + 1 if option else 2
        path = arguments[place]
        kind, reader = special(work, path)
        before = path.lstat()
        done = tool.run(work, arguments, codes=(0, 1, 2, -signal.SIGPIPE))
        words = f"{name} {option or ''} onto a {kind}, exit {done.code}"
        if reader is not None:
            got = reader.finish(is_written=done.code == 0)
            work.equal(done.code != 0 or len(got) > 0, f"{words}: nothing has come")
        work.equal(os.path.lexists(path) and path.lstat().st_ino == before.st_ino and
                   path.lstat().st_mode == before.st_mode, f"{words}: it has been replaced")
        work.equal(kind != "full" or done.code != 0, f"{words}: nothing is told")
        left = tool.left_behind(desk.out, names | {"device"})
        work.equal(not left, f"{words}: left behind {left}")


def collisions(work):
    """Outputs that are inputs, by name, by link and by another path; and outputs twice."""
    desk = Desk(work)
    jobs, inputs = desk.jobs(), desk.inputs
    hard, soft = desk.out / "hard", desk.out / "soft"
    cases = [("val", "--json", "gt.json"), ("val", "--json", "dt.json"),
             ("track", "--out", "mot.txt"), ("images", "--json", "m.onnx"),
             ("images", "--trace", "m.onnx"), ("images", "--json", "labels.txt"),
             ("images", "--contact-sheet", "clip/frame_0000.jpg"), ("decode", "--json", "a.npy"),
             ("images", "--json", "clip/frame_0001.jpg"), ("images", "--trace", "labels.txt"),
             ("images", "--out", "clip")]
    for name, option, victim in work.chance.sample(cases, 5):
        arguments = list(map(str, jobs[name][0])) + (
            ["--labels", str(inputs / "labels.txt")] if name == "images" else [])
        way = work.chance.choice(["name", "hard", "soft", "dots"])
        target = {"name": inputs / victim, "dots": inputs / "clip" / ".." / victim, "hard": hard,
                  "soft": soft}[way]
        for link in (hard, soft):
            link.unlink(missing_ok=True)
        if (inputs / victim).is_file():
            os.link(inputs / victim, hard)
        os.symlink(inputs / victim, soft)
        arguments[arguments.index(option) + 1] = str(target)
        tool.run(work, arguments)
        work.equal(desk.sums() == desk.before,
                   f"{name} {option} onto the input {victim} (by {way}): it has changed")
    for first, second in (("--json", "--trace"), ("--json", "--contact-sheet")):
        arguments = list(map(str, jobs["images"][0]))
        arguments[arguments.index(second) + 1] = arguments[arguments.index(first) + 1]
        done = tool.run(work, arguments)
        work.equal(done.code != 0 and not (desk.out / "o.json").exists(),
                   f"{first} and {second} are one file: exit {done.code}")


def guessed_parts(work):
    """Links placed under guessed names of part files must not redirect output."""
    desk = Desk(work)
    victim = work.folder / "victim"
    for name, (arguments, _) in desk.jobs().items():
        victim.write_text("mine")
        targets = [word for word in map(str, arguments) if word.startswith(str(desk.out))]

        def lay(targets=targets):
            for target in targets:
                for form in (f"{target}.part-{os.getpid()}", f"{target}.part", f"{target}.tmp"):
                    os.symlink(victim, form)
        work.call(f"{name}, links where part files may be")
        done = tool.Running(arguments, streams={"preexec_fn": lay}).finish()
        tool.check(work, arguments, done)
        work.equal(victim.read_text() == "mine", f"{name}: a link was followed")
        work.equal(not any(os.path.islink(target) for target in targets),
                   f"{name}: the result is a link that somebody laid")
        shutil.rmtree(desk.out)
        desk.out.mkdir()


def kept_files(work):
    """An existing output keeps its permissions; a link stays a link, and its target is written."""
    for name, option in (("images", "--json"), ("images", "--trace"), ("track", "--out"),
                         ("val", "--json"), ("decode", "--json"), ("images", "--contact-sheet"),
                         ("convert", None)):
        desk = Desk(work)
        arguments, _ = desk.jobs()[name]
        path = arguments[arguments.index(option) + 1 if option else 2]
        real = path.with_name("real" + path.suffix)
        is_link = work.chance.random() < 0.5
        real.write_text("old")
        real.chmod(0o600)
        os.symlink(real.name, path) if is_link else real.rename(path)
        done = tool.run(work, arguments)
        kept = real if is_link else path
        words = f"{name} {option or ''} onto a {'link' if is_link else 'file'} of 0600"
        work.equal(path.is_symlink() == is_link, f"{words}: the link is gone")
        work.equal(stat.S_IMODE(kept.stat().st_mode) == 0o600, f"{words}: permissions are lost")
        work.equal((kept.read_bytes() != b"old") == (done.code == 0), f"{words}: not written")


def streams(work):
    """Standard streams that are full, closed or end early."""
    desk = Desk(work)
    jobs = desk.jobs()
    for arguments in (["--help"], ["--version"], ["run", "--help"],
                      ["info", desk.inputs / "large.jpg"],
                      ["track", "--mot", desk.inputs / "mot.txt", "--out", "-"],
                      [*jobs["decode"][0][:-1], "-"], [*jobs["val"][0][:-1], "-"],
                      ["run", *desk.model, desk.inputs / "clip", "-q", "--json", "-"]):
        with open("/dev/full", "wb") as full:
            done = tool.run(work, arguments, streams={"stdout": full})
        work.equal(done.code == 1, f"{arguments[:3]} to a full standard output: exit {done.code}")
        reader, writer = os.pipe()
        running = tool.Running(arguments, streams={"stdout": writer})
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        tool.check(work, arguments, running.finish(), (0, 1, -signal.SIGPIPE))
    for name, (arguments, _) in jobs.items():
        closed = work.chance.choice([(0,), (1,), (2,), (0, 1, 2), (0, 2)])
        tool.run(work, arguments, close=closed)
        desk.judge(work, f"{name} with descriptors {closed} closed", desk.names())
    done = tool.run(work, ["run", *desk.model, desk.inputs / "clip", "-q", "--contact-sheet",
                           desk.out / "none" / "s.png"])
    work.equal(b"--contact-sheet" in done.err and done.code == 1,
               f"a contact sheet that cannot be written: {done.err!r}")


def small_limits(work):
    """Few descriptors, little memory."""
    desk = Desk(work)
    limits = work.chance.choice([{resource.RLIMIT_NOFILE: 10}, {resource.RLIMIT_NOFILE: 6},
                                 *({resource.RLIMIT_AS: mib << 20}
                                   for mib in (120, 250, 400, 700))])
    if resource.RLIMIT_AS in limits and SLOWER > 1:
        return  # a sanitizer's shadow does not fit
    for name, (arguments, _) in desk.jobs().items():
        done = tool.run(work, arguments, limits=limits)
        desk.judge(work, f"{name} under {limits}, exit {done.code}", desk.names())


def full_disk(work):
    """Outputs on a file system of 64 kB."""
    desk = Desk(work)
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=64k none {desk.out} 2>&1") != 0:
        return
    try:
        for name, (arguments, _) in desk.jobs().items():
            shutil.rmtree(desk.out / "drawn", ignore_errors=True)
            for path in desk.out.iterdir():
                path.unlink()
            done = tool.run(work, arguments)
            desk.judge(work, f"{name} on a full disk, exit {done.code}", desk.names())
    finally:
        os.system(f"umount {desk.out}")


WAYS = {function.__name__: function for function in (
    signals, amid_parts, file_size, devices, collisions, guessed_parts, kept_files, streams,
    small_limits, full_disk)}
PROGRAM = Program("program_ends", WAYS, cpu_s=120, wall_s=150)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
