#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interpreters that start and end while the package is in use: subinterpreters, ends with live
threads, views and objects of every class, atexit handlers in any order. Each process must end by
itself, without output and with its program's exit code."""
import subprocess
import sys
import textwrap

from common import SLOWER, Failure, Program, main

PRELUDE = """
import atexit, gc, os, sys, threading, time, weakref
import numpy as np
{early}
import halyard
import samples
"""
# One of each object of the package, kept alive.
KEPT = """
tensor = halyard.Tensor([1 << 12], "uint8", samples.MEM)
shared = halyard.Tensor([16], mem=halyard.TensorMemory.SHM)
processor = halyard.ImageProcessor()
decoder = samples.segmenter()
tracker = halyard.ByteTrack()
frame = samples.frame()
found = decoder.decode_proto([samples.detection_output(extra=8), samples.prototypes()])
kept = [tensor, tensor.map(), np.asarray(tensor), memoryview(tensor), tensor.map().numpy(),
        np.from_dlpack(tensor), halyard.Tensor.from_array(np.zeros(9)),
        halyard.Tensor.from_dlpack(np.zeros(9)), np.asarray(shared), processor, decoder, tracker,
        found, processor.convert(frame, samples.frame(8, 8)), halyard.Region(0, 0, 1, 1)]
"""
WORK = """
def work():
    p, a, b = halyard.ImageProcessor(), samples.frame(300, 200), samples.frame(64, 64)
    while True:
        p.convert(a, b)
        a.to_jpeg()
        decoder.decode([samples.detection_output(extra=8), samples.prototypes()])
"""
PATHS = f"import sys; sys.path[:] = {sys.path!r}\n"
HOLDERS = {
    "globals": "", "module": "halyard.kept = kept; sys.kept = kept",
    "cycle": "loop = [kept]; loop.append(loop)",
    "local": "local = threading.local(); local.kept = kept",
    "default": "def keep(x=kept): pass\nsys.excepthook_keep = keep",
    "finalizer": "for thing in kept:\n    try: weakref.finalize(thing, print, end='')\n"
                 "    except TypeError: pass",
    "deleter": "class Late:\n    def __del__(self, k=kept): k[0].map(); k[9].close()\n"
               "late = Late()",
    "builtins": "import builtins; builtins.kept = kept",
}
ENDS = {
    "return": "", "exit": "sys.exit(0)", "thread exit": "threading.Thread(target=sys.exit).start()",
    "collect": "del kept, tensor; gc.collect()",
    "busy daemons": WORK + "for _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
                    "time.sleep({moment})",
    "first call": WORK + "threading.Thread(target=work, daemon=True).start()",
    "os._exit": "os._exit(0)",
    "fork": "child = os.fork()\nif child: sys.exit(os.waitpid(child, 0)[1])",
}
# A handler that is registered before the package runs after the package's own.
EARLY = {
    "nothing": "",
    "handler that calls": "atexit.register(lambda: tensor.map().unmap() if 'tensor' in globals() "
                          "else None)",
    "handler that imports": "atexit.register(lambda: __import__('halyard').Tensor((4,)))",
    "handler with a thread": textwrap.dedent("""
        def late():
            def use():
                try:
                    halyard.Tensor((4,)).map()
                    halyard.ImageProcessor().convert(frame, frame.copy())
                except Exception: pass
            thread = threading.Thread(target=use, daemon=True)
            thread.start()
            thread.join()
        atexit.register(late)"""),
}


def ends(work, program, words, may_speak=False):
    """Runs a program in an interpreter of its own."""
    work.call(words)
    work.input(program.encode())
    started = subprocess.Popen([sys.executable, "-c", PATHS + program], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        said, _ = started.communicate(timeout=15 * SLOWER)
    except subprocess.TimeoutExpired as error:
        started.kill()
        started.communicate()
        raise Failure(f"{words}: no end in {15 * SLOWER} s") from error
    work.equal(started.returncode == 0 and (may_speak or not said),
               f"{words}: ended with {started.returncode}, said {said[-600:]!r}")


def exits(work):
    """Combines an object that holds everything, a way to end, and a handler."""
    for _ in range(3):
        early = work.chance.choice(sorted(EARLY))
        holder = work.chance.choice(sorted(HOLDERS))
        end = work.chance.choice(sorted(ENDS))
        moment = f"{work.chance.random() * 0.1:.3f}"
        program = (PRELUDE.format(early=EARLY[early]) + KEPT + HOLDERS[holder] + "\n" +
                   ENDS[end].replace("{moment}", moment))
        ends(work, program, f"kept by {holder}, ended by {end}, {early} registered first")


def late_threads(work):
    """A thread that an atexit handler starts and joins, registered before the package."""
    for early in sorted(EARLY):
        ends(work, PRELUDE.format(early=EARLY[early]) + KEPT, f"{early} registered first")


# Interpreters inside this one.
MODULE = """
import warnings
warnings.simplefilter("ignore")
try:
    import _xxsubinterpreters as sub
    create = lambda: sub.create(isolated=False)
except ImportError:
    import _interpreters as sub
    create = lambda: sub.create("legacy")
{before}
for turn in range({turns}):
    one = create()
    try:
        sub.run_string(one, {inside!r})
    except Exception:
        pass
    sub.destroy(one)
{after}
"""
INSIDE = {"import": "import halyard", "use": "import halyard\nt = halyard.Tensor((4,))\n"
          "m = memoryview(t)\np = halyard.ImageProcessor()", "error": "import halyard\n"
          "try: halyard.Tensor(())\nexcept Exception: pass",
          "numpy": "import numpy, halyard\na = halyard.Tensor((4,)).numpy()"}


def subinterpreters(work):
    """Interpreters inside this one: they import the package, or are refused, and are destroyed."""
    for name, inside in INSIDE.items():
        inside = (f"import sys, warnings; sys.path[:] = {sys.path!r}\n"
                  "warnings.simplefilter('ignore')\n" + inside)
        used = work.chance.random() < 0.5
        before = "import halyard; kept = halyard.Tensor((4,)).map()" if used else ""
        after = "kept.unmap(); halyard.Tensor((4,)).map().unmap()" if used else ""
        program = MODULE.format(before=before, turns=work.chance.choice([1, 3]), inside=inside,
                                after=after)
        ends(work, program, f"subinterpreters: {name}, {'used' if used else 'not used'} by the "
             "main one", True)


WAYS = {function.__name__: function for function in (exits, late_threads, subinterpreters)}
PROGRAM = Program("interpreters", WAYS, cpu_s=120, wall_s=200)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
