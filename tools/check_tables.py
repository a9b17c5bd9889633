# SPDX-License-Identifier: Apache-2.0
"""The tables of tools/check.py: the layers, the layer of each public header, and the home of each
outside header. docs/architecture.md shows the same layers, CMakeLists.txt builds them."""

# Layer -> layers directly below it. A layer may include public headers of all layers that it can
# reach, its own private headers, and private headers of base ("base/*.h").
LAYERS = {
    "base": [],
    "tensor": ["base"],
    "reconcile": ["tensor"],
    "ipc": ["tensor"],
    "codec": ["tensor"],
    "gl": ["tensor"],
    "decode": ["tensor"],
    "track": ["base"],
    "scene": ["decode", "track"],
    "image": ["tensor", "gl"],
    "evaluate": ["image", "decode"],
    "draw": ["image", "track", "decode"],
    "model": ["decode"],
    "capture": ["ipc", "codec"],
    "pipeline": ["model", "capture", "evaluate", "draw", "scene", "ipc"],
    "compat": ["draw", "scene", "codec"],
    "capi": ["reconcile", "ipc", "codec", "image", "decode", "track", "scene", "draw", "model",
             "capture", "pipeline", "compat"],
}


def reachable(layer, table):
    """The layer and all layers below it."""
    seen, todo = set(), [layer]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += table.get(name, [])
    return seen | {"base"}


# Planned layers: in the table above, not yet in CMakeLists.txt.
TO_COME = set()

# Private headers of other layers than base that a file may include: folder -> path prefixes.
PRIVATE_EXCEPTIONS = {"src/image/gl": ["gl/"], "src/draw/mask/": ["decode/mask/"],
                      "src/draw/gl/": ["gl/", "image/gl/", "decode/mask/"],
                      "src/compat/painter": ["draw/"],
                      # EdgeFirst's thresholds above 1, which the public function refuses
                      "src/compat/tiles": ["decode/tile/"]}

# Layers that may include public headers and their own, but not the private headers of base.
PUBLIC_ONLY = {"capi"}

# Public header, as its path below include/halyard without ".h" -> its layer. Complete.
PUBLIC_HEADERS = {
    "export": "base", "result": "base", "fd": "base", "geometry": "base", "detection": "base",
    "placement": "base", "moved": "base", "log": "base", "trace": "base", "version": "base",
    "output_file": "base", "threads": "base", "enumerators": "base",
    "format": "tensor", "colorimetry": "tensor", "quantization": "tensor", "buffer": "tensor",
    "tensor": "tensor", "dlpack": "tensor", "dmabuf": "tensor", "drm": "tensor",
    "import": "tensor", "transfer": "tensor", "recycler": "tensor", "device": "tensor",
    "frame_layout": "tensor", "gl": "gl",
    "view": "tensor", "dequantize": "tensor", "byte_levels": "tensor",
    "strided_copy": "tensor", "eigen": "tensor", "opencv": "tensor",
    "attributes": "reconcile", "reconcile": "reconcile", "buffer_engine": "reconcile",
    "negotiated_buffer": "reconcile", "attribute_blob": "reconcile",
    "buffer_exchange": "reconcile", "buffer_plan": "reconcile",
    "pool": "ipc", "received": "ipc", "tensor_descriptor": "ipc", "topic": "ipc",
    "wait_set": "ipc", "ipc_info": "ipc", "message_members": "ipc",
    "sensor_message": "ipc", "image_message": "ipc", "point_cloud": "ipc", "depth_image": "ipc",
    "detection_message": "ipc",
    "codec": "codec", "npy": "codec", "image": "image", "tiling": "image", "normalize": "image",
    "track": "track",
    "assignment": "track", "uuid": "track",
    "decode": "decode", "description": "decode", "describe": "decode",
    "output_matcher": "decode", "selection": "decode",
    "mask": "decode", "polygon": "decode", "rle": "decode", "semantic": "decode",
    "tile_mask": "decode", "tile_merge": "decode",
    "evaluate": "evaluate", "preset": "evaluate",
    "scene": "scene", "draw": "draw", "mask_draw": "draw", "palette": "draw", "model": "model",
    "c/engine_plugin": "model",
    "capture": "capture", "camera": "capture", "video_codec": "capture",
    "video_stream": "capture", "pipeline": "pipeline",
    "c/capture_plugin": "capture",
    "pipeline_stages": "pipeline", "frame_record": "pipeline",
    "compat/compat": "compat", "compat/decode": "compat", "compat/draw": "compat",
    "compat/tile": "compat", "compat/track": "compat",
    "compat/nvmedia_tensor": "capi",
    "hal": "capi", "c/base": "capi", "c/camera": "capi", "c/decode": "capi", "c/decoded": "capi",
    "c/delegate": "capi", "c/image": "capi", "c/mask": "capi", "c/message": "capi",
    "c/negotiate": "capi", "c/pipeline": "capi", "c/pool": "capi", "c/system": "capi",
    "c/tensor": "capi", "c/tile": "capi", "c/topic": "capi", "c/track": "capi",
    "c/video_codec": "capi",
}

