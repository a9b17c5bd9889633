# SPDX-License-Identifier: Apache-2.0
"""Other processes for the tests of pools and topics, in a namespace of this test's own. Imported
before halyard: the environment is read once."""
import atexit
import contextlib
import os
import shutil
import subprocess
import sys

NAMESPACE = f"py{os.getpid()}"
os.environ["HALYARD_NAMESPACE"] = NAMESPACE
FOLDER = os.path.join(os.environ.get("HALYARD_SHM_DIR", "/dev/shm"), f"halyard-{os.getuid()}",
                      NAMESPACE)
OWNER = os.getpid()
numbers = iter(range(1, 10000))


@atexit.register
def remove_namespace():
    if os.getpid() == OWNER:
        shutil.rmtree(FOLDER, ignore_errors=True)


class Peer:
    """A process that runs a program; lines go both ways. `say(text)` in the program answers
    `hear()` here, `hear()` there takes what `say()` here gives."""

    def __init__(self, program, python=sys.executable):
        text = ("import sys\n"
                "def say(*words):\n    print(*words, flush=True)\n"
                "def hear():\n    return sys.stdin.readline().strip()\n"
                "import numpy as np\nimport halyard as ef\n" + program)
        self.process = subprocess.Popen([python, "-B", "-c", text], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def hear(self):
        line = self.process.stdout.readline()
        assert line, f"the peer has ended with {self.process.wait(20)}"
        return line.strip()

    def say(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def end(self):
        """Waits for the end; the rest of what it has said."""
        rest, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, f"the peer has ended with {self.process.returncode}"
        return rest

    def kill(self):
        self.process.kill()
        self.process.wait(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(20)
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def next_name():
    return f"test/topic_{next(numbers)}"


def pair(type=None, **options):
    """Two endpoints of a topic of its own."""
    import halyard as ef
    name, type = next_name(), type or ef.Tensor
    return ef.Topic(name, type, **options), ef.Topic(name, type, **options)
