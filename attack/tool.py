# SPDX-License-Identifier: Apache-2.0
"""Runs the program `halyard` for the programs of this folder, under limits, and checks its rules:
an exit code that is documented, and no control characters of a terminal in its output."""
import ctypes
import os
import pathlib
import re
import resource
import select
import signal
import struct
import subprocess
import tempfile
import time

from common import SANITIZED, SLOWER, SOURCE, Failure, find_program, limit

HARBOUR = SOURCE / "examples" / "harbour"
MODEL, CLIP = HARBOUR / "harbour.onnx", HARBOUR / "clip"
FRAMES = sorted(CLIP.glob("*.jpg"))
EXIT_CODES = (0, 1, 2, 130)
# Control characters except tab, line feed and the carriage return of a progress bar; C1 as UTF-8.
OBEYED = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")
IN_OPEN = 0x20


class Done:
    """Result of a run: code (negative: signal), out, err, peak_mib, cpu_s."""

    def __init__(self, status, used, out, err):
        self.code = os.waitstatus_to_exitcode(status)
        self.peak_mib, self.cpu_s = used.ru_maxrss >> 10, used.ru_utime + used.ru_stime
        self.out, self.err = out, err


class Running:
    """The running program; `finish` waits and returns a Done."""

    def __init__(self, arguments, limits=None, folder=None, **options):
        self.output = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        streams = {"stdin": subprocess.DEVNULL, "stdout": self.output[0], "stderr": self.output[1]}

        streams.update(options.get("streams", {}))
        before = streams.pop("preexec_fn", None)

        def prepare():
            if before is not None:
                before()
            limit(resource.RLIMIT_CORE, 0)
            for kind, value in (limits or {}).items():
                limit(kind, value)
            for closed in options.get("close", ()):
                os.close(closed)
        self.arguments = list(map(str, arguments))
        self.process = subprocess.Popen([find_program(), *self.arguments], cwd=folder,
                                        preexec_fn=prepare, **streams)

    def send(self, number):
        if self.process.returncode is None:
            os.kill(self.process.pid, number)

    def is_running(self):
        handle = os.pidfd_open(self.process.pid)
        ended = select.select([handle], [], [], 0)[0]
        os.close(handle)
        return not ended

    def finish(self, wall_s=60):
        handle = os.pidfd_open(self.process.pid)
        late = not select.select([handle], [], [], wall_s * SLOWER)[0]
        os.close(handle)
        if late:
            self.process.kill()
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = 0  # waited for
        said = []
        for stream in self.output:
            stream.seek(0)
            said.append(stream.read(1 << 22))
            stream.close()
        if late:
            raise Failure(f"no end in {wall_s * SLOWER} s: {self.arguments}")
        return Done(status, used, *said)


def run(work, arguments, codes=EXIT_CODES, wall_s=60, **options):
    """Runs the program to its end and checks its rules; counts a refusal."""
    work.call("halyard " + " ".join(map(str, arguments)))
    done = Running(arguments, **options).finish(wall_s)
    check(work, arguments, done, codes)
    return done


def check(work, arguments, done, codes=EXIT_CODES):
    words = " ".join(map(str, arguments))[:300]
    if done.code not in codes:
        raise Failure(f"exit {done.code}: {words}\n{done.err[-3000:].decode('utf-8', 'replace')}")
    for name, said in (("out", done.out), ("err", done.err)):
        obeyed = OBEYED.search(said)
        if obeyed:
            raise Failure(f"std{name} holds {obeyed.group(0)!r}, which a terminal obeys: {words}")
    if b"internal error" in done.err or (SANITIZED and b"Sanitizer" in done.err):
        raise Failure(f"{words}: {done.err[:2000].decode('utf-8', 'replace')}")
    if done.code == 0:
        work.counts["equal"] += 1
    else:
        work.refused()


class Opened:
    """Detects whether a process opens a file while the block runs."""

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.handle = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.libc.inotify_add_watch(self.handle, os.fsencode(path), IN_OPEN)
        self.times = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.times = len(os.read(self.handle, 4096)) // struct.calcsize("iIII")
        except BlockingIOError:
            pass
        os.close(self.handle)


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds * SLOWER
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def left_behind(folder, known):
    """Names in a folder that are not expected."""
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*")
                  if str(path.relative_to(folder)) not in known)


SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP}
