// SPDX-License-Identifier: Apache-2.0
// Runs a plugin's camera, and finds it again by its id after a loss.
#include "capture/plugin/plugin_feed.h"

#include <array>
#include <cerrno>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/plugin/plugin_camera.h"
#include "capture/plugin/plugin_stream.h"
#include "capture/v4l2/camera_images.h"

namespace halyard::capture {
namespace {

class HALYARD_LOCAL PluginFeed final : public CameraFeed {
 public:
  PluginFeed(PluginAddress address, const CameraOptions& options)
      : address_(std::move(address)), options_(options), images_(options.memory) {}
  ~PluginFeed() override { stream_->stop(); }

  Status open() override;
  Status start(CameraMode& mode) override;
  void stop() noexcept override { stream_->stop(); }
  int fd() const noexcept override { return fd_; }
  Result<std::optional<FilledBuffer>> take() override { return stream_->take(mode_.is_joined); }
  bool is_complete(const FilledBuffer& filled) const noexcept override {
    return images_.is_complete(filled);
  }
  Status put_back(std::uint32_t index) override { return stream_->put_back(index); }
  Result<Tensor> make_image(const FilledBuffer& filled) override;
  std::uint32_t held() const noexcept override { return stream_->held(); }
  bool is_starved() const noexcept override { return stream_->is_starved(); }
  Result<std::vector<CameraControl>> controls() const override {
    HALYARD_TRY(const auto camera, running());
    return camera->controls();
  }
  Status put_control(const CameraControl& control, std::int64_t value) const override {
    HALYARD_TRY(const auto camera, running());
    return camera->set_control(control, value);
  }

 private:
  Result<std::shared_ptr<const PluginCamera>> running() const;
  Result<Tensor> lent(const FilledBuffer& filled);
  Result<Tensor> read(const FilledBuffer& filled);

  const PluginAddress address_;
  const CameraOptions options_;
  std::string id_;                        // of the camera once it was found: numbers may change
  std::unique_ptr<PluginCamera> camera_;  // found, and not started
  PluginMode mode_;
  int fd_ = -1;
  const std::shared_ptr<PluginStream> stream_ = std::make_shared<PluginStream>();
  CameraImages images_;
};

Status PluginFeed::open() {
  HALYARD_TRY(const hal_capture_plugin* const table, find_camera_plugin(address_.plugin));
  HALYARD_TRY(const std::string id,
              find_plugin_camera(*table, id_.empty() ? address_.camera : id_));
  HALYARD_TRY(camera_, PluginCamera::open(*table, id));
  id_ = id;
  return {};
}

Status PluginFeed::start(CameraMode& mode) {
  auto camera = std::move(camera_);
  HALYARD_TRY(mode_, camera->configure(options_));
  HALYARD_TRY(auto buffers, camera->buffers(mode_));
  fd_ = camera->ready_fd();
  if (fd_ < 0)
    return fail(Errc::device, "camera plugin: gives no descriptor to wait with", "{}",
                camera->path());
  mode.path = camera->path();
  mode.fourcc = mode_.format.fourcc;
  mode.width = mode_.format.width;
  mode.height = mode_.format.height;
  mode.rate = mode_.rate;
  mode.buffers = mode_.buffers;
  images_.prepare(CameraTransfer::driver_buffers, mode_.format, mode);
  return stream_->start(std::move(camera), std::move(buffers));
}

Result<Tensor> PluginFeed::make_image(const FilledBuffer& filled) {
  if (images_.is_lent()) return lent(filled);
  auto image = read(filled);
  HALYARD_RETURN_IF_ERROR(stream_->put_back(filled.index));
  return image;
}

Result<Tensor> PluginFeed::lent(const FilledBuffer& filled) {
  const std::shared_ptr<void> lease = stream_->lend(filled.index);
  std::array<std::shared_ptr<Buffer>, HAL_CAPTURE_MAX_PLANES> memory;
  std::size_t count = 0;
  // The same Buffer objects in each frame, so that what is attached to them is found again.
  for (const auto& buffer : stream_->buffer(filled.index).memory)
    memory[count++] = std::shared_ptr<Buffer>(lease, buffer.get());
  return images_.lend(std::span(memory).first(count), filled);
}

Result<Tensor> PluginFeed::read(const FilledBuffer& filled) {
  const auto& buffers = stream_->buffer(filled.index).memory;
  std::vector<Map> maps;
  std::array<std::span<const std::byte>, HAL_CAPTURE_MAX_PLANES> memory;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    HALYARD_TRY(Map map, buffers[i]->map(Access::read));
    memory[i] = map.bytes();
    maps.push_back(std::move(map));
  }
  return images_.read(std::span(memory).first(buffers.size()), filled);
}

Result<std::shared_ptr<const PluginCamera>> PluginFeed::running() const {
  auto camera = stream_->camera();
  if (camera == nullptr)
    return make_error(Errc::device, "camera: it was unplugged", address_.plugin + ":" + id_,
                      ENODEV);
  return camera;
}

}  // namespace

std::unique_ptr<CameraFeed> make_plugin_feed(PluginAddress address, const CameraOptions& options) {
  return std::make_unique<PluginFeed>(std::move(address), options);
}

}  // namespace halyard::capture
