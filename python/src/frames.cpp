// SPDX-License-Identifier: Apache-2.0
// The C++ part of halyard.open() (python/halyard/_frames.py): yields images one after the other.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "args.h"
#include "bindings.h"
#include "decode_limits.h"
#include "fork_mutex.h"
#include "halyard/capture.h"
#include "tensor/tensor.h"

namespace halyard::python {
namespace {

/// The source polls `stop` on the thread of the waiting call, which sets it.
struct PyFrameSource {
  std::function<bool()> stop;
  std::optional<FrameSource> source;  ///< none after close()
  PyMutex mutex;
};

// Seconds, kept within what the source's clock can count.
std::chrono::milliseconds wait_from(nb::handle timeout) {
  const double seconds = number_from(timeout, "timeout");
  if (!(seconds > 0)) raise(Errc::invalid_argument, "timeout: must be above 0 seconds");
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e9) * 1e3)));
}

std::chrono::nanoseconds time_from(nb::handle seconds, const char* name) {
  const double value = number_from(seconds, name);
  if (!(value >= 0 && value <= 1e9))
    raise(Errc::invalid_argument, std::string(name) + ": must be 0 to 1e9 seconds");
  return std::chrono::nanoseconds(std::llround(value * 1e9));
}

// The options of playing, from keywords of halyard.open().
void add_playback(FrameSourceOptions& options, const nb::kwargs& playback) {
  options.speed = number_from(playback["speed"], "speed");
  options.loops = nb::cast<bool>(playback["loop"]);
  options.start = time_from(playback["start"], "start");
  options.video_decoder = nb::cast<std::string>(playback["video_decoder"]);
  if (nb::cast<bool>(playback["reconnect"])) options.reconnect.emplace();
}

void open_source(PyFrameSource* self, nb::handle path, nb::handle picture_rate, nb::handle limits,
                 nb::handle timeout, const nb::kwargs& playback) {
  const std::string file = path_from(path, "source");
  FrameSourceOptions options;
  add_playback(options, playback);
  options.picture_rate = number_from(picture_rate, "picture_rate");
  if (!timeout.is_none()) options.network_timeout = wait_from(timeout);
  options.load.limits = limits_from(limits);
  new (self) PyFrameSource();
  try {
    options.load.is_cancelled = [self] { return self->stop && self->stop(); };
    self->source.emplace(take(released_with_signals([&](auto is_cancelled) {
      self->stop = is_cancelled;
      auto opened = FrameSource::open(file, options);
      self->stop = {};
      return opened;
    })));
  } catch (...) {
    self->~PyFrameSource();
    throw;
  }
}

void seek(PyFrameSource& self, nb::handle seconds) {
  const auto time = time_from(seconds, "seconds");
  check(released_with_signals([&](auto is_cancelled) -> Status {
    const std::lock_guard lock(self.mutex);
    if (!self.source) return {};
    self.stop = is_cancelled;
    const Status sought = self.source->seek(time);
    self.stop = {};
    return sought;
  }));
}

nb::object next_frame(PyFrameSource& self) {
  auto frame = take(released_with_signals([&](auto is_cancelled) -> Result<std::optional<Frame>> {
    const std::lock_guard lock(self.mutex);
    if (!self.source) return std::optional<Frame>();
    self.stop = is_cancelled;
    auto next = self.source->next();
    self.stop = {};
    return next;
  }));
  if (!frame) return nb::none();
  const std::string name = frame->source;
  return nb::make_tuple(tensor_result(std::move(frame->image)),
                        nb::steal(PyUnicode_DecodeFSDefault(name.c_str())), frame->index,
                        frame->timestamp.count());
}

}  // namespace

void bind_frames(nb::module_& m) {
  nb::class_<PyFrameSource>(m, "_FrameSource", "The C++ part of halyard.open().")
      .def("__init__", &open_source, nb::arg("source"), nb::arg("picture_rate"),
           nb::arg("limits").none(), nb::arg("timeout").none(), nb::arg("playback"),
           nb::sig("def __init__(self, source: Any, picture_rate: float, limits: DecodeLimits | "
                   "None, timeout: float | None, **playback: Any) -> None"))
      .def("next", &next_frame, nb::sig("def next(self) -> tuple[Tensor, str, int, int] | None"),
           "Image, name, index and timestamp in ns of the next frame; None at the end.")
      .def("seek", &seek, nb::arg("seconds"), nb::sig("def seek(self, seconds: float) -> None"))
      .def_prop_ro(
          "is_live", [](PyFrameSource& self) { return self.source && self.source->is_live(); },
          nb::sig("def is_live(self) -> bool"))
      .def_prop_ro(
          "reconnect_count",
          [](PyFrameSource& self) { return self.source ? self.source->reconnect_count() : 0; },
          nb::sig("def reconnect_count(self) -> int"))
      .def(
          "close",
          [](PyFrameSource& self) {
            released([&] {
              const std::lock_guard lock(self.mutex);
              self.source.reset();
              return 0;
            });
          },
          nb::sig("def close(self) -> None"))
      .def_prop_ro(
          "count",
          [](PyFrameSource& self) -> nb::object {
            const auto count = self.source ? self.source->frame_count() : std::nullopt;
            return count ? nb::object(nb::int_(*count)) : nb::object(nb::none());
          },
          nb::sig("def count(self) -> int | None"))
      .def_prop_ro(
          "is_video", [](PyFrameSource& self) { return self.source && self.source->is_video(); },
          nb::sig("def is_video(self) -> bool"))
      .def_prop_ro(
          "rate", [](PyFrameSource& self) { return self.source ? self.source->rate() : 0.0; },
          nb::sig("def rate(self) -> float"));
}

}  // namespace halyard::python
