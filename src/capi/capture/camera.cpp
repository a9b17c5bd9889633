// SPDX-License-Identifier: Apache-2.0
// Cameras in C.
#include "halyard/camera.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "capi/arguments.h"
#include "capi/capture/captures.h"
#include "capi/error.h"
#include "capi/handles.h"
#include "capi/ipc/topics.h"
#include "halyard/c/camera.h"

struct hal_camera {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("camr");
  halyard::capi::Tag tag{kind};
  halyard::Camera camera;
};

namespace halyard::capi {
namespace {

hal_camera_info info_to_c(const CameraInfo& info) {
  hal_camera_info out{};
  copy_cut(info.path, out.path);
  copy_cut(info.name, out.name);
  copy_cut(info.driver, out.driver);
  copy_cut(info.bus, out.bus);
  out.is_multiplanar = info.is_multiplanar;
  out.is_usable = info.usable.has_value();
  if (!info.usable) copy_cut(info.usable.error().message(), out.reason);
  return out;
}

hal_camera_size size_to_c(const CameraFormat& format, const CameraSize& size) {
  return {.fourcc = format.fourcc,
          .format = format.layout ? static_cast<int>(format.layout->format) : HAL_CAMERA_ANY_FORMAT,
          .is_readable = format.is_readable(),
          .width = size.width,
          .height = size.height,
          .min_width = size.min_width,
          .min_height = size.min_height,
          .max_rate = size.rates.empty() ? 0 : size.rates.front(),
          .min_rate = size.rates.empty() ? 0 : size.rates.back()};
}

Result<int> list_camera_sizes(const char* path, hal_camera_size* out, std::size_t capacity) {
  HALYARD_TRY(const std::string node, path_from(path));
  HALYARD_RETURN_IF_ERROR(check_room(out, capacity));
  HALYARD_TRY(const CameraInfo info, camera_info(node));
  std::size_t count = 0;
  for (const CameraFormat& format : info.formats)
    for (const CameraSize& size : format.sizes)
      if (count++ < capacity) out[count - 1] = size_to_c(format, size);
  return static_cast<int>(count);
}

Result<CameraOptions> options_from(const hal_camera_options* given) {
  CameraOptions options;
  if (given == nullptr) return options;
  HALYARD_RETURN_IF_ERROR(aligned(given, "options"));
  if (given->format != HAL_CAMERA_ANY_FORMAT) {
    HALYARD_TRY(options.format, format_from(given->format));
    HALYARD_TRY(options.dtype, dtype_from(given->dtype));
  }
  if (given->fourcc != nullptr) options.fourcc = given->fourcc;
  options.width = given->width;
  options.height = given->height;
  options.rate = given->rate;
  options.buffers = given->buffers;
  options.latest_only = given->latest_only;
  options.reopens = given->reopens;
  if (given->images == nullptr && given->image_count > 0)
    return null_argument("options.images: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(given->images, "options.images"));
  for (std::size_t i = 0; i < given->image_count; ++i) {
    HALYARD_TRY(const Tensor* const image, tensor_of(given->images[i]));
    options.images.push_back(*image);
  }
  if (given->pool != nullptr) {
    HALYARD_TRY(const hal_pool* const pool, checked(given->pool, "options.pool"));
    options.pool = pool->pool;
  }
  return options;
}

Result<hal_camera*> open_camera(const char* path, const hal_camera_options* given) {
  HALYARD_TRY(const std::string node, path_from(path));
  HALYARD_TRY(const CameraOptions options, options_from(given));
  HALYARD_TRY(Camera camera, Camera::open(node, options));
  return new hal_camera{.camera = std::move(camera)};
}

// Cancelling and the controls are thread-safe in C++ and need no exclusive handle in C.
Result<Camera*> camera_of(const hal_camera* handle) {
  HALYARD_TRY(const hal_camera* const found, checked(handle, "camera"));
  return &const_cast<hal_camera*>(found)->camera;
}

Result<int> next_camera_frame(hal_camera* handle, std::int64_t timeout_ns, hal_camera_frame* out) {
  HALYARD_TRY(Camera* const camera, camera_of(handle));
  HALYARD_RETURN_IF_ERROR(check_out(out));
  HALYARD_TRY(CameraFrame frame, camera->next(timeout_from(timeout_ns)));
  *out = {.image = new hal_tensor{.tensor = std::move(frame.image)},
          .sequence = frame.sequence,
          .lost = frame.lost,
          .timestamp_ns = frame.timestamp.count()};
  return 0;
}

Result<int> list_controls_to_c(const hal_camera* handle, hal_camera_control* out,
                               std::size_t capacity) {
  HALYARD_TRY(const Camera* const camera, camera_of(handle));
  HALYARD_RETURN_IF_ERROR(check_room(out, capacity));
  HALYARD_TRY(const auto controls, camera->controls());
  return put_controls(controls, out, capacity);
}

// Checks the arguments and calls `use` with the camera and the control's name.
template <class F>
Result<int> with_control(const hal_camera* handle, const char* name, F&& use) {
  HALYARD_TRY(Camera* const camera, camera_of(handle));
  if (name == nullptr) return null_argument("name: is NULL");
  HALYARD_RETURN_IF_ERROR(use(*camera, std::string_view(name)));
  return 0;
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;
using capi::is_valid;

int hal_camera_list(hal_camera_info* out, size_t capacity) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(capi::check_room(out, capacity));
    const auto cameras = list_cameras();
    for (std::size_t i = 0; i < std::min(capacity, cameras.size()); ++i)
      out[i] = capi::info_to_c(cameras[i]);
    return static_cast<int>(cameras.size());
  });
}

int hal_camera_sizes(const char* path, hal_camera_size* out, size_t capacity) {
  return guarded<int>(-1, [&] { return capi::list_camera_sizes(path, out, capacity); });
}

hal_camera_options hal_camera_options_default(void) {
  const CameraOptions options;
  return {.format = HAL_CAMERA_ANY_FORMAT,
          .dtype = static_cast<int>(options.dtype),
          .fourcc = nullptr,
          .width = options.width,
          .height = options.height,
          .rate = options.rate,
          .buffers = options.buffers,
          .latest_only = options.latest_only,
          .reopens = options.reopens,
          .images = nullptr,
          .image_count = 0,
          .pool = nullptr};
}

hal_camera* hal_camera_open(const char* path, const hal_camera_options* options) {
  return guarded<hal_camera*>(nullptr, [&] { return capi::open_camera(path, options); });
}

void hal_camera_free(hal_camera* camera) {
  if (is_valid(camera)) delete camera;
}

int hal_camera_get_mode(const hal_camera* camera, hal_camera_mode* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const Camera* const found, capi::camera_of(camera));
    HALYARD_RETURN_IF_ERROR(capi::check_out(out));
    const CameraMode& mode = found->mode();
    *out = {.fourcc = mode.fourcc,
            .format = static_cast<int>(mode.layout.format),
            .dtype = static_cast<int>(mode.layout.dtype),
            .width = mode.width,
            .height = mode.height,
            .rate = mode.rate,
            .stride_bytes = mode.stride_bytes,
            .buffers = mode.buffers,
            .transfer = static_cast<int>(mode.transfer)};
    return 0;
  });
}

