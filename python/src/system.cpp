// SPDX-License-Identifier: Apache-2.0
// Functions about the machine and the build.
#include <nanobind/stl/string.h>

#include <limits>
#include <string>

#include "args.h"
#include "enums.h"
#include "halyard/buffer.h"
#include "halyard/device.h"
#include "halyard/gl.h"
#include "halyard/version.h"

namespace halyard::python {
namespace {

constexpr std::size_t pitch_bytes = 64;

// The smallest width >= `width` whose rows are whole multiples of the pitch.
std::size_t align_width(std::size_t width, std::size_t pixel_bytes) {
  if (width == 0 || pixel_bytes == 0) return width;
  std::size_t step = pitch_bytes;  // 64 / gcd(64, bytes): only the factors of two count
  for (std::size_t bytes = pixel_bytes; bytes % 2 == 0 && step > 1; bytes /= 2)
    step /= 2;
  if (width > std::numeric_limits<std::size_t>::max() / pixel_bytes - step) return width;
  return (width + step - 1) / step * step;
}

std::size_t pixel_bytes_of(PixelFormat format, DType dtype) {
  const FormatInfo& row = info(format);
  const std::size_t channels = row.kind == FormatKind::packed ? row.channels : 1;
  return channels * size_of(dtype);
}

bool is_available(Memory memory) {
  return memory_available(memory).has_value();
}

// Pairs of kind and description; empty without OpenGL.
nb::list usable_displays() {
  const auto tried = released([] { return probe_gl_displays(); });
  nb::list out;
  if (!tried) return out;
  for (const GlDisplay& display : *tried) {
    if (!display.status) continue;
    const std::string name = display.name.empty() ? "" : display.name + ": ";
    out.append(nb::make_tuple(static_cast<int>(display.kind), name + display.renderer));
  }
  return out;
}

void bind_memory(nb::module_& m) {
  m.def(
      "is_dma_available", [] { return is_available(Memory::dma); },
      "True when DMA-BUFs can be allocated here. Probed once.");
  m.def(
      "is_shm_available", [] { return is_available(Memory::shm); },
      "True when shared memory can be allocated here. Probed once.");
  m.def(
      "is_gpu_buffer_available", [] { return is_available(Memory::dma); },
      "True when memory that a GPU shares can be allocated: DMA-BUF on Linux.");
  m.def(
      "is_iosurface_available", [] { return false; }, "False: IOSurfaces are Apple's.");
  m.def(
      "is_cuda_available", [] { return device_available(DeviceKind::cuda).has_value(); },
      "True when NVIDIA's CUDA runtime is found and reports a device. Asked once.");
  m.def(
      "is_v4l2_available", [] { return false; },
      "False: this build has no JPEG decoder in hardware.");
}

}  // namespace

void bind_system(nb::module_& m) {
  bind_memory(m);
  m.def("_usable_displays", &usable_displays,
        nb::sig("def _usable_displays() -> list[tuple[int, str]]"));
  m.def(
      "version", [] { return std::string(version()); }, "The library's version, \"1.2.3\".");
  m.def(
      "build_info",
      [] {
        return "halyard " + std::string(version()) +
               "\nf16: IEEE binary16, rounded to nearest even";
      },
      "Product and version, and how half floats are computed, in two lines.");
  m.def(
      "gpu_dma_buf_pitch_alignment_bytes", [] { return pitch_bytes; },
      "Row strides of DMA-BUF images are multiples of this: 64.");
  m.def(
      "align_width_for_gpu_pitch",
      [](nb::handle width, nb::handle bpp) {
        return align_width(size_from(width, "width"), size_from(bpp, "bpp"));
      },
      nb::arg("width"), nb::arg("bpp"),
      nb::sig("def align_width_for_gpu_pitch(width: int, bpp: int) -> int"),
      "The smallest width from `width` on that makes rows of `bpp` bytes a pixel multiples of 64\n"
      "bytes; `width` itself when either is 0.");
  m.def(
      "align_width_for_pixel_format",
      [](nb::handle width, nb::handle format, nb::handle dtype) {
        return align_width(
            size_from(width, "width"),
            pixel_bytes_of(enum_from<PixelFormat>(format, "format"), dtype_from(dtype, "dtype")));
      },
      nb::arg("width"), nb::arg("format"), nb::arg("dtype") = "uint8",
      nb::sig("def align_width_for_pixel_format(width: int, format: PixelFormatLike, dtype: "
              "DTypeLike = 'uint8') -> int"),
      "The same for a format and element type.");
}

}  // namespace halyard::python
