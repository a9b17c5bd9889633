# SPDX-License-Identifier: Apache-2.0
"""Calls that must fail, calls from several threads, programs of their own, and what they hold."""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys


def fails(error, *expected):
    """Each call raises the error, and its message has the text: fails(error, [text,] call...).
    Returns the last error."""
    text, *calls = (None, *expected) if callable(expected[0]) else expected
    for number, call in enumerate(calls):
        try:
            call()
        except error as raised:
            caught, said = raised, str(raised)
            assert re.search(text or "", said), f"call {number} says {said!r}, not {text!r}"
        else:
            raise AssertionError(f"call {number} raises no {error}")
    try:
        return caught
    finally:
        del caught  # its traceback has this frame: no cycle may keep what the calls used


def in_threads(work, each):
    """Does `work(one)` for each one on a thread of its own; raises what the first one raised."""
    each = list(each)
    with concurrent.futures.ThreadPoolExecutor(len(each)) as threads:
        for done in [threads.submit(work, one) for one in each]:
            done.result()


def run_python(*arguments, **options):
    """What a program of its own has printed, and how it has ended."""
    return subprocess.run([sys.executable, "-B", *map(str, arguments)], capture_output=True,
                          text=True, check=False, **options)


def ends_in_child(call):
    """What `call` gives in a child, from 0 to 9; one that waits for ever is ended by a signal."""
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(20)
            os._exit(call())
        finally:
            os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.WIFEXITED(status), f"the child was ended by signal {os.WTERMSIG(status)}"
    return os.WEXITSTATUS(status)


def address(array):
    return array.__array_interface__["data"][0]


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