int hal_camera_next(hal_camera* camera, int64_t timeout_ns, hal_camera_frame* out) {
  return guarded<int>(-1, [&] { return capi::next_camera_frame(camera, timeout_ns, out); });
}

int hal_camera_fd(const hal_camera* camera) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const Camera* const found, capi::camera_of(camera));
    return found->fd();
  });
}

int hal_camera_cancel(const hal_camera* camera) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(Camera* const found, capi::camera_of(camera));
    found->cancel();
    return 0;
  });
}

int hal_camera_get_stats(const hal_camera* camera, hal_camera_stats* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const Camera* const found, capi::camera_of(camera));
    HALYARD_RETURN_IF_ERROR(capi::check_out(out));
    const CameraStats stats = found->stats();
    *out = {.frames = stats.frames,
            .lost = stats.lost,
            .corrupt = stats.corrupt,
            .dropped = stats.dropped,
            .copies = stats.copies,
            .reopened = stats.reopened,
            .held = stats.held};
    return 0;
  });
}

int hal_camera_controls(const hal_camera* camera, hal_camera_control* out, size_t capacity) {
  return guarded<int>(-1, [&] { return capi::list_controls_to_c(camera, out, capacity); });
}

int hal_camera_get_control(const hal_camera* camera, const char* name, int64_t* out) {
  return guarded<int>(-1, [&] {
    return capi::with_control(camera, name, [&](Camera& found, auto control) -> Status {
      HALYARD_RETURN_IF_ERROR(capi::check_out(out));
      HALYARD_TRY(*out, found.control(control));
      return {};
    });
  });
}

int hal_camera_set_control(const hal_camera* camera, const char* name, int64_t value) {
  return guarded<int>(-1, [&] {
    return capi::with_control(camera, name, [&](Camera& found, auto control) {
      return found.set_control(control, value);
    });
  });
}

int hal_camera_set_control_entry(const hal_camera* camera, const char* name, const char* entry) {
  return guarded<int>(-1, [&] {
    return capi::with_control(camera, name, [&](Camera& found, auto control) -> Status {
      if (entry == nullptr) return capi::null_argument("entry: is NULL");
      return found.set_control(control, std::string_view(entry));
    });
  });
}
