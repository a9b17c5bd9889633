# SPDX-License-Identifier: Apache-2.0
"""Common part of the programs of this folder. A program is a table of ways. A round is one seed and
one way (seed modulo ways), run in a child process, so that a crash is a result and the rounds
continue. A child records its current call in shared memory, which is readable after it dies."""
import argparse
import faulthandler
import json
import mmap
import os
import pathlib
import random
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings

SOURCE = pathlib.Path(__file__).resolve().parent.parent
WORDS_BYTES, COUNTS_BYTES, INPUT_BYTES = 4096, 4096, 4 << 20
# Programs with a sanitizer need more time and memory, and do not work with RLIMIT_AS.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
SLOWER = 8 if SANITIZED else 1
FIGURES = ("calls", "refused", "equal")


class Failure(BaseException):
    """A broken promise. Not an Exception: hostile code must not catch it by accident."""


class Round:
    """One seed: its random choices, its counts, and the record that the parent reads."""

    def __init__(self, seed, memory):
        self.seed, self.chance, self.memory = seed, random.Random(seed), memory
        self.counts = dict.fromkeys(FIGURES, 0)
        self.folder = pathlib.Path(tempfile.gettempdir())

    def call(self, words):
        """Counts a call and records its description before it is made."""
        self.counts["calls"] += 1
        self.put(0, WORDS_BYTES, str(words).encode("utf-8", "backslashreplace"))

    def input(self, data):
        """Sets the bytes of the next call; they are kept in a file if it fails."""
        self.put(WORDS_BYTES + COUNTS_BYTES, INPUT_BYTES, data)

    def refused(self):
        self.counts["refused"] += 1

    def equal(self, is_equal, words):
        """Counts a comparison; a difference ends the round."""
        if not is_equal:
            raise Failure(words)
        self.counts["equal"] += 1

    def put(self, offset, room, data):
        data = bytes(data[:room - 4])
        self.memory[offset:offset + 4] = len(data).to_bytes(4, "little")
        self.memory[offset + 4:offset + 4 + len(data)] = data

    def get(self, offset):
        size = int.from_bytes(self.memory[offset:offset + 4], "little")
        return bytes(self.memory[offset + 4:offset + 4 + size])

    def close(self):
        self.put(WORDS_BYTES, COUNTS_BYTES, json.dumps(self.counts).encode())


def attempt(work, call, *arguments, **named):
    """(value, None) or (None, error) of a call that may be refused; counted."""
    try:
        return call(*arguments, **named), None
    except Exception as error:
        str(error)
        work.refused()
        return None, error


def limit(kind, value):
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def run_way(way, work, limits):
    """The body of a child; its exit status."""
    warnings.simplefilter("ignore")
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_CPU, int(limits["cpu_s"] * SLOWER))
    if limits["memory_mib"] and not SANITIZED:
        limit(resource.RLIMIT_AS, limits["memory_mib"] << 20)
    try:
        with tempfile.TemporaryDirectory() as folder:
            work.folder = pathlib.Path(folder)
            way(work)
        return 0
    except Failure as failure:
        print(f"failure: {failure}", file=sys.stderr)
    except BaseException:  # of a way itself, or a BaseException that a call has passed on
        traceback.print_exc()
    finally:
        work.close()
    return 1


