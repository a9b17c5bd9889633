// SPDX-License-Identifier: Apache-2.0
// The plugin of a FakeStack. A FAULT of the build makes it a plugin that is refused.
#if FAULT == 4
#define hal_capture_plugin_get hal_capture_other_get
#endif
#define HAL_CAPTURE_PLUGIN_IMPLEMENTATION
#include "capture/fakes/camera_plugin.h"

#include <linux/videodev2.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "halyard/c/capture_plugin.h"

namespace {

using halyard::test::FakePlanes;
using halyard::test::FakeStack;

[[noreturn]] void wrong(const char* rule) {
  std::fprintf(stderr, "fake camera plugin: %s\n", rule);
  std::abort();
}

bool produce(int value, std::uint32_t sequence, std::uint32_t flags,
             const std::vector<std::uint8_t>& bytes);
void claim(std::uint32_t index);
void unplug();

FakeStack& stack() {
  static FakeStack one;
  // Once: several threads call this.
  [[maybe_unused]] static const bool has_functions = [] {
    one.produce = produce;
    one.claim = claim;
    one.unplug = unplug;
    return true;
  }();
  return one;
}

// Without an end where the text fills the field.
void put_text(char* field, const std::string& text) {
  std::memset(field, 0, HAL_CAPTURE_TEXT_BYTES);
  std::copy_n(text.begin(), std::min<std::size_t>(text.size(), HAL_CAPTURE_TEXT_BYTES), field);
}

int said(int result, char* text) {
  if (result != HAL_CAPTURE_OK) put_text(text, stack().reason);
  return result;
}

}  // namespace

struct hal_capture_device {
  hal_capture_wish wish{};
  hal_capture_mode mode{};
  std::vector<std::vector<int>> memory;  // of each buffer one or two objects
  std::deque<hal_capture_frame> done;
  int event = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  bool is_started = false;
  bool is_gone = false;
};

