// SPDX-License-Identifier: Apache-2.0
// Value classes: they compare by value, print their content, and can be pickled.
#include "values.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "args.h"
#include "enums.h"
#include "halyard/drm.h"
#include "words.h"

namespace halyard::python {
namespace {

// Scales and zero points of one tensor: more than any network has channels.
constexpr std::size_t max_channels = std::size_t{1} << 20;

// Common part of Region and Rect: one rectangle with two sets of names.
struct Rect {
  Region region;
};

std::int32_t pixels_from(nb::handle object, const char* argument) {
  constexpr std::size_t maximum = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(size_from(object, argument, maximum));
}

template <std::int32_t Region::*field>
void set_field(Region& region, nb::handle value) {
  region.*field = pixels_from(value, "region");
}

void bind_region(nb::module_& m) {
  nb::class_<Region>(m, "Region",
                     "A rectangle of whole pixels: x, y (top left corner), width,\n"
                     "height. Unsigned, readable and writable.")
      .def(
          "__init__",
          [](Region* self, nb::handle x, nb::handle y, nb::handle width, nb::handle height) {
            new (self) Region{pixels_from(x, "x"), pixels_from(y, "y"), pixels_from(width, "width"),
                              pixels_from(height, "height")};
          },
          nb::arg("x"), nb::arg("y"), nb::arg("width"), nb::arg("height"),
          nb::sig("def __init__(self, x: int, y: int, width: int, height: int) -> None"))
      .def_prop_rw(
          "x", [](const Region& r) { return r.x; }, &set_field<&Region::x>,
          nb::sig("def x(self) -> int"), "Leftmost column.")
      .def_prop_rw(
          "y", [](const Region& r) { return r.y; }, &set_field<&Region::y>,
          nb::sig("def y(self) -> int"), "Topmost row.")
      .def_prop_rw(
          "width", [](const Region& r) { return r.width; }, &set_field<&Region::width>,
          nb::sig("def width(self) -> int"), "Columns.")
      .def_prop_rw(
          "height", [](const Region& r) { return r.height; }, &set_field<&Region::height>,
          nb::sig("def height(self) -> int"), "Rows.")
      .def(nb::self == nb::self)
      .def("__repr__",
           [](const Region& r) {
             return "Region(x=" + std::to_string(r.x) + ", y=" + std::to_string(r.y) +
                    ", width=" + std::to_string(r.width) + ", height=" + std::to_string(r.height) +
                    ")";
           })
      .def("__iter__",
           [](const Region& r) { return nb::iter(nb::make_tuple(r.x, r.y, r.width, r.height)); })
      .def("__reduce__", [](nb::handle self) {
        const auto& r = nb::cast<const Region&>(self);
        return nb::make_tuple(self.type(), nb::make_tuple(r.x, r.y, r.width, r.height));
      });
}

void bind_rect(nb::module_& m) {
  nb::class_<Rect>(m, "Rect",
                   "A rectangle of whole pixels by its left, top, width and height;\n"
                   "accepted wherever a Region is.")
      .def(
          "__init__",
          [](Rect* self, nb::handle left, nb::handle top, nb::handle width, nb::handle height) {
            new (self) Rect{{pixels_from(left, "left"), pixels_from(top, "top"),
                             pixels_from(width, "width"), pixels_from(height, "height")}};
          },
          nb::arg("left"), nb::arg("top"), nb::arg("width"), nb::arg("height"),
          nb::sig("def __init__(self, left: int, top: int, width: int, height: int) -> None"))
      .def_prop_ro(
          "left", [](const Rect& r) { return r.region.x; }, "Leftmost column.")
      .def_prop_ro(
          "top", [](const Rect& r) { return r.region.y; }, "Topmost row.")
      .def_prop_ro(
          "width", [](const Rect& r) { return r.region.width; }, "Columns.")
      .def_prop_ro(
          "height", [](const Rect& r) { return r.region.height; }, "Rows.")
      .def("__eq__",
           [](const Rect& r, nb::handle other) {
             const Rect* o = nullptr;
             return nb::try_cast(other, o) && o != nullptr && o->region == r.region;
           })
      .def("__repr__",
           [](const Rect& r) {
             return "Rect(left=" + std::to_string(r.region.x) +
                    ", top=" + std::to_string(r.region.y) +
                    ", width=" + std::to_string(r.region.width) +
                    ", height=" + std::to_string(r.region.height) + ")";
           })
      .def("__reduce__", [](nb::handle self) {
        const Region& r = nb::cast<const Rect&>(self).region;
        return nb::make_tuple(self.type(), nb::make_tuple(r.x, r.y, r.width, r.height));
      });
}

Quantization make_quantization(std::vector<float> scale, std::vector<std::int32_t> zero_point,
                               std::optional<std::size_t> axis, bool is_symmetric) {
  if (scale.empty()) raise(Errc::invalid_argument, "scales: must not be empty");
  if (!is_symmetric && zero_point.size() != scale.size())
    raise(Errc::invalid_argument, "zero_points: must be as many as scales (" +
                                      std::to_string(zero_point.size()) + " for " +
                                      std::to_string(scale.size()) + ")");
  if (scale.size() == 1) axis.reset();
  return {std::move(scale), std::move(zero_point), axis};
}

std::vector<float> scales_from(nb::handle scales) {
  return float_list_from(scales, "scales", max_channels);
}

std::vector<std::int32_t> zero_points_from(nb::handle points) {
  return int_list_from(points, "zero_points", max_channels);
}

// The state of a pickle: scales, zero points, axis or None.
Quantization from_state(const nb::tuple& state) {
  if (nb::len(state) != 3) raise(Errc::invalid_argument, "state: must be a tuple of 3 values");
  std::optional<std::size_t> axis;
  if (!nb::object(state[2]).is_none()) axis = size_from(state[2], "state.axis");
  const auto points = zero_points_from(state[1]);
  return make_quantization(scales_from(state[0]), points, axis, points.empty());
}

nb::object zero_points(const Quantization& q) {
  return q.zero_point.empty() ? nb::none() : nb::cast(q.zero_point);
}

void add_making(nb::class_<Quantization>& cls) {
  cls.def_static(
         "per_tensor",
         [](FloatArg<"scale"> scale, IntArg<"zero_point"> zero_point) {
           return make_quantization({scale}, {zero_point}, {}, false);
         },
         nb::arg("scale"), nb::arg("zero_point"), "One scale and zero point for all elements.")
      .def_static(
          "per_tensor_symmetric",
          [](FloatArg<"scale"> scale) { return make_quantization({scale}, {}, {}, true); },
          nb::arg("scale"), "One scale, zero point 0.")
      .def_static(
          "per_channel",
          [](nb::handle scales, nb::handle points, SizeArg<"axis"> axis) {
            return make_quantization(scales_from(scales), zero_points_from(points), axis, false);
          },
          nb::arg("scales"), nb::arg("zero_points"), nb::arg("axis"),
          nb::sig("def per_channel(scales: Sequence[float], zero_points: Sequence[int], axis: "
                  "int) -> Quantization"),
          "One scale and zero point for each index of `axis`. Raises RuntimeError if the\n"
          "lengths differ or are 0.")
      .def_static(
          "per_channel_symmetric",
          [](nb::handle scales, SizeArg<"axis"> axis) {
            return make_quantization(scales_from(scales), {}, axis, true);
          },
          nb::arg("scales"), nb::arg("axis"),
          nb::sig("def per_channel_symmetric(scales: Sequence[float], axis: int) -> Quantization"),
          "One scale for each index of `axis`.");
}

void add_facts(nb::class_<Quantization>& cls) {
  cls.def_prop_ro(
         "scale", [](const Quantization& q) { return q.scale; }, "Scales, one or more.")
      .def_prop_ro("zero_point", &zero_points, nb::sig("def zero_point(self) -> list[int] | None"),
                   "Zero points; None when symmetric.")
      .def_prop_ro(
          "axis", [](const Quantization& q) { return q.axis; },
          "The axis of the scales; None for one scale.")
      .def_prop_ro("is_per_tensor", &Quantization::is_per_tensor, "True with one scale.")
      .def_prop_ro(
          "is_per_channel", [](const Quantization& q) { return !q.is_per_tensor(); },
          "True with several scales.")
      .def_prop_ro("is_symmetric", &Quantization::is_symmetric, "True when every zero point is 0.");
}

void add_protocols(nb::class_<Quantization>& cls) {
  cls.def("__eq__",
          [](const Quantization& q, nb::handle other) {
            const Quantization* o = nullptr;
            return nb::try_cast(other, o) && o != nullptr && *o == q;
          })
      .def("__repr__",
           [](const Quantization& q) {
             return nb::str("Quantization(scale={}, zero_point={}, axis={})")
                 .format(q.scale, zero_points(q), q.axis);
           })
      .def("__getstate__",
           [](const Quantization& q) { return nb::make_tuple(q.scale, q.zero_point, q.axis); })
      .def("__setstate__", [](Quantization& q, const nb::tuple& state) {
        new (&q) Quantization(from_state(state));
      });
}

void bind_quantization(nb::module_& m) {
  nb::class_<Quantization> cls(
      m, "Quantization",
      "Maps stored integers to real numbers: real = (stored - zero_point) *\n"
      "scale, for a tensor or for each index of an axis. Immutable.");
  add_making(cls);
  add_facts(cls);
  add_protocols(cls);
}

Colorimetry make_colorimetry(nb::handle space, nb::handle transfer, nb::handle encoding,
                             nb::handle range) {
  Colorimetry made;
  if (!space.is_none()) made.space = enum_from<ColorSpace>(space, "space");
  if (!transfer.is_none()) made.transfer = enum_from<ColorTransfer>(transfer, "transfer");
  if (!encoding.is_none()) made.encoding = enum_from<ColorEncoding>(encoding, "encoding");
  if (!range.is_none()) made.range = enum_from<ColorRange>(range, "range");
  return made;
}

nb::tuple axes(const Colorimetry& c) {
  return nb::make_tuple(enum_to(c.space), enum_to(c.transfer), enum_to(c.encoding),
                        enum_to(c.range));
}

void add_making(nb::class_<Colorimetry>& cls) {
  cls.def(
         "__init__",
         [](Colorimetry* self, nb::handle space, nb::handle transfer, nb::handle encoding,
            nb::handle range) {
           new (self) Colorimetry(make_colorimetry(space, transfer, encoding, range));
         },
         nb::arg("space") = nb::none(), nb::arg("transfer") = nb::none(),
         nb::arg("encoding") = nb::none(), nb::arg("range") = nb::none(),
         nb::sig("def __init__(self, space: ColorSpaceLike | None = None, transfer: "
                 "ColorTransferLike | None = None, encoding: ColorEncodingLike | None = None, "
                 "range: ColorRangeLike | None = None) -> None"))
      .def_static(
          "from_v4l2",
          [](std::uint32_t colorspace, std::uint32_t xfer, std::uint32_t ycbcr_enc,
             std::uint32_t quant) {
            return colorimetry_from_v4l2({colorspace, xfer, ycbcr_enc, quant});
          },
          nb::arg("colorspace"), nb::arg("xfer"), nb::arg("ycbcr_enc"), nb::arg("quant"),
          "From the four numbers of V4L2's pixel format (enum v4l2_colorspace and so on).\n"
          "Encoding and range 0 follow from the colour space, as in the kernel; unknown\n"
          "values are None.");
}

void add_axes(nb::class_<Colorimetry>& cls) {
  cls.def_prop_ro(
         "space", [](const Colorimetry& c) { return enum_to(c.space); },
         nb::sig("def space(self) -> ColorSpace | None"), "Primaries.")
      .def_prop_ro(
          "transfer", [](const Colorimetry& c) { return enum_to(c.transfer); },
          nb::sig("def transfer(self) -> ColorTransfer | None"), "Kept, but not applied.")
      .def_prop_ro(
          "encoding", [](const Colorimetry& c) { return enum_to(c.encoding); },
          nb::sig("def encoding(self) -> ColorEncoding | None"), "YCbCr matrix.")
      .def_prop_ro(
          "range", [](const Colorimetry& c) { return enum_to(c.range); },
          nb::sig("def range(self) -> ColorRange | None"), "Full or limited codes.");
}

void add_protocols(nb::class_<Colorimetry>& cls) {
  cls.def("__eq__",
          [](const Colorimetry& c, nb::handle other) {
            const Colorimetry* o = nullptr;
            return nb::try_cast(other, o) && o != nullptr && *o == c;
          })
      .def("__hash__", [](const Colorimetry& c) { return nb::hash(axes(c)); })
      .def("__repr__",
           [](const Colorimetry& c) {
             return nb::str("Colorimetry(space={}, transfer={}, encoding={}, range={})")
                 .format(enum_to(c.space), enum_to(c.transfer), enum_to(c.encoding),
                         enum_to(c.range));
           })
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), axes(nb::cast<const Colorimetry&>(self)));
      });
}

