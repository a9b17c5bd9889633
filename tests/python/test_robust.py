# SPDX-License-Identifier: Apache-2.0
"""What must never crash or leak: threads, forks, the interpreter's end, many calls."""
import contextlib
import gc
import multiprocessing
import os
import sys
import threading

import numpy as np
import pytest

import halyard as ef
from helpers import in_threads, open_descriptors, resident_bytes, run_python

F = ef.PixelFormat
MEM = ef.TensorMemory.MEM


def run(program):
    done = run_python("-c", program, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_views_that_outlive_the_interpreter():
    run("""
import numpy as np, halyard as ef, threading
t = ef.Tensor([1 << 16], "uint8")
keep = [np.asarray(t), t.map(), memoryview(t), np.from_dlpack(t), t.map().numpy(),
        ef.Tensor.from_array(np.zeros(9)), ef.Tensor.from_dlpack(np.zeros(9)), ef.ImageProcessor()]
ef.kept = keep
loop = []
loop.append((loop, keep))
local = threading.local()
local.view = np.asarray(t)
""")


def test_the_end_while_a_thread_works():
    run("""
import halyard as ef, numpy as np, threading, time
def work():
    p = ef.ImageProcessor()
    a = ef.Tensor.from_array(np.zeros((480, 640, 3), np.uint8))
    a.set_format("rgb")
    b = ef.Tensor.image(320, 240, "rgba")
    while True:
        p.convert(a, b)
        ef.Tensor.from_array(np.zeros(9))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork():
    assert run("""
import os, numpy as np, halyard as ef
p = ef.ImageProcessor(threads=1)
a, b = (ef.Tensor.image(64, 64, "rgb") for _ in range(2))
p.convert(a, b)
view = np.asarray(a)
child = os.fork()
if child == 0:
    q = ef.ImageProcessor(threads=1)
    q.convert(a, b)
    view[...] = 1
    os._exit(int(np.asarray(a).sum() != view.size))
print(os.waitpid(child, 0)[1], int(view.sum()))
""") == "0 0\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_when_threads_have_worked():
    assert run("""
import os, sys, numpy as np, halyard as ef
p = ef.ImageProcessor()
a, b = ef.Tensor.image(1280, 960, "rgb"), ef.Tensor.image(640, 640, "rgb")
head, protos = ef.Tensor([1, 38, 64], "float32"), ef.Tensor([1, 160, 160, 32], "float32")
d = ef.Decoder.new_from_outputs([ef.Output.detection(shape=[1, 38, 64]),
                                 ef.Output.protos(shape=[1, 160, 160, 32])],
                                input_dims=(640, 640))
def work():
    p.convert(a, b)
    d.decode_proto([head, protos])
for _ in range(30):
    work()
    child = os.fork()
    if child == 0:
        for _ in range(3):
            work()
        ef.ImageProcessor().convert(a, b)
        del p
        os._exit(0)
    work()
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(1)
child = os.fork()
if child == 0:
    work()
    sys.exit(0)  # with all that ends a process
print(os.waitpid(child, 0)[1])
""") == "0\n"


def test_threads_may_use_one_tensor_and_one_processor():
    p = ef.ImageProcessor()
    src = ef.Tensor.image(320, 240, F.Rgb, mem=MEM)
    dst = ef.Tensor.image(160, 120, F.Rgba, mem=MEM)
    jpeg = src.to_jpeg()

    def work(call):
        for _ in range(60):
            try:
                call()
            except (RuntimeError, BufferError):
                pass  # anything else is a defect

    def relabel():
        dst.set_format(F.Grey)

    calls = [lambda: p.convert(src, dst), lambda: p.convert(src, dst), relabel,
             lambda: dst.decode_image(jpeg), lambda: np.asarray(dst).sum(),
             lambda: src.from_numpy(np.zeros((240, 320, 3), np.uint8)), lambda: dst.copy()]
    in_threads(work, calls)


def test_long_calls_release_the_interpreter():
    src = ef.Tensor.image(3840, 2160, F.Nv12, mem=MEM)
    dst = ef.Tensor.image(1920, 1080, F.Rgb, mem=MEM)
    p = ef.ImageProcessor(threads=1)
    done = threading.Event()
    started = threading.Event()

    def work():
        started.set()
        for _ in range(10):
            p.convert(src, dst)
        done.set()

    old = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody is made to hand the interpreter over
    try:
        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        turns = 0
        while not done.is_set():
            done.wait(0.0005)
            turns += 1
        thread.join()
    finally:
        sys.setswitchinterval(old)
    assert turns > 1


def child(queue, back):
    t = queue.get()
    np.asarray(t)[0] += 1
    back.put((t.memory, int(np.asarray(t)[0, 0]), t.shape, t.quantization))
    back.put(t)
    queue.get()  # who sends a descriptor lives until it was taken


@pytest.mark.parametrize("memory", ["SHM", "MEM"])
def test_tensors_travel_between_processes(memory):
    context = multiprocessing.get_context("spawn")
    queue, back = context.Queue(), context.Queue()
    t = ef.Tensor([4, 3], "uint8", ef.TensorMemory[memory])
    t.set_quantization_per_tensor(0.5, 1)
    np.asarray(t)[...] = 7
    process = context.Process(target=child, args=(queue, back))
    process.start()
    queue.put(t)
    kind, value, shape, quantization = back.get(timeout=20)
    assert (kind, value, shape) == (t.memory, 8, (4, 3)) and quantization == t.quantization
    assert np.asarray(t)[0, 0] == (8 if memory == "SHM" else 7)  # shared, or a copy
    returned = back.get(timeout=20)
    queue.put(None)
    assert np.asarray(returned)[0].tolist() == [8, 8, 8]
    process.join()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
def test_many_calls_leak_nothing():
    p = ef.ImageProcessor()
    src = ef.Tensor.image(16, 16, F.Rgb, mem=MEM)
    dst = ef.Tensor.image(8, 8, F.Rgba, mem=MEM)
    array = np.zeros((16, 16, 3), np.uint8)

    def turn():
        with src.map() as m:
            view = np.asarray(m)
        src.from_numpy(array)
        p.convert(src, dst, letterbox=[0, 0, 0, 255])
        np.from_dlpack(src)
        part = src[2:4, 3:5].copy()
        part.set_quantization_per_tensor(0.5, 1)
        ef.Tensor.from_array(array).set_format("rgb")
        ef.Tensor.from_dlpack(array)
        repr(src), src.shape, src.quantization, part.quantization, view[0, 0, 0]
        for wrong in (lambda: src.view(ef.Region(0, 0, 99, 9)), lambda: p.convert(src, src),
                      lambda: ef.Tensor([2], "nosuch"), lambda: src.from_numpy(3), m.numpy):
            with contextlib.suppress(RuntimeError, TypeError, BufferError):
                wrong()

    for _ in range(2000):
        turn()
    gc.collect()
    before, files = resident_bytes(), open_descriptors()
    for _ in range(8000):  # 15 calls each
        turn()
    gc.collect()
    assert resident_bytes() - before < 4 << 20
    assert open_descriptors() == files


def test_descriptors_come_back():
    for _ in range(3):
        ef.Tensor([64], "uint8", ef.TensorMemory.SHM)
    files = open_descriptors()
    for _ in range(100):
        t = ef.Tensor([64], "uint8", ef.TensorMemory.SHM)
        fd = t.fd
        other = ef.Tensor.from_fd(fd, [64], "uint8")
        os.close(fd)
        np.asarray(other)[0] = 1
        del t, other
    assert open_descriptors() == files


def test_a_thread_of_an_atexit_handler_from_before_the_import_comes_back():
    assert run("""
import atexit, threading
def last():
    def work():
        t = ef.Tensor.image(640, 480, "rgb")
        ef.ImageProcessor().convert(t, ef.Tensor.image(320, 240, "rgba"))
        ef.Tensor.from_array(np.zeros(9))
        t.to_png()
        print("worked")
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
atexit.register(last)
import numpy as np, halyard as ef
""") == "worked\nworked\n"


def test_the_end_while_threads_come_back_from_calls():
    for _ in range(5):
        run("""
import halyard as ef, numpy as np, threading, time
a = ef.Tensor.image(640, 480, "rgb")
def work():
    p = ef.ImageProcessor(threads=1)
    b = ef.Tensor.image(320, 240, "rgba")
    png = b.to_png()
    while True:
        p.convert(a, b)
        b.decode_image(png)
        ef.Tensor.from_array(np.zeros(9))
for _ in range(6):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
""")


# Calls of the package that call Python code of the program.
CALLS_BACK = {
    "dlpack": "ef.Tensor.from_dlpack(Slow())",
    "size": "ef.Tensor([Slow(), 3], 'uint8')",
    "shape": "ef.Tensor(Slow(), 'uint8')",
    "path": "ef.load(Slow())",
    "source": "[*ef.Pipeline(frames())]",
}


@pytest.mark.parametrize("call", CALLS_BACK)
def test_the_end_while_a_call_is_in_python_code_that_it_called(call):
    for _ in range(3):
        run(f"""
import halyard as ef, threading, time
begun = threading.Event()
def wait(*_, **__):
    begun.set()
    while True:
        time.sleep(0.0005)
class Slow:
    __dlpack__ = __getitem__ = __iter__ = __index__ = __fspath__ = wait
    def __dlpack_device__(self): return (1, 0)
    def __len__(self): return 3
def frames():
    wait()
    yield
threading.Thread(target=lambda: {CALLS_BACK[call]}, daemon=True).start()
begun.wait()
""")


SUBINTERPRETER = """
import _xxsubinterpreters as interpreters
{before}
for _ in range(3):
    other = interpreters.create()
    interpreters.run_string(other, '''
try:
    import halyard
except ImportError as error:
    text = str(error)
    assert "subinterpreter" in text or "does not support" in text, text
else:
    raise SystemExit("was imported")
''')
    interpreters.destroy(other)
import halyard as ef
print(ef.Tensor([2], "uint8").shape)
"""


@pytest.mark.parametrize("before", ["", "import halyard"])
def test_subinterpreters_are_told_so_and_end(before):
    pytest.importorskip("_xxsubinterpreters")
    assert run(SUBINTERPRETER.format(before=before)) == "(2,)\n"


LONG_DECODE = """
import os, signal, struct, threading, zlib, numpy as np, halyard as ef
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let background jobs ignore it
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
def png(side):
    packed = zlib.compressobj(1)
    rows = [packed.compress(b"\\0" + b"\\7" * 3 * side) for _ in range(side)]
    return (b"\\x89PNG\\r\\n\\x1a\\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", b"".join(rows) + packed.flush()) + chunk(b"IEND", b""))
def jpeg(side):
    t = ef.Tensor.image(side, side, "grey", ef.TensorMemory.MEM)
    t.fill(7)
    return t.to_jpeg()
"""


@pytest.mark.parametrize("kind, side, channels", [("png", 16000, 3), ("jpeg", 16000, 1)])
def test_ctrl_c_ends_a_long_decode_in_the_middle(kind, side, channels):
    """The last row is not there, so the decode did not go on to its end."""
    assert run(LONG_DECODE + f"""
data = {kind}({side})
t = ef.Tensor([{side}, {side}, {channels}], "uint8", ef.TensorMemory.MEM)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    t.decode_image(data)
except KeyboardInterrupt:
    print("stopped", np.asarray(t)[-1].any(), t.format)
print(ef.Tensor.load_from_bytes({kind}(8)).width)
""") == "stopped False None\n8\n"


def test_ctrl_c_ends_a_long_load_in_the_middle():
    """Not all of the image's memory has been written to by then."""
    assert run(LONG_DECODE + """
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
def interrupt(*_):
    print(resident() - before < 0.9 * 3 * 16000 ** 2)
    raise KeyboardInterrupt
data = png(16000)
before = resident()
signal.signal(signal.SIGINT, interrupt)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    ef.Tensor.load_from_bytes(data, "rgb")
except KeyboardInterrupt:
    print("stopped")
""") == "True\nstopped\n"


def test_a_handler_of_a_signal_runs_in_the_middle_of_a_decode():
    """The decode goes on when the handler returns, and its result is whole."""
    assert run("""
import os, signal, threading, halyard as ef
image = ef.Tensor.image(12000, 12000, "grey", ef.TensorMemory.MEM)
data = image.to_png(1)
seen = []
signal.signal(signal.SIGUSR1, lambda *a: seen.append(decoding))
decoding = True
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
width = ef.Tensor.load_from_bytes(data).width
decoding = False
print(width, len(seen) <= 1)
""") == "12000 True\n"