def child(way, work, limits, output):
    """Starts a round in a child; returns its process id."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            faulthandler.enable()
            status = run_way(way, work, limits)
            sys.stderr.flush()
        finally:
            os._exit(status)
    return process


def wait_for(process, seconds):
    """(wait status or None, resources) of a child, which is killed if it takes too long."""
    handle = os.pidfd_open(process)
    late = not select.select([handle], [], [], seconds)[0]
    if late:
        os.kill(process, signal.SIGABRT)  # faulthandler writes the stack
        if not select.select([handle], [], [], 10)[0]:
            os.kill(process, signal.SIGKILL)
    os.close(handle)
    _, status, used = os.wait4(process, 0)
    try:
        os.killpg(process, signal.SIGKILL)  # processes that a way has started and lost
    except (ProcessLookupError, PermissionError):
        pass
    if late:
        return f"no end in {seconds:.0f} s", used
    if os.WIFSIGNALED(status):
        return f"died of {signal.Signals(os.WTERMSIG(status)).name}", used
    return None if os.WEXITSTATUS(status) == 0 else f"exit {os.WEXITSTATUS(status)}", used


class Program:
    """Runs rounds until the time or their number is used up, and reports the results."""

    def __init__(self, name, ways, cpu_s=60, wall_s=120, memory_mib=0, rss_mib=0):
        self.name, self.ways = name, ways
        self.limits = {"cpu_s": cpu_s, "wall_s": wall_s, "memory_mib": memory_mib}
        self.rss_mib = rss_mib
        self.totals = dict.fromkeys(FIGURES, 0)
        self.failures, self.peak_mib, self.rounds = 0, 0, 0

    def way_of(self, seed, only):
        names = [name for name in self.ways if only is None or re.fullmatch(only, name)]
        return names[seed % len(names)]

    def round(self, seed, only, out):
        memory = mmap.mmap(-1, WORDS_BYTES + COUNTS_BYTES + INPUT_BYTES)
        work, name = Round(seed, memory), self.way_of(seed, only)
        with tempfile.TemporaryFile() as output:
            process = child(self.ways[name], work, self.limits, output.fileno())
            problem, used = wait_for(process, self.limits["wall_s"] * SLOWER)
            output.seek(0)
            said = output.read().decode("utf-8", "replace")
        for figure, count in json.loads(work.get(WORDS_BYTES) or b"{}").items():
            self.totals[figure] += count
        peak_mib = used.ru_maxrss >> 10
        self.peak_mib, self.rounds = max(self.peak_mib, peak_mib), self.rounds + 1
        if problem is None and self.rss_mib and peak_mib > self.rss_mib and not SANITIZED:
            problem = f"peak memory {peak_mib} MiB, at most {self.rss_mib}"
        if problem is not None:
            self.tell(seed, name, only, problem, said, work, out)

    def tell(self, seed, name, only, problem, said, work, out):
        self.failures += 1
        words = work.get(0).decode("utf-8", "replace")
        way = f" --way {only}" if only else ""
        lines = [f"FAILURE {self.name} seed {seed} way {name}: {problem}",
                 f"  last call: {words[:600]}",
                 f"  replay: attack/{self.name}.py --seed {seed}{way} --once"]
        data = work.get(WORDS_BYTES + COUNTS_BYTES)
        out.mkdir(parents=True, exist_ok=True)
        if data:
            path = out / f"{self.name}-{seed}-{name}.input"
            path.write_bytes(data)
            lines.append(f"  input: {path}")
        (out / f"{self.name}-{seed}-{name}.txt").write_text("\n".join(lines) + "\n\n" + said)
        tail = [line for line in said.splitlines() if line.strip()]
        interesting = [line for line in tail if re.search("failure:|Error|ERROR|runtime error|SUMM",
                                                          line)]
        lines += [f"    {line[:300]}" for line in (interesting or tail)[-4:]]
        for line in lines:
            print(line.encode("unicode_escape").decode(), flush=True)

    def summary(self):
        counts = ", ".join(f"{self.totals[figure]} {figure}" for figure in FIGURES)
        return (f"{self.name}: {self.rounds} rounds, {counts}, {self.failures} failures, "
                f"peak {self.peak_mib} MiB")


def replay(program, seed, only):
    """The round in this process, for a debugger; without limits."""
    work = Round(seed, mmap.mmap(-1, WORDS_BYTES + COUNTS_BYTES + INPUT_BYTES))
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder:
        work.folder = pathlib.Path(folder)
        program.ways[program.way_of(seed, only)](work)
    print(work.counts)
    return 0


def main(program, description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, help="of the first round; default: of the clock")
    parser.add_argument("--rounds", type=int, help="end after as many, however long they take")
    parser.add_argument("--seconds", type=float, default=30, help="start no round after these")
    parser.add_argument("--way", metavar="PATTERN", help="only ways whose whole name matches")
    parser.add_argument("--ways", action="store_true", help="list the ways and stop")
    parser.add_argument("--out", type=pathlib.Path, default=SOURCE / "out" / "attack",
                        help="folder for reports and inputs of failures")
    parser.add_argument("--once", action="store_true", help="run the seed in this process")
    given = parser.parse_args()
    if given.ways:
        print("\n".join(program.ways))
        return 0
    first = int(time.time()) * 1000 if given.seed is None else given.seed
    if given.once:
        return replay(program, first, given.way)
    begin, seed = time.monotonic(), first
    while (seed - first < given.rounds if given.rounds else
           time.monotonic() - begin < given.seconds):
        program.round(seed, given.way, given.out)
        seed += 1
    print(f"seeds {first}..{seed - 1}, {time.monotonic() - begin:.1f} s")
    print(program.summary())
    return 1 if program.failures else 0


def find_program():
    """The program `halyard`; exits with 77 (skipped) if there is none."""
    path = os.environ.get("HALYARD_PROGRAM") or shutil.which("halyard")
    if path is None:
        print("skipped: name the program halyard by HALYARD_PROGRAM")
        sys.exit(77)
    return path
