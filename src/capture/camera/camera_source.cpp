// SPDX-License-Identifier: Apache-2.0
// A camera behind FrameSource.
#include "capture/camera/camera_source.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/text/format_error.h"
#include "capture/plugin/camera_plugins.h"
#include "capture/v4l2/calls.h"
#include "halyard/camera.h"

namespace halyard::capture {
namespace {

constexpr std::string_view prefix = "camera:";
// A pipeline behind it keeps several frames, each in a buffer.
constexpr std::uint32_t source_buffers = 8;

class CameraSource final : public Source {
 public:
  CameraSource(Camera camera, const Options& options)
      : camera_(std::move(camera)), options_(options) {}

  Result<std::optional<Frame>> next() override {
    HALYARD_TRY(CameraFrame taken, wait_for_frame());
    if (index_ == 0) first_ = taken.timestamp;
    Frame frame{std::move(taken.image), camera_.mode().path, index_++, taken.timestamp - first_};
    return std::optional(std::move(frame));
  }
  bool is_video() const noexcept override { return true; }
  bool is_live() const noexcept override { return true; }
  double rate() const noexcept override { return camera_.mode().rate; }

 private:
  // Asks ten times a second whether to stop.
  Result<CameraFrame> wait_for_frame() {
    using std::chrono::milliseconds;
    if (!options_.load.is_cancelled) return camera_.next(options_.network_timeout);
    constexpr milliseconds slice{100};
    for (milliseconds left = options_.network_timeout;; left -= slice) {
      if (options_.load.is_cancelled())
        return fail(Errc::cancelled, "camera: the caller asked to stop", "{}", camera_.mode().path);
      auto frame = camera_.next(std::min(left, slice));
      const bool is_late =
          !frame && (frame.error().code == Errc::timeout || frame.error().code == Errc::exhausted);
      if (!is_late || left <= slice) return frame;
    }
  }

  Camera camera_;
  Options options_;
  std::size_t index_ = 0;
  std::chrono::nanoseconds first_{0};
};

}  // namespace

bool is_camera(const std::string& path) {
  return path.starts_with(prefix) || v4l2_calls().is_node(path) || plugin_address(path).has_value();
}

SourceResult camera_source(const std::string& path, const Options& options) {
  CameraOptions wanted;
  wanted.latest_only = true;
  wanted.buffers = source_buffers;
  wanted.memory = options.load.memory;
  const auto open = [&]() -> Result<Camera> {
    if (!path.starts_with(prefix)) return Camera::open(path, wanted);
    const std::string name = path.substr(prefix.size());
    if (name.starts_with('/')) return Camera::open(name, wanted);
    std::size_t index = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, bad] = std::from_chars(name.data(), end, index);
    if (bad != std::errc() || stop != end || name.empty())
      return fail(Errc::invalid_argument,
                  "source: after \"camera:\" there must be a number or a path", "{}", path);
    return Camera::open(index, wanted);
  };
  HALYARD_TRY(Camera camera, open());
  return std::unique_ptr<Source>(std::make_unique<CameraSource>(std::move(camera), options));
}

}  // namespace halyard::capture
