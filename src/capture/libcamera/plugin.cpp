// SPDX-License-Identifier: Apache-2.0
// The plugin of libcamera: a shared object of its own, which is built against the libcamera that is
// installed, because its C++ interface changes with each release.
#define HAL_CAPTURE_PLUGIN_IMPLEMENTATION
#include "halyard/c/capture_plugin.h"

#include <libcamera/property_ids.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "capture/libcamera/session.h"

struct hal_capture_device {
  explicit hal_capture_device(halyard::libcamera_plugin::CameraPtr camera)
      : session(std::move(camera)) {}
  halyard::libcamera_plugin::Session session;
};

namespace halyard::libcamera_plugin {
namespace {

/// What `call` gives; no exception leaves the plugin.
template <class Call>
int guarded(char* text, Call&& call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return HAL_CAPTURE_NO_MEMORY;
  } catch (const std::exception& error) {
    if (text != nullptr) tell(text, error.what());
    return HAL_CAPTURE_FAILED;
  }
}

template <std::size_t size>
void put(char (&field)[size], const std::string& text) {
  static_assert(size == HAL_CAPTURE_TEXT_BYTES);
  tell(field, text);
}

int camera(size_t index, hal_capture_info* info, char* text) {
  return guarded(text, [&]() -> int {
    libcamera::CameraManager* const cameras = manager(text);
    if (cameras == nullptr) return HAL_CAPTURE_FAILED;
    const auto all = cameras->cameras();
    if (index >= all.size()) return HAL_CAPTURE_END;
    const auto& one = *all[index];
    put(info->id, one.id());
    put(info->name, one.properties().get(libcamera::properties::Model).value_or(one.id()));
    put(info->driver, "libcamera");
    return HAL_CAPTURE_OK;
  });
}

int open(const char* id, hal_capture_device** camera, char* text) {
  return guarded(text, [&]() -> int {
    libcamera::CameraManager* const cameras = manager(text);
    if (cameras == nullptr) return HAL_CAPTURE_FAILED;
    CameraPtr found = cameras->get(id);
    if (found == nullptr) return HAL_CAPTURE_NOT_FOUND;
    *camera = new hal_capture_device(std::move(found));
    return HAL_CAPTURE_OK;
  });
}

void close(hal_capture_device* camera) {
  guarded(nullptr, [&] {
    delete camera;
    return HAL_CAPTURE_OK;
  });
}

int format(hal_capture_device* camera, size_t index, hal_capture_format* format) {
  return guarded(nullptr, [&]() -> int {
    const auto& formats = camera->session.formats();
    if (index >= formats.size()) return HAL_CAPTURE_END;
    format->fourcc = formats[index].fourcc();
    put(format->description, formats[index].toString());
    return HAL_CAPTURE_OK;
  });
}

int frame_size(hal_capture_device* camera, size_t format, size_t index, hal_capture_size* size) {
  return guarded(nullptr, [&]() -> int {
    if (format >= camera->session.formats().size()) return HAL_CAPTURE_END;
    const auto sizes = camera->session.sizes(format);
    if (index >= sizes.size()) return HAL_CAPTURE_END;
    const auto& one = sizes[index];
    size->min_width = one.min.width;
    size->min_height = one.min.height;
    size->max_width = one.max.width;
    size->max_height = one.max.height;
    size->step_width = one.hStep;
    size->step_height = one.vStep;
    return HAL_CAPTURE_OK;
  });
}

int control(hal_capture_device* camera, size_t index, hal_capture_control* control) {
  return guarded(nullptr, [&]() -> int {
    const auto all = camera->session.controls();
    if (index >= all.size()) return HAL_CAPTURE_END;
    const NumberControl& one = all[index];
    control->id = one.id->id();
    put(control->name, one.name);
    put(control->description, one.description);
    control->kind = one.is_switch ? HAL_CAPTURE_BOOLEAN : HAL_CAPTURE_INTEGER;
    control->flags = 0;
    control->minimum = one.minimum;
    control->maximum = one.maximum;
    control->step = 1;
    control->default_value = one.default_value;
    control->value = camera->session.value_of(one);
    return HAL_CAPTURE_OK;
  });
}

int set_control(hal_capture_device* camera, uint32_t id, int64_t value, char* text) {
  return guarded(text, [&] { return camera->session.set_control(id, value, text); });
}

int configure(hal_capture_device* camera, const hal_capture_wish* wish, hal_capture_mode* mode,
              char* text) {
  return guarded(text, [&] { return camera->session.configure(*wish, *mode, text); });
}

int buffer(hal_capture_device* camera, uint32_t index, hal_capture_buffer* buffer) {
  return guarded(nullptr, [&] { return camera->session.buffer(index, *buffer); });
}

int start(hal_capture_device* camera, char* text) {
  return guarded(text, [&] { return camera->session.start(text); });
}

int ready_fd(hal_capture_device* camera) {
  return camera->session.frames().fd();
}

int take(hal_capture_device* camera, hal_capture_frame* frame, char*) {
  return camera->session.frames().take(*frame);
}

int give_back(hal_capture_device* camera, uint32_t index) {
  return guarded(nullptr, [&] { return camera->session.give_back(index); });
}

}  // namespace
}  // namespace halyard::libcamera_plugin

extern "C" const hal_capture_plugin* hal_capture_plugin_get(uint32_t version) {
  namespace plugin = halyard::libcamera_plugin;
  static const hal_capture_plugin table = {HAL_CAPTURE_PLUGIN_VERSION,
                                           sizeof(hal_capture_plugin),
                                           "libcamera",
                                           libcamera::CameraManager::version().c_str(),
                                           plugin::camera,
                                           plugin::open,
                                           plugin::close,
                                           plugin::format,
                                           plugin::frame_size,
                                           plugin::control,
                                           plugin::set_control,
                                           plugin::configure,
                                           plugin::buffer,
                                           plugin::start,
                                           plugin::ready_fd,
                                           plugin::take,
                                           plugin::give_back};
  return version == HAL_CAPTURE_PLUGIN_VERSION ? &table : nullptr;
}
