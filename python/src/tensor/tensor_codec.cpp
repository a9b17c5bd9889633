// SPDX-License-Identifier: Apache-2.0
// Tensor: reading and writing image files, and settings of the thread's decoder.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "decode_limits.h"
#include "enums.h"
#include "halyard/codec.h"
#include "halyard/image.h"
#include "tensor/array_view.h"
#include "tensor/tensor_class.h"
#include "values.h"

namespace halyard::python {
namespace {

// The argument of set_output_format() on this thread.
thread_local std::optional<PixelFormat> output_format;

ImageInfo info_of(const ImageFileInfo& file, PixelFormat format, std::size_t row_stride) {
  return {file.width,       file.height,    format,          row_stride,
          file.orientation, file.bit_depth, file.progressive};
}

// The value, or the exception; its text begins with the name of the file, if there is one.
template <class T>
T take_of_file(Result<T> result, const std::string* path) {
  if (!result && path != nullptr)
    raise(result.error().code, *path + ": " + result.error().message());
  return take(std::move(result));
}

ImageInfo header_info(std::span<const std::byte> bytes, nb::handle format, nb::handle limits,
                      const std::string* path = nullptr) {
  const ImageFileInfo file = take_of_file(peek(bytes, limits_from(limits)), path);
  const PixelFormat pixels =
      format.is_none() ? file.native_format : enum_from<PixelFormat>(format, "format");
  return info_of(file, pixels, take(tight_stride(pixels, DType::u8, file.width)));
}

bool is_jpeg_output(PixelFormat format, PixelFormat native) {
  return format == native || format == PixelFormat::rgb || format == PixelFormat::bgr ||
         format == PixelFormat::rgba || format == PixelFormat::bgra || format == PixelFormat::grey;
}

// The thread's requested format if the file can be decoded to it; else the file's own format.
std::optional<PixelFormat> wished(const ImageFileInfo& file) {
  if (!output_format || file.type != ImageFileType::jpeg) return std::nullopt;
  if (file.native_format == PixelFormat::grey && *output_format != PixelFormat::grey)
    return std::nullopt;
  return is_jpeg_output(*output_format, file.native_format) ? output_format : std::nullopt;
}

// Whether these bytes are in the memory that decoding into `tensor` may fill. Mapping device memory
// is expensive, and files are not kept there.
bool shares_bytes(const Tensor& tensor, std::span<const std::byte> bytes) {
  if (tensor.memory() != Memory::mem && tensor.memory() != Memory::shm) return false;
  const auto map = tensor.buffer()->map_unclaimed(Access::read);
  if (!map) return false;
  const auto range = [](std::span<const std::byte> of) {
    const auto begin = reinterpret_cast<std::uintptr_t>(of.data());
    return AddressRange{begin, begin + of.size()};
  };
  return range(map->bytes()).overlaps(range(bytes));
}

// Decodes into a copy of the handle, so that other threads see either the old or the new format.
ImageInfo decode_into(PyTensor& self, std::span<const std::byte> bytes, nb::handle format,
                      nb::handle limits, const std::string* path = nullptr) {
  LoadOptions options;
  options.limits = limits_from(limits);
  if (!format.is_none()) options.format = enum_from<PixelFormat>(format, "format");
  Tensor target = self.value;
  if (target.is_empty()) raise(Errc::invalid_argument, "tensor: is empty");
  std::vector<std::byte> own;
  if (shares_bytes(target, bytes)) {
    own.assign(bytes.begin(), bytes.end());
    bytes = own;
  }
  const ImageFileInfo file =
      take_of_file(released_with_signals([&](auto is_cancelled) -> Result<ImageFileInfo> {
                     options.is_cancelled = is_cancelled;
                     if (!options.format) {
                       HALYARD_TRY(const ImageFileInfo header, peek(bytes, options.limits));
                       options.format = wished(header);
                     }
                     return load_into(target, bytes, options);
                   }),
                   path);
  // Callers rotate the image themselves, by the ImageInfo.
  target.set_orientation({});
  self.value = std::move(target);
  return info_of(file, *self.value.format(), self.value.row_stride_bytes());
}

ImageInfo decode_file(PyTensor& self, nb::handle filename, nb::handle format, nb::handle limits) {
  const std::string path = path_from(filename, "filename");
  const std::vector<std::byte> bytes = take(released([&] { return read_file(path); }));
  return decode_into(self, bytes, format, limits, &path);
}

// Pixels stay as they are stored; the orientation is kept with them.
Result<Tensor> converted(Tensor image, PixelFormat format) {
  if (image.format() == format) return image;
  HALYARD_TRY(Tensor made, Tensor::create_image(image.width(), image.height(), format,
                                                image.dtype(), Memory::mem));
  HALYARD_TRY(Processor processor, Processor::create());
  HALYARD_RETURN_IF_ERROR(
      processor.convert({.src = image, .dst = made, .orientation = Orientation{}}));
  made.set_orientation(image.orientation());
  return made;
}

Result<Tensor> load_as(std::span<const std::byte> bytes, std::optional<PixelFormat> format,
                       LoadOptions options) {
  HALYARD_TRY(const ImageFileInfo file, peek(bytes, options.limits));
  const bool is_png_output =
      format && (*format == PixelFormat::rgb || *format == PixelFormat::rgba ||
                 *format == PixelFormat::bgra || *format == PixelFormat::grey);
  const bool is_direct =
      format && (file.type == ImageFileType::jpeg ? is_jpeg_output(*format, file.native_format)
                                                  : is_png_output);
  if (is_direct) options.format = format;
  HALYARD_TRY(Tensor image, load_image(bytes, options));
  return format ? converted(std::move(image), *format) : Result<Tensor>(std::move(image));
}

Tensor load_bytes(std::span<const std::byte> bytes, nb::handle format, nb::handle mem,
                  nb::handle limits, const std::string* path = nullptr) {
  std::optional<PixelFormat> wanted;
  if (!format.is_none()) wanted = enum_from<PixelFormat>(format, "format");
  LoadOptions options;
  options.limits = limits_from(limits);
  options.memory = mem.is_none() ? Memory::mem : enum_from<Memory>(mem, "mem");
  return take_of_file(released_with_signals([&](auto is_cancelled) {
                        options.is_cancelled = is_cancelled;
                        return load_as(bytes, wanted, options);
                      }),
                      path);
}

Tensor load_file(nb::handle path, nb::handle format, nb::handle mem, nb::handle limits) {
  const std::string name = path_from(path, "path");
  const std::vector<std::byte> bytes = take(released([&] { return read_file(name); }));
  return load_bytes(bytes, format, mem, limits, &name);
}

void save_as_jpeg(const PyTensor& self, nb::handle filename, nb::handle quality) {
  const Tensor image = self.value;
  const std::string path = path_from(filename, "filename");
  const JpegOptions options{int_from(quality, "quality")};
  check(released([&] { return save_jpeg(image, path, options); }));
}

void save_as_png(const PyTensor& self, nb::handle filename, nb::handle compression) {
  const Tensor image = self.value;
  const std::string path = path_from(filename, "filename");
  const PngOptions options{int_from(compression, "compression")};
  check(released([&] { return save_png(image, path, options); }));
}

// By the extension of the name; `quality` is for the formats that have one.
void save_as_named(const PyTensor& self, nb::handle filename, nb::handle quality) {
  const Tensor image = self.value;
  const std::string path = path_from(filename, "filename");
  SaveOptions options;
  options.jpeg.quality = options.webp.quality = int_from(quality, "quality");
  check(released([&] { return save_image(image, path, options); }));
}

nb::object bytes_object(const std::vector<std::byte>& bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// At most 1024 pixels a side, as RGB or RGBA.
Result<std::vector<std::byte>> thumbnail(const Tensor& image) {
  constexpr std::size_t maximum = 1024;
  const Size upright = image.upright_size();
  const auto longest = static_cast<std::size_t>(std::max(upright.width, upright.height));
  const bool is_plain = image.format() == PixelFormat::rgb || image.format() == PixelFormat::rgba ||
                        image.format() == PixelFormat::grey;
  if (is_plain && longest <= maximum && image.dtype() == DType::u8 &&
      image.orientation() == Orientation{})
    return encode_png(image);
  const auto side = [&](std::int32_t shown) {
    const auto extent = static_cast<std::size_t>(shown);
    return longest <= maximum ? extent : std::max<std::size_t>(1, extent * maximum / longest);
  };
  const bool has_alpha = info(*image.format()).has_alpha;
  HALYARD_TRY(Tensor shown, Tensor::create_image(side(upright.width), side(upright.height),
                                                 has_alpha ? PixelFormat::rgba : PixelFormat::rgb,
                                                 DType::u8, Memory::mem));
  HALYARD_TRY(Processor processor, Processor::create());
  HALYARD_RETURN_IF_ERROR(processor.convert({.src = image, .dst = shown, .antialias = true}));
  return encode_png(shown);
}

// None if there is nothing to show; notebooks show the text then.
nb::object repr_png(const PyTensor& self) {
  const Tensor image = self.value;
  if (!image.is_image()) return nb::none();
  const auto png = released([&] { return thumbnail(image); });
  return png ? bytes_object(*png) : nb::none();
}

void add_image_decoding(TensorClass& cls) {
  const char* decode_doc =
      "Decodes an image file into this tensor's memory. The tensor takes the file's size and\n"
      "format in place: JPEG 4:2:0 Nv12, 4:2:2 Nv16, 4:4:4 Nv24, grey Grey; others Rgb, Rgba\n"
      "or Grey; or `format` if the file can be decoded to it. A row stride that is wide enough is\n"
      "kept. Pixels stay as they are stored, and the ImageInfo has the orientation:\n"
      "pass it to convert() as `orientation`. Raises RuntimeError for damaged or unsupported\n"
      "files, and if the memory is too small.";
  cls.def(
         "decode_image",
         [](PyTensor& t, nb::handle data, nb::handle format, nb::handle limits) {
           const BytesArg bytes(data, "data");
           return decode_into(t, bytes.bytes(), format, limits);
         },
         nb::arg("data"), nb::arg("format") = nb::none(), nb::kw_only(),
         nb::arg("limits") = nb::none(),
         nb::sig("def decode_image(self, data: Buffer, format: PixelFormatLike | None = None, *, "
                 "limits: DecodeLimits | None = None) -> ImageInfo"),
         decode_doc)
      .def(
          "decode_image_file", &decode_file, nb::arg("filename"), nb::arg("format") = nb::none(),
          nb::kw_only(), nb::arg("limits") = nb::none(),
          nb::sig(
              "def decode_image_file(self, filename: str | os.PathLike[str], format: "
              "PixelFormatLike | None = None, *, limits: DecodeLimits | None = None) -> ImageInfo"),
          "The same from a file.");
}

void add_peeking(TensorClass& cls) {
  cls.def_static(
         "peek_image_info",
         [](nb::handle data, nb::handle format, nb::handle limits) {
           const BytesArg bytes(data, "data");
           return header_info(bytes.bytes(), format, limits);
         },
         nb::arg("data"), nb::arg("format") = nb::none(), nb::kw_only(),
         nb::arg("limits") = nb::none(),
         nb::sig("def peek_image_info(data: Buffer, format: PixelFormatLike | None = None, *, "
                 "limits: DecodeLimits | None = None) -> ImageInfo"),
         "The content of an image file's header; no pixel is decoded. Sizes are as stored,\n"
         "before any rotation.")
      .def_static(
          "peek_image_info_file",
          [](nb::handle filename, nb::handle format, nb::handle limits) {
            const std::string path = path_from(filename, "filename");
            return header_info(take(released([&] { return read_file(path); })), format, limits,
                               &path);
          },
          nb::arg("filename"), nb::arg("format") = nb::none(), nb::kw_only(),
          nb::arg("limits") = nb::none(),
          nb::sig(
              "def peek_image_info_file(filename: str | os.PathLike[str], format: PixelFormatLike "
              "| None = None, *, limits: DecodeLimits | None = None) -> ImageInfo"),
          "The same from a file.");
}

template <class Kind>
void def_loading(nb::class_<Kind, PyTensor>& cls) {
  cls.def_static(
         "load",
         [](nb::handle path, nb::handle format, nb::handle mem, nb::handle limits) {
           return tensor_result<Kind>(load_file(path, format, mem, limits));
         },
         nb::arg("path"), nb::arg("format") = nb::none(), nb::arg("mem") = nb::none(),
         nb::kw_only(), nb::arg("limits") = nb::none(),
         nb::sig(
             "def load(path: str | os.PathLike[str], format: PixelFormatLike | None = None, mem: "
             "TensorMemoryLike | None = None, *, limits: DecodeLimits | None = None) -> Tensor"),
         "A new image from a file (JPEG, PNG, WebP, TIFF, BMP, GIF), in the file's own format\n"
         "or in `format`. Its pixels are as they are stored; `orientation` has the rotation, and "
         "convert()\n"
         "makes them upright.")
      .def_static(
          "load_from_bytes",
          [](nb::handle data, nb::handle format, nb::handle mem, nb::handle limits) {
            const BytesArg bytes(data, "data");
            return tensor_result<Kind>(load_bytes(bytes.bytes(), format, mem, limits));
          },
          nb::arg("data"), nb::arg("format") = nb::none(), nb::arg("mem") = nb::none(),
          nb::kw_only(), nb::arg("limits") = nb::none(),
          nb::sig(
              "def load_from_bytes(data: Buffer, format: PixelFormatLike | None = None, mem: "
              "TensorMemoryLike | None = None, *, limits: DecodeLimits | None = None) -> Tensor"),
          "The same from bytes.");
}

void add_saving(TensorClass& cls) {
  cls.def("save", &save_as_named, nb::arg("filename"), nb::arg("quality") = 90,
          nb::sig("def save(self, filename: str | os.PathLike[str], quality: int = 90) -> None"),
          "Writes the image in the format of the file's name: .jpg, .jpeg, .png, .webp, .tif, "
          ".tiff, "
          ".bmp;\n"
          "WebP and TIFF if the build has their libraries. quality: of JPEG and WebP, 1 to 100.\n"
          "All of these can hold uint8 Rgb, Rgba and Grey, some also others.\n\n"
          "Raises ValueError for other extensions, UnsupportedError for .gif, for file types that "
          "the build\n"
          "lacks and for pixel formats that the file type cannot hold.")
      .def("save_jpeg", &save_as_jpeg, nb::arg("filename"), nb::arg("quality") = 80,
           nb::sig("def save_jpeg(self, filename: str | os.PathLike[str], quality: int = 80) -> "
                   "None"),
           "Writes the image as JPEG; quality 1 to 100. uint8 RGB, BGR, RGBA, BGRA (alpha\n"
           "dropped), grey and YUV of BT.601 full range.")
      .def("save_png", &save_as_png, nb::arg("filename"), nb::arg("compression") = 6,
           nb::sig("def save_png(self, filename: str | os.PathLike[str], compression: int = 6) -> "
                   "None"),
           "Writes the image as PNG; compression 0 to 9. uint8 Rgb, Rgba and Grey.");
}

void add_encoding(TensorClass& cls) {
  cls.def(
         "to_jpeg",
         [](const PyTensor& t, IntArg<"quality"> given) {
           const Tensor image = t.value;
           const int quality = given;
           return bytes_object(take(released([&] { return encode_jpeg(image, {quality}); })));
         },
         nb::arg("quality") = 80, nb::sig("def to_jpeg(self, quality: int = 80) -> bytes"),
         "The image as the bytes of a JPEG file.")
      .def(
          "to_png",
          [](const PyTensor& t, IntArg<"compression"> given) {
            const Tensor image = t.value;
            const int compression = given;
            return bytes_object(take(released([&] { return encode_png(image, {compression}); })));
          },
          nb::arg("compression") = 6, nb::sig("def to_png(self, compression: int = 6) -> bytes"),
          "The image as the bytes of a PNG file.")
      .def("_repr_png_", &repr_png, nb::sig("def _repr_png_(self) -> bytes | None"),
           "PNG for notebooks, at most 1024 pixels a side.");
}

}  // namespace

template <class Class>
void add_loading(Class& cls) {
  def_loading(cls);
}
template void add_loading(NativeTensorClass& cls);
template void add_loading(ReferenceTensorClass& cls);

void add_codec(TensorClass& cls) {
  add_image_decoding(cls);
  add_peeking(cls);
  add_saving(cls);
  add_encoding(cls);
}

void bind_codec(nb::module_& m) {
  m.def(
      "set_dct_method", [](nb::handle method) { enum_from<DctMethod>(method, "method"); },
      nb::arg("method"), nb::sig("def set_dct_method(method: DctMethodLike) -> None"),
      "Accepted for programs that choose it; no effect: the JPEG decoder is both accurate and "
      "fast.");
  m.def(
      "set_output_format",
      [](nb::handle format) {
        output_format = format.is_none() ? std::nullopt
                                         : std::optional(enum_from<PixelFormat>(format, "format"));
      },
      nb::arg("format") = nb::none(),
      nb::sig("def set_output_format(format: PixelFormatLike | None = None) -> None"),
      "The format of this thread's later decode_image() calls, for JPEGs that can be decoded\n"
      "to it; others, and None, keep the file's own. A call's own `format` takes precedence.");
}

}  // namespace halyard::python
