// SPDX-License-Identifier: Apache-2.0
// DepthImage: a message with distances along a camera's axis.
#include "halyard/depth_image.h"

#include <nanobind/stl/string.h>

#include <array>
#include <new>
#include <string>
#include <utility>

#include "ipc/messages.h"

namespace halyard::python {
namespace {

using DepthClass = nb::class_<DepthImage>;

constexpr const char* depth_doc =
    "Distances along a camera's axis: float32 metres or uint16 millimetres, [H, W].\n\n"
    "A depth is valid when it is finite, above 0, and within [min_depth, max_depth]. What is not\n"
    "valid is not a measurement: 0 in uint16, NaN in float32. Topics of type DepthImage carry "
    "it.\n\n"
    "Args:\n"
    "    width, height: pixels, 1..65535.\n"
    "    dtype: \"float32\" (metres) or \"uint16\" (millimetres).\n"
    "    pool: where its bytes are; None: the process's own pool. They are not initialised.";

DepthImage create_depth(nb::handle width, nb::handle height, DType dtype, nb::handle pool) {
  const auto from = pool_from(pool, "pool");
  const std::size_t columns = size_from(width, "width");
  const std::size_t rows = size_from(height, "height");
  return take(released([&] { return DepthImage::create(columns, rows, dtype, from); }));
}

DepthImage depth_from_numpy(nb::handle array, nb::handle pool) {
  const DepthImage seen = take(DepthImage::wrap(packed_tensor(array, "array")));
  DepthImage made =
      create_depth(nb::cast(seen.width()), nb::cast(seen.height()), seen.dtype(), pool);
  Tensor to = made.tensor();
  check(released([&] { return copy(seen.tensor(), to); }));
  return made;
}

CameraIntrinsics intrinsics_from(nb::handle object) {
  const CameraIntrinsics* given = nullptr;
  if (nb::try_cast(object, given) && given != nullptr) return *given;
  std::array<double, 4> four{};
  const std::size_t count = for_each_item(
      object, "intrinsics", "a CameraIntrinsics, or fx, fy, cx, cy", four.size(),
      [&](nb::handle item, std::size_t i) { four[i] = number_from(item, "intrinsics"); });
  if (count != four.size())
    raise(Errc::invalid_argument,
          "intrinsics: must be fx, fy, cx, cy (" + count_text(count, four.size()) + ")");
  return {four[0], four[1], four[2], four[3]};
}

void add_making(DepthClass& cls) {
  cls.def(
         "__init__",
         [](DepthImage* self, nb::handle width, nb::handle height, nb::handle dtype,
            nb::handle pool) {
           new (self) DepthImage(create_depth(width, height, dtype_from(dtype, "dtype"), pool));
         },
         nb::arg("width"), nb::arg("height"), nb::arg("dtype") = "float32", nb::kw_only(),
         nb::arg("pool") = nb::none(),
         nb::sig("def __init__(self, width: int, height: int, dtype: DTypeLike = 'float32', *, "
                 "pool: TensorPool | None = None) -> None"))
      .def_static(
          "meters",
          [](nb::handle width, nb::handle height, nb::handle pool) {
            return create_depth(width, height, DType::f32, pool);
          },
          nb::arg("width"), nb::arg("height"), nb::kw_only(), nb::arg("pool") = nb::none(),
          nb::sig("def meters(width: int, height: int, *, pool: TensorPool | None = None) -> "
                  "DepthImage"),
          "float32 metres.")
      .def_static(
          "millimeters",
          [](nb::handle width, nb::handle height, nb::handle pool) {
            return create_depth(width, height, DType::u16, pool);
          },
          nb::arg("width"), nb::arg("height"), nb::kw_only(), nb::arg("pool") = nb::none(),
          nb::sig("def millimeters(width: int, height: int, *, pool: TensorPool | None = None) -> "
                  "DepthImage"),
          "uint16 millimetres.");
}

void add_depth_arrays(DepthClass& cls) {
  cls.def_static("from_numpy", &depth_from_numpy, nb::arg("array"), nb::kw_only(),
                 nb::arg("pool") = nb::none(),
                 nb::sig("def from_numpy(array: Any, *, pool: TensorPool | None = None) -> "
                         "DepthImage"),
                 "A new image with a copy of an array [H, W] of float32 or uint16.")
      .def_static(
          "wrap",
          [](nb::handle tensor) {
            return take(DepthImage::wrap(tensor_to_read(tensor, "tensor")));
          },
          nb::arg("tensor"), nb::sig("def wrap(tensor: Any) -> DepthImage"),
          "A tensor or an array as a message, without a copy: [H, W], [H, W, 1] or a grey image;\n"
          "rows may be padded.");
}

void add_facts(DepthClass& cls) {
  cls.def_prop_ro("width", &DepthImage::width, "Columns.")
      .def_prop_ro("height", &DepthImage::height, "Rows.")
      .def_prop_ro("step", &DepthImage::step, "Bytes between rows.")
      .def_prop_ro("is_meters", &DepthImage::is_meters, "float32 metres.")
      .def_prop_ro("is_millimeters", &DepthImage::is_millimeters, "uint16 millimetres.")
      .def_prop_rw(
          "depth_scale", &DepthImage::depth_scale,
          [](DepthImage& self, nb::handle value) {
            check(self.set_depth_scale(static_cast<float>(number_from(value, "depth_scale"))));
          },
          nb::sig("def depth_scale(self) -> float"), "Millimetres of one unit of uint16.")
      .def_prop_ro("min_depth", &DepthImage::min_depth,
                   "Metres; nearer depths are not measurements.")
      .def_prop_ro("max_depth", &DepthImage::max_depth,
                   "Metres; farther depths are not measurements.")
      .def(
          "set_depth_range",
          [](DepthImage& self, nb::handle nearest, nb::handle farthest) {
            check(self.set_depth_range(static_cast<float>(number_from(nearest, "min_depth")),
                                       static_cast<float>(number_from(farthest, "max_depth"))));
          },
          nb::arg("min_depth"), nb::arg("max_depth"),
          nb::sig("def set_depth_range(self, min_depth: float, max_depth: float) -> None"),
          "The range of measurements, in metres; max_depth may be infinite.")
      .def("__repr__", [](const DepthImage& self) {
        return "DepthImage(" + std::to_string(self.width()) + "x" + std::to_string(self.height()) +
               ", " + dtype_name(self.dtype()) + ")";
      });
}

void add_pixels(DepthClass& cls) {
  cls.def(
         "get_depth",
         [](const DepthImage& self, nb::handle x, nb::handle y) {
           return take(self.get_depth(size_from(x, "x"), size_from(y, "y")));
         },
         nb::arg("x"), nb::arg("y"), nb::sig("def get_depth(self, x: int, y: int) -> float"),
         "Metres, as stored. Raises InvalidArgumentError outside the image.")
      .def(
          "set_depth",
          [](DepthImage& self, nb::handle x, nb::handle y, nb::handle meters) {
            check(self.set_depth(size_from(x, "x"), size_from(y, "y"),
                                 static_cast<float>(number_from(meters, "meters"))));
          },
          nb::arg("x"), nb::arg("y"), nb::arg("meters"),
          nb::sig("def set_depth(self, x: int, y: int, meters: float) -> None"),
          "Rounds to the nearest unit; 0 and, in float32, NaN mean that there is no measurement.\n"
          "Raises InvalidArgumentError (outside the image or the depth range), AccessError.")
      .def(
          "get_depth_u16",
          [](const DepthImage& self, nb::handle x, nb::handle y) {
            return take(self.get_depth_u16(size_from(x, "x"), size_from(y, "y")));
          },
          nb::arg("x"), nb::arg("y"), nb::sig("def get_depth_u16(self, x: int, y: int) -> int"),
          "The stored unit of uint16.")
      .def(
          "depth_statistics",
          [](const DepthImage& self) {
            return take(
                released_on(self, [](const DepthImage& i) { return i.depth_statistics(); }));
          },
          "Minimum, maximum and mean depth of the valid pixels in metres, and their count.");
}

void add_conversions(DepthClass& cls) {
  cls.def(
         "to_meters",
         [](const DepthImage& self, nb::handle pool) {
           const auto to = pool_from(pool, "pool");
           return take(released_on(self, [&](const DepthImage& i) { return i.to_meters(to); }));
         },
         nb::kw_only(), nb::arg("pool") = nb::none(),
         nb::sig("def to_meters(self, *, pool: TensorPool | None = None) -> DepthImage"),
         "A copy in float32 metres.")
      .def(
          "to_millimeters",
          [](const DepthImage& self, nb::handle pool) {
            const auto to = pool_from(pool, "pool");
            return take(
                released_on(self, [&](const DepthImage& i) { return i.to_millimeters(to); }));
          },
          nb::kw_only(), nb::arg("pool") = nb::none(),
          nb::sig("def to_millimeters(self, *, pool: TensorPool | None = None) -> DepthImage"),
          "A copy in uint16 units of depth_scale; values that do not fit become 0.")
      .def(
          "deproject",
          [](const DepthImage& self, nb::handle intrinsics, bool valid_only, nb::handle pool) {
            const CameraIntrinsics camera = intrinsics_from(intrinsics);
            const auto to = pool_from(pool, "pool");
            return take(released_on(self, [&](const DepthImage& i) {
              return valid_only ? i.deproject_valid(camera, to) : i.deproject(camera, to);
            }));
          },
          nb::arg("intrinsics"), nb::kw_only(), nb::arg("valid_only") = false,
          nb::arg("pool") = nb::none(),
          nb::sig("def deproject(self, intrinsics: CameraIntrinsics | Sequence[float], *, "
                  "valid_only: bool = False, pool: TensorPool | None = None) -> PointCloud"),
          "float32 points x y z in metres, height x width, NaN for invalid pixels; with\n"
          "`valid_only` one row with the valid pixels only.")
      .def(
          "as_image", [](const DepthImage& self) { return take(self.as_image()); },
          nb::sig("def as_image(self) -> Image"), "\"32FC1\" or \"16UC1\", sharing the bytes.");
}

void bind_camera(nb::module_& m) {
  nb::class_<CameraIntrinsics>(m, "CameraIntrinsics",
                               "A pinhole camera without distortion, in pixels; (0, 0) is the\n"
                               "centre of the first pixel.")
      .def(
          "__init__",
          [](CameraIntrinsics* self, FloatArg<"fx"> fx, FloatArg<"fy"> fy, FloatArg<"cx"> cx,
             FloatArg<"cy"> cy) {
            new (self) CameraIntrinsics{number_from(fx.object, "fx"), number_from(fy.object, "fy"),
                                        number_from(cx.object, "cx"), number_from(cy.object, "cy")};
          },
          nb::arg("fx"), nb::arg("fy"), nb::arg("cx"), nb::arg("cy"))
      .def_ro("fx", &CameraIntrinsics::fx)
      .def_ro("fy", &CameraIntrinsics::fy)
      .def_ro("cx", &CameraIntrinsics::cx)
      .def_ro("cy", &CameraIntrinsics::cy);
  nb::class_<DepthStatistics>(m, "DepthStatistics",
                              "Of the valid pixels, in metres; all zero if there is none.")
      .def_ro("min", &DepthStatistics::min)
      .def_ro("max", &DepthStatistics::max)
      .def_ro("mean", &DepthStatistics::mean)
      .def_ro("count", &DepthStatistics::count);
}

}  // namespace

void bind_depth_image(nb::module_& m) {
  bind_camera(m);
  DepthClass cls(m, "DepthImage", nb::is_weak_referenceable(), depth_doc);
  add_making(cls);
  add_depth_arrays(cls);
  add_message(cls);
  add_facts(cls);
  add_pixels(cls);
  add_conversions(cls);
}

}  // namespace halyard::python