# C headers: compiled as C11, and not in the C++ umbrella header.
C_HEADERS = {name for name in PUBLIC_HEADERS
             if name == "hal" or name.startswith("c/") or name == "compat/nvmedia_tensor"}

# Headers for programs written for another library: not in the C++ umbrella header.
COMPAT_HEADERS = {name for name in PUBLIC_HEADERS if name.startswith("compat/")}

# Headers for the types of another library, which the user includes too: in no umbrella header,
# compiled only if that library is installed. Header -> the library's header, and its folder.
ADAPTERS = {
    "eigen": ("Eigen/Core", "eigen3"),
    "opencv": ("opencv2/core/mat.hpp", "opencv4"),
}

# Outside header (a pattern for the name between the brackets) -> the paths that may include it.
HOMES = [
    (r"sys/mman\.h", ["src/base/system/mapped.cpp", "tests/vm/", "tests/image/cpu/guarded.h"]),
    (r"linux/(dma-(buf|heap)|udmabuf)\.h|drm/.*", ["src/tensor/", "tests/"]),
    (r"unwind\.h", ["python/src/interpreter.cpp"]),
    (r"linux/videodev2\.h", ["src/capture/", "src/reconcile/engines/v4l2.cpp", "tests/vm/",
                               "tests/capture/"]),
    (r"jpegint\.h", ["src/codec/jpeg/jpeg_entropy.cpp"]),
    (r"(jpeglib|jerror|jmorecfg|turbojpeg|spng|libdeflate|tiffio|gif_lib)\.h|webp/.*",
     ["src/codec/"]),
    (r"hwy/.*", ["src/image/", "src/decode/", "src/draw/", "src/ipc/", "src/codec/",
                  "tools/halyard/commands/doctor.cpp"]),
    (r"(oneapi/)?tbb/.*|tbb\.h", ["src/base/system/parallel", "tools/halyard/"]),
    (r"zlib\.h", ["src/model/"]),
    (r"openvino/.*", ["src/model/"]),
    (r"onnxruntime.*", ["src/model/"]),
    (r"lib(av|sw).*", ["src/capture/"]),
    (r"libcamera/.*", ["src/capture/libcamera/"]),
    (r"wels/.*", ["src/capture/encode/openh264_encoder.cpp"]),
    (r"ft2build\.h|freetype/.*", ["src/draw/"]),
    (r"(unsupported/)?Eigen/.*", ["src/track/", "include/halyard/eigen.h"]),
    (r"(errno|stdio|stdlib|string)\.h",
     ["include/halyard/compat/", "include/edgefirst/", "include/halyard/c/system.h",
      "examples/"]),
    (r"opencv2/.*", ["include/halyard/opencv.h"]),
    (r"nlohmann/.*", ["src/decode/", "src/evaluate/", "src/model/", "src/reconcile/",
                       "src/pipeline/frame_record.cpp",
                      "tools/halyard/"]),
    (r"yaml-cpp/.*", ["src/decode/"]),
    (r"fmt/.*", ["src/", "tools/halyard/"]),
    (r"CLI/.*", ["tools/halyard/options/parser.cpp"]),
    (r"boost/.*|openssl/.*", ["tools/halyard/serve/http/"]),
    (r"(EGL|GLES\d|KHR|epoxy)/.*|gbm\.h|xf86drm.*", ["src/gl/", "src/image/gl/", "src/draw/gl/"]),
    (r"nanobind/.*|Python\.h", ["python/"]),
    (r"gtest/.*|gmock/.*|rapidcheck.*", ["tests/"]),
    (r"benchmark/.*", ["bench/"]),
]

# System headers that do not belong to a library: allowed everywhere except in public headers.
SYSTEM = (r"(sys|linux|netinet|arpa|asm|bits)/.*|fcntl\.h|unistd\.h|dlfcn\.h|poll\.h|signal\.h|"
          r"pthread\.h|sched\.h|spawn\.h|grp\.h|glob\.h|dirent\.h|termios\.h|link\.h|execinfo\.h|"
          r"cxxabi\.h|(assert|errno|float|limits|locale|math|setjmp|stdarg|stdbool|stddef|stdint|"
          r"stdio|stdlib|string|time|wchar)\.h|(immintrin|arm_neon|cpuid)\.h")

# The only file of the program that prints, and the calls that print.
PRINTER = "tools/halyard/report.cpp"
PRINTS = (r"\b(?:v?[fd]?printf|f?put[sc]|fwrite|putchar|perror|psignal)\s*\(|"
          r"(?<![\w>])::write\s*\(|\b(?:cout|cerr|clog)\b|\bfmt::print\b")
