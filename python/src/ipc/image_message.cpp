// SPDX-License-Identifier: Apache-2.0
// Image: a camera's image as a message.
#include "halyard/image_message.h"

#include <nanobind/stl/string.h>

#include <array>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "ipc/messages.h"
#include "values.h"
#include "words.h"

namespace halyard::python {
namespace {

using ImageClass = nb::class_<Image>;

constexpr std::size_t max_samples = 4;

constexpr const char* image_doc =
    "A camera's image: a tensor with an encoding, a coordinate frame and a timestamp, in the\n"
    "names of sensor_msgs/Image.\n\n"
    "``tensor`` is an image that ``ImageProcessor.convert`` takes directly; ``numpy()``,\n"
    "``numpy.asarray`` and DLPack see its elements without a copy. Topics of type Image carry "
    "it.\n\n"
    "Args:\n"
    "    width, height: pixels, 1..65535.\n"
    "    encoding: \"rgb8\", \"mono16\", \"32FC1\", \"nv12\", \"bayer_rggb8\"...: see "
    "encodings().\n"
    "    pool: where its bytes are; None: the process's own pool. They are not initialised.\n\n"
    "Raises halyard.Error for a wrong size or encoding, and if the pool has no free space.";

ImageEncoding encoding_from(nb::handle object) {
  const std::string name = text_from(object, "encoding");
  if (const auto encoding = encoding_from_string(name)) return *encoding;
  std::vector<std::string_view> names;
  for (const ImageEncodingInfo& row : all_encodings())
    names.push_back(row.name);
  raise_unknown_word("encoding", object, "encoding", names);
}

Image create_image(std::size_t width, std::size_t height, ImageEncoding encoding, nb::handle pool) {
  const auto from = pool_from(pool, "pool");
  return take(released([&] {
    return from ? Image::create_on(from, width, height, encoding)
                : Image::create(width, height, encoding);
  }));
}

// Channels of [H, W], [H, W, C]; 0 for other shapes.
std::size_t channels_of(const Tensor& tensor) {
  if (tensor.rank() == 2) return 1;
  return tensor.rank() == 3 ? tensor.shape()[2] : 0;
}

// The default encoding of an array.
ImageEncoding guess_encoding(const Tensor& tensor) {
  const std::size_t channels = channels_of(tensor);
  if (tensor.dtype() == DType::u8 && channels == 1) return ImageEncoding::mono8;
  if (tensor.dtype() == DType::u8 && channels == 3) return ImageEncoding::rgb8;
  if (tensor.dtype() == DType::u8 && channels == 4) return ImageEncoding::rgba8;
  if (tensor.dtype() == DType::u16 && channels == 1) return ImageEncoding::mono16;
  if (tensor.dtype() == DType::u16 && channels == 3) return ImageEncoding::rgb16;
  if (tensor.dtype() == DType::u16 && channels == 4) return ImageEncoding::rgba16;
  if (tensor.dtype() == DType::f32 && channels == 1) return ImageEncoding::mono32f;
  if (tensor.dtype() == DType::f32 && channels == 3) return ImageEncoding::rgb32f;
  raise(Errc::invalid_argument,
        "array: must be [H,W], [H,W,1], [H,W,3] or [H,W,4] of uint8, uint16 or float32, or an "
        "encoding must be given");
}

Image wrap_tensor(const Tensor& tensor, nb::handle encoding) {
  if (!encoding.is_none()) return take(Image::wrap(tensor, encoding_from(encoding)));
  if (tensor.is_image()) return take(Image::wrap(tensor));
  return take(Image::wrap(tensor, guess_encoding(tensor)));
}

Image image_from_numpy(nb::handle array, nb::handle encoding, nb::handle pool) {
  const Image seen = wrap_tensor(packed_tensor(array, "array"), encoding);
  Image made = create_image(seen.width(), seen.height(), seen.encoding(), pool);
  made.set_colorimetry(seen.colorimetry());
  Tensor to = made.tensor();
  check(released([&] { return copy(seen.tensor(), to); }));
  return made;
}

Image from_bytes(nb::handle data, nb::handle width, nb::handle height, nb::handle encoding,
                 nb::handle pool) {
  Image made = create_image(size_from(width, "width"), size_from(height, "height"),
                            encoding_from(encoding), pool);
  const BytesArg bytes(data, "data");
  check(released([&] { return made.copy_from(bytes.bytes()); }));
  return made;
}

Region region_of(nb::handle x, nb::handle y, nb::handle width, nb::handle height) {
  const auto number = [](nb::handle object, const char* name) {
    return static_cast<std::int32_t>(size_from(object, name, INT32_MAX));
  };
  return {number(x, "x"), number(y, "y"), number(width, "width"), number(height, "height")};
}

nb::object copy_roi(const Image& self, nb::handle x, nb::handle y, nb::handle width,
                    nb::handle height) {
  const Region region = region_of(x, y, width, height);
  const auto bytes =
      take(released_on(self, [&](const Image& image) { return image.copy_roi(region); }));
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

nb::object encodings() {
  nb::list names;
  for (const ImageEncodingInfo& row : all_encodings())
    names.append(str_of(row.name));
  return names;
}

void add_making(ImageClass& cls) {
  cls.def(
         "__init__",
         [](Image* self, nb::handle width, nb::handle height, nb::handle encoding,
            nb::handle pool) {
           new (self) Image(create_image(size_from(width, "width"), size_from(height, "height"),
                                         encoding_from(encoding), pool));
         },
         nb::arg("width"), nb::arg("height"), nb::arg("encoding") = "rgb8", nb::kw_only(),
         nb::arg("pool") = nb::none(),
         nb::sig("def __init__(self, width: int, height: int, encoding: str = 'rgb8', *, pool: "
                 "TensorPool | None = None) -> None"))
      .def_static("from_numpy", &image_from_numpy, nb::arg("array"),
                  nb::arg("encoding") = nb::none(), nb::kw_only(), nb::arg("pool") = nb::none(),
                  nb::sig("def from_numpy(array: Any, encoding: str | None = None, *, pool: "
                          "TensorPool | None = None) -> Image"),
                  "A new image with the elements of an array, copied once. None as encoding\n"
                  "means mono, rgb or rgba, by the channels.")
      .def_static("from_bytes", &from_bytes, nb::arg("data"), nb::arg("width"), nb::arg("height"),
                  nb::arg("encoding") = "rgb8", nb::kw_only(), nb::arg("pool") = nb::none(),
                  nb::sig("def from_bytes(data: Buffer, width: int, height: int, encoding: str = "
                          "'rgb8', *, pool: TensorPool | None = None) -> Image"),
                  "The same from contiguous bytes without gaps between rows.")
      .def_static(
          "wrap",
          [](nb::handle tensor, nb::handle encoding) {
            return wrap_tensor(tensor_to_read(tensor, "tensor"), encoding);
          },
          nb::arg("tensor"), nb::arg("encoding") = nb::none(),
          nb::sig("def wrap(tensor: Any, encoding: str | None = None) -> Image"),
          "A tensor or an array as a message, without a copy. None as encoding: by the\n"
          "tensor's format, or as in from_numpy(). Raises InvalidArgumentError (another dtype or\n"
          "shape), UnsupportedError (strides that no image has).")
      .def_static("encodings", &encodings, nb::sig("def encodings() -> list[str]"),
                  "The names of all encodings.");
}

void add_facts(ImageClass& cls) {
  cls.def_prop_ro("width", &Image::width, "Columns.")
      .def_prop_ro("height", &Image::height, "Rows.")
      .def_prop_ro("channels", &Image::channels,
                   "Samples per pixel of packed encodings; 3 for planar YUV.")
      .def_prop_ro(
          "encoding", [](const Image& self) { return str_of(to_string(self.encoding())); },
          "Its name in sensor_msgs.")
      .def_prop_ro("step", &Image::step, "Bytes between rows of the first plane.")
      .def_prop_ro("bytes_per_pixel", &Image::bytes_per_pixel,
                   "Bytes per pixel of packed encodings; 0 for planar ones.")
      .def_prop_ro(
          "is_bigendian", [](const Image&) { return Image::is_bigendian(); },
          "Order of the bytes of a sample: this machine's.")
      .def_prop_ro(
          "format", [](const Image& self) { return enum_to(self.format()); },
          nb::sig("def format(self) -> PixelFormat"), "The tensor's format.")
      .def_prop_rw(
          "colorimetry", [](const Image& self) { return colorimetry_result(self.colorimetry()); },
          [](Image& self, nb::handle value) {
            self.set_colorimetry(colorimetry_from(value, "colorimetry"));
          },
          nb::arg("value").none(), nb::sig("def colorimetry(self) -> Colorimetry | None"),
          "The meaning of the samples as colours.")
      .def("__repr__", [](const Image& self) {
        return "Image(" + std::to_string(self.width()) + "x" + std::to_string(self.height()) +
               ", " + std::string(to_string(self.encoding())) + ")";
      });
}

void add_pixels(ImageClass& cls) {
  cls.def(
         "pixel",
         [](const Image& self, nb::handle x, nb::handle y) {
           return samples_result(take(self.pixel(size_from(x, "x"), size_from(y, "y"))),
                                 self.dtype());
         },
         nb::arg("x"), nb::arg("y"), nb::sig("def pixel(self, x: int, y: int) -> tuple[Any, ...]"),
         "The samples of a pixel. For many pixels use numpy(). Raises InvalidArgumentError "
         "outside\n"
         "the image, UnsupportedError for planar encodings.")
      .def(
          "set_pixel",
          [](Image& self, nb::handle x, nb::handle y, nb::handle value) {
            const auto bytes = samples_from(value, "value", self.dtype(), max_samples);
            check(self.set_pixel(size_from(x, "x"), size_from(y, "y"), bytes));
          },
          nb::arg("x"), nb::arg("y"), nb::arg("value"),
          nb::sig("def set_pixel(self, x: int, y: int, value: Any) -> None"),
          "Sets the samples of a pixel: numbers, or bytes. Raises also AccessError where the "
          "image\n"
          "is read-only.")
      .def(
          "fill",
          [](Image& self, nb::handle value) {
            const auto bytes = samples_from(value, "value", self.dtype(), max_samples);
            check(released_on(self, [&](Image& image) { return image.fill(bytes); }));
          },
          nb::arg("value"), nb::sig("def fill(self, value: Any) -> None"),
          "Gives all pixels one value: a number for each sample of a pixel, or bytes; of packed\n"
          "4:2:2 the four samples of a pair, for planar images one for each plane.");
}

void add_regions(ImageClass& cls) {
  cls.def(
         "roi",
         [](const Image& self, nb::handle x, nb::handle y, nb::handle width, nb::handle height) {
           return take(self.roi(region_of(x, y, width, height)));
         },
         nb::arg("x"), nb::arg("y"), nb::arg("width"), nb::arg("height"),
         nb::sig("def roi(self, x: int, y: int, width: int, height: int) -> Image"),
         "A part of the image that shares its bytes. Raises InvalidArgumentError for a part that\n"
         "is empty or outside, or at an odd position of subsampled and Bayer encodings.")
      .def("copy_roi", &copy_roi, nb::arg("x"), nb::arg("y"), nb::arg("width"), nb::arg("height"),
           nb::sig("def copy_roi(self, x: int, y: int, width: int, height: int) -> bytes"),
           "The same part copied, without gaps between rows.");
}

}  // namespace

void bind_image_message(nb::module_& m) {
  ImageClass cls(m, "Image", nb::is_weak_referenceable(), image_doc);
  add_making(cls);
  add_message(cls);
  add_facts(cls);
  add_pixels(cls);
  add_regions(cls);
}

}  // namespace halyard::python