namespace {

hal_capture_device* running = nullptr;

std::size_t luma_bytes(const hal_capture_device& camera) {
  return std::size_t{camera.mode.stride[0]} * camera.mode.height;
}
bool is_nv12(const hal_capture_device& camera) {
  return camera.wish.fourcc == V4L2_PIX_FMT_NV12;
}
// Of planes that lie apart in one object.
std::size_t gap(const hal_capture_device&) {
  return stack().arrangement == FakePlanes::apart ? 4096 : 0;
}
std::size_t object_bytes(const hal_capture_device& camera) {
  return luma_bytes(camera) * 2 + gap(camera) + 4096;
}

void raise_event(int fd) {
  const std::uint64_t one = 1;
  if (::write(fd, &one, sizeof one) < 0) std::abort();
}

hal_capture_frame frame_of(const hal_capture_device& camera, std::uint32_t index) {
  hal_capture_frame frame{};
  frame.index = index;
  frame.timestamp_ns = 1'000'000'000;
  frame.used[0] = luma_bytes(camera);
  frame.used[1] = luma_bytes(camera) / 2;
  return frame;
}

bool produce(int value, std::uint32_t sequence, std::uint32_t flags,
             const std::vector<std::uint8_t>& bytes) {
  const std::lock_guard lock(stack().mutex);
  if (running == nullptr || stack().queued.empty()) return false;
  const std::uint32_t index = *stack().queued.begin();
  stack().queued.erase(index);
  for (const int object : running->memory[index]) {
    std::vector<std::uint8_t> all(object_bytes(*running), static_cast<std::uint8_t>(value));
    std::copy(bytes.begin(), bytes.end(), all.begin());
    if (::pwrite(object, all.data(), all.size(), 0) < 0) std::abort();
    value += 100;
  }
  hal_capture_frame frame = frame_of(*running, index);
  if (!bytes.empty()) frame.used[0] = bytes.size();
  frame.sequence = sequence;
  frame.flags = flags & HAL_CAPTURE_FRAME_DAMAGED;
  if (flags > 1) frame.used[0] = frame.used[1] = flags;  // a short frame
  running->done.push_back(frame);
  raise_event(running->event);
  return true;
}
void claim(std::uint32_t index) {
  const std::lock_guard lock(stack().mutex);
  running->done.push_back(frame_of(*running, index));
  raise_event(running->event);
}
void unplug() {
  const std::lock_guard lock(stack().mutex);
  if (running == nullptr) return;
  running->is_gone = true;
  raise_event(running->event);
}

int camera(size_t index, hal_capture_info* info, char* text) {
  if (info->size != sizeof *info) wrong("an info has another size");
  if (stack().camera != HAL_CAPTURE_OK) return said(stack().camera, text);
  if (index >= stack().ids.size()) return HAL_CAPTURE_END;
  put_text(info->id, stack().ids[index]);
  std::strcpy(info->name, "Fake Sensor");
  std::strcpy(info->driver, "fake");
  return HAL_CAPTURE_OK;
}
int open(const char* id, hal_capture_device** camera, char* text) {
  const auto& ids = stack().ids;
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) return HAL_CAPTURE_NOT_FOUND;
  if (stack().open != HAL_CAPTURE_OK) return said(stack().open, text);
  ++stack().opened;
  *camera = new hal_capture_device;
  return HAL_CAPTURE_OK;
}
void close(hal_capture_device* camera) {
  const std::lock_guard lock(stack().mutex);
  ++stack().closed;
  for (const auto& objects : camera->memory)
    for (const int object : objects)
      ::close(object);
  ::close(camera->event);
  if (running == camera) {
    running = nullptr;
    stack().queued.clear();
  }
  delete camera;
}
int format(hal_capture_device*, size_t index, hal_capture_format* format) {
  if (index >= stack().fourccs.size()) return HAL_CAPTURE_END;
  format->fourcc = stack().fourccs[index];
  std::strcpy(format->description, "A Format");
  return HAL_CAPTURE_OK;
}
int frame_size(hal_capture_device*, size_t, size_t index, hal_capture_size* size) {
  if (index > 0) return HAL_CAPTURE_END;
  size->min_width = size->max_width = stack().width;
  size->min_height = size->max_height = stack().height;
  return HAL_CAPTURE_OK;
}
int control(hal_capture_device*, size_t index, hal_capture_control* control) {
  if (index > 1) return HAL_CAPTURE_END;
  control->id = 7 + static_cast<std::uint32_t>(index);
  std::strcpy(control->name, index == 0 ? "brightness" : "locked");
  control->flags = index == 0 ? 0 : HAL_CAPTURE_CONTROL_READ_ONLY;
  control->maximum = 100;
  control->value = stack().brightness;
  return HAL_CAPTURE_OK;
}
int set_control(hal_capture_device*, uint32_t id, int64_t value, char* text) {
  if (id != 7) wrong("a control that can only be read is set");
  if (stack().set_control == HAL_CAPTURE_OK) stack().brightness = static_cast<int>(value);
  return said(stack().set_control, text);
}
int configure(hal_capture_device* camera, const hal_capture_wish* wish, hal_capture_mode* mode,
              char* text) {
  if (stack().configure != HAL_CAPTURE_OK) return said(stack().configure, text);
  camera->wish = *wish;
  stack().asked_rate = wish->rate;
  const std::uint32_t bytes = wish->fourcc == V4L2_PIX_FMT_YUYV || wish->fourcc == V4L2_PIX_FMT_Y10
                                  ? 2
                                  : (wish->fourcc == v4l2_fourcc('B', 'G', '2', '4') ? 3 : 1);
  mode->width = stack().answered_width > 0 ? stack().answered_width : wish->width;
  mode->height = wish->height;
  mode->rate = stack().rate;
  mode->buffers = stack().buffers > 0 ? stack().buffers : wish->buffers;
  mode->planes = stack().planes > 0 ? stack().planes : (is_nv12(*camera) ? 2 : 1);
  mode->stride[0] = mode->width * bytes + static_cast<std::uint32_t>(stack().padding);
  mode->colorspace = V4L2_COLORSPACE_REC709;
  camera->mode = *mode;
  for (std::uint32_t i = 0; i < std::min(mode->buffers, 64U); ++i) {
    camera->memory.emplace_back();
    const std::size_t objects = stack().arrangement == FakePlanes::in_two_objects ? 2 : 1;
    for (std::size_t k = 0; k < objects; ++k) {
      const int object = ::memfd_create("fake camera", MFD_CLOEXEC);
      if (::ftruncate(object, static_cast<off_t>(object_bytes(*camera))) != 0) std::abort();
      camera->memory.back().push_back(object);
    }
  }
  return HAL_CAPTURE_OK;
}
int buffer(hal_capture_device* camera, uint32_t index, hal_capture_buffer* buffer) {
  if (stack().buffer != HAL_CAPTURE_OK) return stack().buffer;
  const auto& objects = camera->memory[index];
  const std::size_t luma = luma_bytes(*camera);
  buffer->planes[0] = {stack().has_bad_memory ? camera->event : objects[0], 0, luma};
  buffer->planes[1] = {objects.back(), objects.size() > 1 ? 0 : luma + gap(*camera), luma / 2};
  return HAL_CAPTURE_OK;
}
int start(hal_capture_device* camera, char* text) {
  if (stack().start != HAL_CAPTURE_OK) return said(stack().start, text);
  const std::lock_guard lock(stack().mutex);
  if (camera->is_started) wrong("a camera is started twice");
  camera->is_started = true;
  running = camera;
  for (std::uint32_t i = 0; i < camera->memory.size(); ++i)
    stack().queued.insert(i);
  return HAL_CAPTURE_OK;
}
int ready_fd(hal_capture_device* camera) {
  return stack().has_no_fd ? -1 : camera->event;
}
int take(hal_capture_device* camera, hal_capture_frame* frame, char* text) {
  if (!camera->is_started) wrong("a frame of a camera that does not run");
  const std::lock_guard lock(stack().mutex);
  if (stack().take != HAL_CAPTURE_OK) return said(stack().take, text);
  if (camera->done.empty() && camera->is_gone) return HAL_CAPTURE_GONE;
  if (camera->done.empty()) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t drained = ::read(camera->event, &count, sizeof count);
    return HAL_CAPTURE_END;
  }
  *frame = camera->done.front();
  camera->done.pop_front();
  return HAL_CAPTURE_OK;
}
int give_back(hal_capture_device* camera, uint32_t index) {
  const std::lock_guard lock(stack().mutex);
  if (index >= camera->memory.size() || stack().queued.contains(index))
    wrong("a buffer comes back that the camera has");
  stack().queued.insert(index);
  return camera->is_gone ? HAL_CAPTURE_GONE : HAL_CAPTURE_OK;
}

}  // namespace

extern "C" {
const hal_capture_plugin* hal_capture_plugin_get(uint32_t version) {
  static const hal_capture_plugin table{FAULT == 1 ? 2U : HAL_CAPTURE_PLUGIN_VERSION,
                                        FAULT == 5 ? 16 : sizeof table,
                                        FAULT == 2 ? "camera" : "fake",
                                        "7.1",
                                        camera,
                                        open,
                                        close,
                                        format,
                                        frame_size,
                                        control,
                                        FAULT == 3 ? nullptr : set_control,
                                        configure,
                                        buffer,
                                        start,
                                        ready_fd,
                                        take,
                                        give_back};
  return version == HAL_CAPTURE_PLUGIN_VERSION ? &table : nullptr;
}
__attribute__((visibility("default"))) FakeStack* fake_stack() {
  return &stack();
}
}