void bind_colorimetry(nb::module_& m) {
  nb::class_<Colorimetry> cls(
      m, "Colorimetry",
      "The meaning of an image's samples as colours; each axis may be None\n"
      "(unknown). Immutable, compares by value.");
  add_making(cls);
  add_axes(cls);
  add_protocols(cls);
}

// The flip comes first. A vertical flip is a mirror and a rotation by 180 degrees.
int degrees(const ImageInfo& info) {
  const int half = info.orientation.flip == Flip::vertical ? 2 : 0;
  return 90 * ((static_cast<int>(info.orientation.rotation) + half) % 4);
}

void bind_image_info(nb::module_& m) {
  nb::class_<ImageInfo>(m, "ImageInfo", "The content of an image file's header.")
      .def_ro("width", &ImageInfo::width, "Columns as stored, before any rotation.")
      .def_ro("height", &ImageInfo::height, "Rows as stored.")
      .def_prop_ro(
          "format", [](const ImageInfo& i) { return enum_to(i.format); },
          nb::sig("def format(self) -> PixelFormat"),
          "Format of the pixels: the file's native one, or that of the decoded pixels.")
      .def_ro("row_stride", &ImageInfo::row_stride, "Bytes between rows.")
      .def_prop_ro("rotation_degrees", &degrees,
                   "Clockwise rotation of 0, 90, 180 or 270 degrees that makes the image upright.")
      .def_prop_ro(
          "flip_horizontal", [](const ImageInfo& i) { return i.orientation.flip != Flip::none; },
          "True if the image must also be mirrored, before the rotation.")
      .def_ro("bit_depth", &ImageInfo::bit_depth, "Bits per sample as stored.")
      .def_ro("is_progressive", &ImageInfo::is_progressive, "Progressive JPEG or interlaced PNG.")
      .def("__repr__", [](const ImageInfo& i) {
        return nb::str(
                   "ImageInfo(width={}, height={}, format={}, row_stride={}, "
                   "rotation_degrees={}, flip_horizontal={})")
            .format(i.width, i.height, enum_to(i.format), i.row_stride, degrees(i),
                    i.orientation.flip != Flip::none);
      });
}

}  // namespace

