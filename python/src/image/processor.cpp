// SPDX-License-Identifier: Apache-2.0
// ImageProcessor: construction, closing, and the images that it makes or imports.
#include "image/processor.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "enums.h"
#include "halyard/import.h"
#include "tensor/tensor_class.h"
#include "values.h"
#include "words.h"

namespace halyard::python {

ComputeBackend backend_from(nb::handle object) {
  constexpr Word<ComputeBackend> words[] = {{"auto", ComputeBackend::automatic},
                                            {"cpu", ComputeBackend::cpu},
                                            {"g2d", ComputeBackend::g2d},
                                            {"opengl", ComputeBackend::opengl}};
  return word_from(object, "backend", "backend", words);
}

namespace {

constexpr const char* processor_doc =
    "Converts images: crop, flip, rotate, resize, place, colours, element type; draws "
    "results.\n\n"
    "Construction always succeeds; requests that no backend of this machine serves "
    "raise\nRuntimeError. "
    "HALYARD_FORCE_BACKEND (opengl, g2d, cpu) selects a backend. One processor serves one call at "
    "a\n"
    "time, other threads wait; give each thread its own to run in parallel. A context manager.\n\n"
    "Args:\n"
    "    egl_display: the display for OpenGL; None: the first that works. All processors share "
    "one.\n"
    "    threads: maximum number of threads for one call; 0: all cores.\n"
    "    backend: 'auto', or what serves a request if it can, before the CPU: 'opengl', 'g2d', "
    "'cpu'.";

// A closed processor prefers nothing.
Memory preferred_memory(PyProcessor& self) {
  return with_processor(self, small_work_bytes,
                        [](Processor& p) -> Result<Memory> { return p.image_memory(); })
      .value_or(Memory::automatic);
}

template <class Kind>
nb::object create_image(PyProcessor& self, nb::handle width, nb::handle height, nb::handle format,
                        nb::handle dtype, nb::handle access, nb::handle compression) {
  return tensor_result<Kind>(
      make_image({size_from(width, "width"), size_from(height, "height"),
                  enum_from<PixelFormat>(format, "format"), dtype_from(dtype, "dtype"), nb::none(),
                  access, compression, preferred_memory(self)}));
}

// None: 0.
std::size_t size_or_zero(nb::handle object, const char* argument) {
  return object.is_none() ? 0 : size_from(object, argument);
}

int plane_descriptor_from(nb::handle object, const char* argument) {
  const std::int32_t fd = int_from(object, argument);
  if (fd < 0) raise(Errc::invalid_argument, std::string(argument) + ": must not be negative");
  return fd;
}

struct ImportArgs {
  nb::handle fd, width, height, format, dtype, stride, offset;
  nb::handle chroma_fd, chroma_stride, chroma_offset, colorimetry;
  bool require_sealed;
};

Tensor import_planes(const ImportArgs& args) {
  const auto format = enum_from<PixelFormat>(args.format, "format");
  const int fd = plane_descriptor_from(args.fd, "fd");
  std::vector<PlaneDescriptor> planes{
      {fd, size_or_zero(args.stride, "stride"), size_or_zero(args.offset, "offset")}};
  const bool has_chroma = !args.chroma_fd.is_none() || !args.chroma_offset.is_none();
  if (has_chroma) {
    if (info(format).kind != FormatKind::semi_planar)
      raise(Errc::invalid_argument, "chroma_fd: only for semi-planar formats, as Nv12");
    const int chroma =
        args.chroma_fd.is_none() ? fd : plane_descriptor_from(args.chroma_fd, "chroma_fd");
    planes.push_back({chroma, size_or_zero(args.chroma_stride, "chroma_stride"),
                      size_or_zero(args.chroma_offset, "chroma_offset")});
  }
  const std::size_t width = size_from(args.width, "width");
  const std::size_t height = size_from(args.height, "height");
  ImportOptions options;
  options.require_sealed = args.require_sealed;
  Tensor image = take(Importer::shared().import_image(planes, width, height, format,
                                                      dtype_from(args.dtype, "dtype"), options));
  image.set_colorimetry(colorimetry_from(args.colorimetry, "colorimetry"));
  return image;
}

template <class Kind>
nb::object import_image(nb::handle fd, nb::handle width, nb::handle height, nb::handle format,
                        nb::handle dtype, nb::handle stride, nb::handle offset,
                        nb::handle chroma_fd, nb::handle chroma_stride, nb::handle chroma_offset,
                        nb::handle colorimetry, bool require_sealed) {
  return tensor_result<Kind>(
      import_planes({fd, width, height, format, dtype, stride, offset, chroma_fd, chroma_stride,
                     chroma_offset, colorimetry, require_sealed}));
}

void close(PyProcessor& self) {
  const InterpreterReleased release;
  const std::lock_guard lock(self.mutex);
  self.processor.reset();
}

template <class P, class Class>
void def_init(Class& cls) {
  cls.def(
      "__init__",
      [](P* self, nb::handle egl_display, nb::handle max_threads, nb::handle backend) {
        ProcessorOptions options;
        options.threads = static_cast<unsigned>(size_from(max_threads, "threads", UINT32_MAX));
        options.backend = backend_from(backend);
        if (!egl_display.is_none())
          options.gl_display = enum_from<GlDisplayKind>(egl_display, "egl_display");
        Processor made = take(released([&] { return Processor::create(options); }));
        new (self) P();
        self->processor.emplace(std::move(made));
        self->painter.value = compat::Painter(options.backend);
      },
      nb::arg("egl_display") = nb::none(), nb::arg("threads") = 0, nb::arg("backend") = "auto",
      nb::sig("def __init__(self, egl_display: EglDisplayKindLike | None = None, threads: int = 0, "
              "backend: Literal['auto', 'cpu', 'g2d', 'opengl'] = 'auto') -> None"));
}

void add_life(ProcessorClass& cls) {
  cls.def("close", &close,
          "Ends the processor: later calls raise RuntimeError. A second close() does nothing.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> ImageProcessor"))
      .def(
          "__exit__", [](PyProcessor& self, nb::handle, nb::handle, nb::handle) { close(self); },
          nb::arg("exc_type").none(), nb::arg("exc").none(), nb::arg("traceback").none());
}

template <class Kind, class Class>
void def_create(Class& cls) {
  cls.def(
      "create_image",
      [](PyProcessor& self, nb::handle width, nb::handle height, nb::handle format,
         nb::handle dtype, nb::handle access, nb::handle compression) {
        return create_image<Kind>(self, width, height, format, dtype, access, compression);
      },
      nb::arg("width"), nb::arg("height"), nb::arg("format") = enum_to(PixelFormat::rgba),
      nb::arg("dtype") = "uint8", nb::arg("access") = "none", nb::arg("compression") = nb::none(),
      nb::sig("def create_image(self, width: int, height: int, format: PixelFormatLike = "
              "PixelFormat.Rgba, dtype: DTypeLike = 'uint8', access: Literal['none', 'read', "
              "'write', 'readwrite'] = 'none', compression: Literal['any', 'ubwc', 'afbc', "
              "'pvric', 'dcc'] | None = None) -> Tensor"),
      "An image of zeros in the memory that suits this machine's backends best. `access`: "
      "what\n"
      "the CPU does with it (none, read, write, readwrite). `compression` (any, ubwc, afbc,\n"
      "pvric, dcc) needs access \"none\".");
}

template <class Kind, class Class>
void def_import(Class& cls) {
  cls.def(
      "import_image",
      [](const PyProcessor&, nb::handle fd, nb::handle width, nb::handle height, nb::handle format,
         nb::handle dtype, nb::handle stride, nb::handle offset, nb::handle chroma_fd,
         nb::handle chroma_stride, nb::handle chroma_offset, nb::handle colorimetry,
         bool require_sealed) {
        return import_image<Kind>(fd, width, height, format, dtype, stride, offset, chroma_fd,
                                  chroma_stride, chroma_offset, colorimetry, require_sealed);
      },
      nb::arg("fd"), nb::arg("width"), nb::arg("height"), nb::arg("format"),
      nb::arg("dtype") = "uint8", nb::arg("stride") = nb::none(), nb::arg("offset") = nb::none(),
      nb::arg("chroma_fd") = nb::none(), nb::arg("chroma_stride") = nb::none(),
      nb::arg("chroma_offset") = nb::none(), nb::arg("colorimetry") = nb::none(), nb::kw_only(),
      nb::arg("require_sealed") = false,
      nb::sig("def import_image(self, fd: int, width: int, height: int, format: "
              "PixelFormatLike, dtype: DTypeLike = 'uint8', stride: int | None = None, offset: "
              "int | None = None, chroma_fd: int | None = None, chroma_stride: int | None = "
              "None, chroma_offset: int | None = None, colorimetry: Colorimetry | None = None, "
              "*, require_sealed: bool = False) -> Tensor"),
      "An image over a DMA-BUF or shared memory of somebody else. Descriptors are "
      "duplicated:\n"
      "close yours. `stride` and `offset` in bytes; without a stride rows have no padding. "
      "Chroma\n"
      "follows the luma unless it has a descriptor or an offset. With `require_sealed`,\n"
      "memory that its owner can shrink is sealed, or refused: a read of memory that was taken "
      "taken\n"
      "away ends the process. Raises RuntimeError for planes that do not fit their memory.");
}

}  // namespace

void bind_processor(nb::module_& m) {
  ProcessorClass cls(m, "ImageProcessor", nb::is_weak_referenceable(), processor_doc);
  def_init<PyProcessor>(cls);
  add_life(cls);
  add_convert(cls);
  def_create<PyNativeTensor>(cls);
  def_import<PyNativeTensor>(cls);
  ReferenceProcessorClass reference(m, "_ReferenceProcessor", nb::is_weak_referenceable(),
                                    processor_doc);
  def_init<PyReferenceProcessor>(reference);
  def_create<PyReferenceTensor>(reference);
  def_import<PyReferenceTensor>(reference);
}

}  // namespace halyard::python
