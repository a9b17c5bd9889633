// SPDX-License-Identifier: Apache-2.0
// The C++ part of halyard.Camera and halyard.cameras() (python/halyard/_cameras.py).
#include "halyard/camera.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "args.h"
#include "bindings.h"
#include "capture/captures.h"
#include "enums.h"
#include "fork_mutex.h"
#include "halyard/drm.h"
#include "ipc/pools.h"
#include "tensor/tensor.h"

namespace halyard::python {
namespace {

using std::chrono::milliseconds;

// Shared, because a thread may wait in next() while another closes the camera.
struct PyCamera {
  std::shared_ptr<Camera> camera;  ///< null after close()
  PyMutex mutex;                   ///< of next()
};

std::shared_ptr<Camera> opened(const PyCamera& self) {
  if (!self.camera) raise(Errc::invalid_argument, "camera: it is closed");
  return self.camera;
}

template <class T>
void put(nb::dict& out, const char* key, const T& value) {
  out[key] = nb::cast(value);
}

nb::dict dict_of(const CameraSize& size) {
  nb::dict out;
  put(out, "width", size.width);
  put(out, "height", size.height);
  put(out, "min_width", size.min_width);
  put(out, "min_height", size.min_height);
  put(out, "rates", size.rates);
  put(out, "is_rate_range", size.is_rate_range);
  return out;
}

nb::dict dict_of(const CameraFormat& format) {
  nb::dict out;
  out["fourcc"] = str_of(fourcc_to_string(format.fourcc));
  out["description"] = str_of(format.description);
  out["format"] =
      format.layout ? nb::object(str_of(to_string(format.layout->format))) : nb::object(nb::none());
  put(out, "is_readable", format.is_readable());
  nb::list sizes;
  for (const CameraSize& size : format.sizes)
    sizes.append(dict_of(size));
  out["sizes"] = sizes;
  return out;
}

template <class T>
nb::list list_of(const std::vector<T>& items) {
  nb::list out;
  for (const T& item : items)
    out.append(dict_of(item));
  return out;
}

nb::list all_cameras() {
  const auto cameras = released([] { return list_cameras(); });
  nb::list out;
  for (const CameraInfo& info : cameras) {
    nb::dict entry;
    entry["path"] = str_of(info.path);
    entry["name"] = str_of(info.name);
    entry["driver"] = str_of(info.driver);
    entry["bus"] = str_of(info.bus);
    put(entry, "is_multiplanar", info.is_multiplanar);
    entry["formats"] = list_of(info.formats);
    entry["controls"] = controls_result(info.controls);
    entry["reason"] =
        info.usable ? nb::object(nb::none()) : nb::object(str_of(info.usable.error().message()));
    out.append(entry);
  }
  return out;
}

CameraOptions options_of(const nb::dict& given) {
  CameraOptions options;
  const auto at = [&given](const char* name) { return given[name]; };
  if (!at("format").is_none()) options.format = enum_from<PixelFormat>(at("format"), "format");
  options.dtype = dtype_from(at("dtype"), "dtype");
  options.fourcc = text_from(at("fourcc"), "fourcc");
  options.width = size_from(at("width"), "width");
  options.height = size_from(at("height"), "height");
  options.rate = number_from(at("rate"), "rate");
  options.buffers = static_cast<std::uint32_t>(size_from(at("buffers"), "buffers", 1U << 20U));
  options.latest_only = truth_from(at("latest_only"));
  options.reopens = truth_from(at("reopens"));
  for (nb::handle image : nb::list(at("images")))
    options.images.push_back(tensor_object(image, "images").value);
  options.pool = pool_from(at("pool"), "pool");
  return options;
}

void open_camera(PyCamera* self, nb::handle source, const nb::dict& given) {
  const CameraOptions options = options_of(given);
  auto camera = take([&]() -> Result<Camera> {
    if (PyLong_Check(source.ptr()) != 0) {
      const std::size_t index = size_from(source, "source");
      return released([&] { return Camera::open(index, options); });
    }
    const std::string path = path_from(source, "source");
    return released([&] { return Camera::open(path, options); });
  }());
  new (self) PyCamera();
  self->camera = std::make_shared<Camera>(std::move(camera));
}

nb::tuple next_camera_frame(PyCamera& self, double timeout_s) {
  const auto camera = opened(self);
  CameraFrame frame = wait_in_slices(self.mutex, timeout_s,
                                     [&](milliseconds timeout) { return camera->next(timeout); });
  return nb::make_tuple(handle_result(std::move(frame.image)), frame.sequence, frame.lost,
                        frame.timestamp.count());
}

nb::dict mode_of(PyCamera& self) {
  const auto camera = opened(self);
  const CameraMode& mode = camera->mode();
  nb::dict out;
  out["path"] = str_of(mode.path);
  out["fourcc"] = str_of(fourcc_to_string(mode.fourcc));
  out["format"] = str_of(to_string(mode.layout.format));
  put(out, "width", mode.width);
  put(out, "height", mode.height);
  put(out, "rate", mode.rate);
  put(out, "stride_bytes", mode.stride_bytes);
  put(out, "buffers", mode.buffers);
  out["transfer"] = str_of(to_string(mode.transfer));
  return out;
}

nb::dict camera_stats(PyCamera& self) {
  const CameraStats stats = opened(self)->stats();
  nb::dict out;
  put(out, "frames", stats.frames);
  put(out, "lost", stats.lost);
  put(out, "corrupt", stats.corrupt);
  put(out, "dropped", stats.dropped);
  put(out, "copies", stats.copies);
  put(out, "reopened", stats.reopened);
  put(out, "held", stats.held);
  return out;
}

void set_camera_control(PyCamera& self, nb::handle name, nb::handle value) {
  const auto camera = opened(self);
  set_named_control(*camera, name, value);
}

}  // namespace

void bind_cameras(nb::module_& m) {
  m.def("_cameras", &all_cameras, nb::sig("def _cameras() -> list[dict[str, Any]]"));
  nb::class_<PyCamera>(m, "_Camera", "The C++ part of halyard.Camera.")
      .def("__init__", &open_camera, nb::arg("source"), nb::arg("options"),
           nb::sig("def __init__(self, source: Any, options: dict[str, Any]) -> None"))
      .def("next", &next_camera_frame, nb::arg("timeout"),
           nb::sig("def next(self, timeout: float) -> tuple[Tensor, int, int, int]"))
      .def(
          "close", [](PyCamera& self) { self.camera.reset(); }, nb::sig("def close(self) -> None"))
      .def(
          "cancel", [](PyCamera& self) { opened(self)->cancel(); },
          nb::sig("def cancel(self) -> None"))
      .def(
          "fileno", [](PyCamera& self) { return opened(self)->fd(); },
          nb::sig("def fileno(self) -> int"))
      .def("mode", &mode_of, nb::sig("def mode(self) -> dict[str, Any]"))
      .def("stats", &camera_stats, nb::sig("def stats(self) -> dict[str, int]"))
      .def(
          "controls",
          [](PyCamera& self) {
            const auto camera = opened(self);
            return controls_result(take(released([&] { return camera->controls(); })));
          },
          nb::sig("def controls(self) -> list[dict[str, Any]]"))
      .def(
          "control",
          [](PyCamera& self, nb::handle name) {
            const auto camera = opened(self);
            const std::string control = text_from(name, "name");
            return take(released([&] { return camera->control(control); }));
          },
          nb::arg("name"), nb::sig("def control(self, name: str) -> int"))
      .def("set_control", &set_camera_control, nb::arg("name"), nb::arg("value"),
           nb::sig("def set_control(self, name: str, value: int | str) -> None"));
}

}  // namespace halyard::python