Region region_from(nb::handle object, const char* argument) {
  const Region* region = nullptr;
  if (nb::try_cast(object, region) && region != nullptr) return *region;
  const Rect* rect = nullptr;
  if (nb::try_cast(object, rect) && rect != nullptr) return rect->region;
  std::array<std::int32_t, 4> four{};
  const auto add = [&](nb::handle item, std::size_t i) {
    const std::size_t value = python::size_from(item, argument);
    if (value > std::numeric_limits<std::int32_t>::max())
      raise(Errc::invalid_argument, std::string(argument) + ": must be below 2^31");
    four[i] = static_cast<std::int32_t>(value);
  };
  if (for_each_item(object, argument, "a Region", four.size(), add) != four.size())
    raise_wrong_type(argument, "a Region", object);
  return {four[0], four[1], four[2], four[3]};
}

Orientation orientation_from(nb::handle object, const char* argument) {
  const ImageInfo* info = nullptr;
  if (object.is_none()) return {};
  if (nb::try_cast(object, info) && info != nullptr) return info->orientation;
  if (PyUnicode_Check(object.ptr()) != 0 && text_from(object, argument) == "raw") return {};
  if (PyTuple_Check(object.ptr()) != 0 && nb::len(object) == 2)
    return {enum_from<Flip>(object[0], argument), enum_from<Rotation>(object[1], argument)};
  if (PyUnicode_Check(object.ptr()) != 0) {
    constexpr std::array<std::string_view, 1> words{"raw"};
    raise_unknown_word(argument, object, "orientation", words);
  }
  raise_wrong_type(argument, "an ImageInfo, a Flip and a Rotation, or \"raw\"", object);
}

nb::object orientation_result(Orientation orientation) {
  return nb::make_tuple(enum_to(orientation.flip), enum_to(orientation.rotation));
}

Colorimetry colorimetry_from(nb::handle object, const char* argument) {
  if (object.is_none()) return {};
  const Colorimetry* given = nullptr;
  if (!nb::try_cast(object, given) || given == nullptr)
    raise_wrong_type(argument, "a Colorimetry or None", object);
  return *given;
}

nb::object colorimetry_result(const Colorimetry& colorimetry) {
  return colorimetry == Colorimetry{} ? nb::none() : nb::cast(colorimetry);
}

void bind_values(nb::module_& m) {
  bind_region(m);
  bind_rect(m);
  bind_quantization(m);
  bind_colorimetry(m);
  bind_image_info(m);
}

}  // namespace halyard::python
