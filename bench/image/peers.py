#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times EdgeFirst's wheels and OpenCV's in turn with halyard_bench: one row of the speed table at a
time, on one core and on two. Run it with a Python that has the wheels:

    pip install edgefirst-hal==0.28.3 edgefirst-tensor edgefirst-image numpy opencv-python-headless
    bench/image/peers.py [--bench PROGRAM] [--only REGEX] [--turns N] [--json FILE]

Results are medians over the turns in microseconds; ratios are peer / ours (above 1: ours is
faster). Columns: ours and cv46 (OpenCV's C++ library) from the program; hal (edgefirst-hal), image
(edgefirst-image) and cv (OpenCV's wheel) from Python, where a call costs about 0.3 us more. The
pixels are noise for all.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HD, NET = (1920, 1080), (640, 640)
# Row of the program -> source format and size, destination format, size and element type, rotated.
ROWS = {
    "nv12_1080p_letterbox_640_rgb": ("Nv12", HD, "Rgb", NET, "uint8", False),
    "nv12_1080p_letterbox_640_rgba": ("Nv12", HD, "Rgba", NET, "uint8", False),
    "yuyv_1080p_letterbox_640_rgb": ("Yuyv", HD, "Rgb", NET, "uint8", False),
    "yuyv_1080p_letterbox_640_rgba": ("Yuyv", HD, "Rgba", NET, "uint8", False),
    "nv12_1080p_letterbox_640_rgb_antialiased": ("Nv12", HD, "Rgb", NET, "uint8", False),
    "nv12_1080p_letterbox_640_rgba_antialiased": ("Nv12", HD, "Rgba", NET, "uint8", False),
    "yuyv_1080p_letterbox_640_rgb_antialiased": ("Yuyv", HD, "Rgb", NET, "uint8", False),
    "rgb_1080p_letterbox_640_rgb_antialiased": ("Rgb", HD, "Rgb", NET, "uint8", False),
    "nv12_1080p_letterbox_640_planar_f32": ("Nv12", HD, "PlanarRgb", NET, "float32", False),
    "nv12_1080p_letterbox_640_planar_f16": ("Nv12", HD, "PlanarRgb", NET, "float16", False),
    "nv12_1080p_letterbox_640_planar_i8": ("Nv12", HD, "PlanarRgb", NET, "int8", False),
    "nv12_2160p_letterbox_640_rgb": ("Nv12", (3840, 2160), "Rgb", NET, "uint8", False),
    "rgb_1080p_letterbox_640_rgb": ("Rgb", HD, "Rgb", NET, "uint8", False),
    "nv12_1080p_same_size_rgba": ("Nv12", HD, "Rgba", HD, "uint8", False),
    "yuyv_1080p_same_size_rgb": ("Yuyv", HD, "Rgb", HD, "uint8", False),
    "rgba_1080p_turned_90": ("Rgba", HD, "Rgba", (1080, 1920), "uint8", True),
    "rgb_360p_enlarged_1080p_rgb": ("Rgb", (640, 360), "Rgb", HD, "uint8", False),
    "call_rgba_8x8": ("Rgba", (8, 8), "Rgba", (8, 8), "uint8", False),
}
SHAPES = {"Nv12": lambda w, h: (h * 3 // 2, w), "Yuyv": lambda w, h: (h, w, 2),
          "Rgb": lambda w, h: (h, w, 3), "Rgba": lambda w, h: (h, w, 4)}


def letterboxes(name):
    return "letterbox" in name


# ---- the worker: a process on some cores that times the Python peers row by row ----


def edgefirst(module, name):
    import numpy as np
    source, size, target, target_size, dtype, rotated = ROWS[name]
    data = np.random.default_rng(1).integers(0, 256, SHAPES[source](*size), np.uint8)
    processor = module.ImageProcessor()
    src = module.Tensor.image(*size, getattr(module.PixelFormat, source), module.TensorMemory.MEM)
    src.from_numpy(data.reshape(src.shape))
    dst = processor.create_image(*target_size, getattr(module.PixelFormat, target), dtype)
    options = {}
    if letterboxes(name):
        options["letterbox"] = [114, 114, 114, 255]
    if rotated:
        options["rotation"] = module.Rotation.Clockwise90
    return lambda: processor.convert(src, dst, **options)


def opencv(cv2, name):
    import numpy as np
    source, size, target, target_size, dtype, rotated = ROWS[name]
    if dtype in ("int8", "float16") or "antialiased" in name or size == (8, 8):
        return None
    data = np.random.default_rng(1).integers(0, 256, SHAPES[source](*size), np.uint8)
    if rotated:
        rotated_image = np.empty((target_size[1], target_size[0], 4), np.uint8)
        return lambda: cv2.rotate(data, cv2.ROTATE_90_CLOCKWISE, rotated_image)
    code = {"Nv12": "NV12", "Yuyv": "YUYV"}.get(source)
    code = code and getattr(cv2, f"COLOR_YUV2{'RGBA' if target == 'Rgba' else 'RGB'}_{code}")
    if size == target_size:
        out = np.empty((size[1], size[0], 4 if target == "Rgba" else 3), np.uint8)
        return lambda: cv2.cvtColor(data, code, out)
    scale = min(target_size[0] / size[0], target_size[1] / size[1])
    inner = round(size[0] * scale), round(size[1] * scale)
    x, y = (target_size[0] - inner[0]) // 2, (target_size[1] - inner[1]) // 2
    boxed = np.full((target_size[1], target_size[0], 4 if target == "Rgba" else 3), 114, np.uint8)
    color = np.empty((size[1], size[0], boxed.shape[2]), np.uint8)

    def work():
        full = cv2.cvtColor(data, code, color) if code else data
        boxed[y:y + inner[1], x:x + inner[0]] = cv2.resize(full, inner)
        if dtype == "float32":
            cv2.dnn.blobFromImage(boxed, 1 / 255)
    return work


def peer_modules():
    found = {}
    try:
        import edgefirst_hal
        found["hal"] = edgefirst_hal
    except ImportError as error:
        print(f"peers: {error}", file=sys.stderr)
    try:
        from edgefirst import image
        found["image"] = image
    except ImportError as error:
        print(f"peers: {error}", file=sys.stderr)
    return found


def timed(work, seconds=0.05):
    work()
    start = time.perf_counter()
    work()
    calls = max(1, min(2000, int(seconds / max(time.perf_counter() - start, 1e-7))))
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls * 1e6


def worker():
    """Reads names of rows, answers with one line of JSON each."""
    os.environ.setdefault("EDGEFIRST_FORCE_BACKEND", "cpu")
    os.environ.setdefault("RUST_LOG", "error")
    modules = peer_modules()
    try:
        import cv2
        cv2.setNumThreads(len(os.sched_getaffinity(0)))
    except ImportError:
        cv2 = None
    built = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in built:
            built[name] = {role: edgefirst(module, name) for role, module in modules.items()}
            if "antialiased" in name:
                built[name].pop("image", None)  # resamples with two taps: other work
            cv = opencv(cv2, name) if cv2 else None
            if cv:
                built[name]["cv"] = cv
        print(json.dumps({role: timed(work) for role, work in built[name].items()}), flush=True)


# ---- the main process ----


def start_worker(threads):
    cores = sorted(os.sched_getaffinity(0))[:threads]
    return subprocess.Popen([sys.executable, __file__, "--worker"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True,
                            preexec_fn=lambda: os.sched_setaffinity(0, cores))


def ask(process, name):
    process.stdin.write(name + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def program(path, name, threads):
    row = f"^image/{name}/iterations" if name.startswith("call") else \
        f"^image/{name}/threads:{threads}/"
    out = subprocess.run([path, f"--benchmark_filter={row}", "--benchmark_format=json"],
                         check=True, capture_output=True, text=True).stdout
    figures = json.loads(out)["benchmarks"][0] if out.strip() else {}
    names = {"ours_us": "ours", "opencv_us": "cv46"}
    return {short: figures[long] for long, short in names.items() if long in figures}


def show(name, threads, medians):
    ours = medians.get("ours")
    cells = [f"{role} {us:.4g}" for role, us in medians.items()]
    ratios = [f"{role}/ours {us / ours:.2f}" for role, us in medians.items()
              if ours and role != "ours"]
    print(f"{name:44s} {threads}  {'  '.join(cells)}  |  {'  '.join(ratios)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parents[2] / "build/bench/halyard_bench"
    parser.add_argument("--bench", default=str(default))
    parser.add_argument("--only", default="")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker()
    workers = {threads: start_worker(threads) for threads in (1, 2)}
    rows = []
    for name in ROWS:
        if not re.search(arguments.only, name):
            continue
        for threads, process in workers.items():
            times = {}
            for _ in range(arguments.turns):
                turn = program(arguments.bench, name, threads) | ask(process, name)
                for role, us in turn.items():
                    times.setdefault(role, []).append(us)
            medians = {role: statistics.median(us) for role, us in times.items()}
            show(name, threads, medians)
            rows.append({"row": name, "threads": threads, **medians})
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
