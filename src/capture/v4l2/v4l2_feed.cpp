// SPDX-License-Identifier: Apache-2.0
// Sets a V4L2 camera's mode, runs its buffers, and finds the camera again after a loss.
#include "capture/v4l2/v4l2_feed.h"

#include <cerrno>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/v4l2/camera_choice.h"
#include "capture/v4l2/camera_controls.h"
#include "capture/v4l2/camera_formats.h"
#include "capture/v4l2/camera_images.h"
#include "capture/v4l2/camera_stream.h"
#include "halyard/pool.h"

namespace halyard::capture {
namespace {

// What a driver answers must be what was asked, as far as it was asked.
Status check_answer(const DriverFormat& answer, const CameraChoice& choice) {
  const bool is_sized =
      choice.width == 0 || (answer.width == choice.width && answer.height == choice.height);
  if (answer.fourcc == choice.fourcc && is_sized && !answer.planes.empty()) return {};
  return fail(Errc::unsupported, "camera: its driver chooses another size or format",
              "{}x{} {}, not {}x{} {}", answer.width, answer.height,
              fourcc_to_string(answer.fourcc), choice.width, choice.height,
              fourcc_to_string(choice.fourcc));
}

struct Configured {
  DriverFormat format;
  double rate = 0;
};

Result<Configured> set_mode(const CameraDevice& device, const CameraOptions& options) {
  const auto formats = list_formats(device);
  HALYARD_TRY(auto choice, choose_mode(formats, options));
  if (choice.width == 0) {
    HALYARD_TRY(const DriverFormat now, device.format());
    choice.width = now.width;
    choice.height = now.height;
  }
  const std::size_t stride = options.images.empty() ? 0 : options.images[0].row_stride_bytes();
  Configured done;
  HALYARD_TRY(done.format, device.set_format(choice.fourcc, choice.width, choice.height, stride));
  HALYARD_RETURN_IF_ERROR(check_answer(done.format, choice));
  HALYARD_TRY(done.rate, device.set_rate(choice.rate));
  CameraSize answered;
  answered.rates = {done.rate};
  if (options.rate > 0 && done.rate > 0 && !answered.has_rate(options.rate))
    return fail(Errc::unsupported, "rate: the camera does not keep it", "{:.4g}, not {:.4g}",
                done.rate, options.rate);
  return done;
}

// Slots with the rows that the driver writes.
ImageMaker maker_of(const std::shared_ptr<TensorPool>& pool) {
  if (pool == nullptr) return {};
  return [pool](const DriverFormat& format) -> Result<Tensor> {
    const PixelLayout layout = *pixel_code(format.fourcc)->layout;
    HALYARD_TRY(Tensor slot, pool->alloc_image(format.width, format.height, layout.format,
                                               layout.dtype, format.planes[0].stride_bytes));
    return slot;
  };
}

class HALYARD_LOCAL V4l2Feed final : public CameraFeed {
 public:
  V4l2Feed(V4l2Calls& calls, const std::string& path, const CameraOptions& options)
      : calls_(calls),
        path_(path),
        options_(options),
        stream_(std::make_shared<CameraStream>(options.images, maker_of(options.pool))),
        images_(options.memory, options.pool) {}
  ~V4l2Feed() override { stream_->stop(); }

  Status open() override {
    HALYARD_TRY(device_, has_run_ ? find_again() : CameraDevice::open(calls_, path_));
    return {};
  }
  Status start(CameraMode& mode) override;
  void stop() noexcept override { stream_->stop(); }
  int fd() const noexcept override { return fd_; }
  Result<std::optional<FilledBuffer>> take() override { return stream_->take(); }
  bool is_complete(const FilledBuffer& filled) const noexcept override {
    return images_.is_complete(filled);
  }
  Status put_back(std::uint32_t index) override { return stream_->put_back(index); }
  Result<Tensor> make_image(const FilledBuffer& filled) override {
    return images_.make(*stream_, filled);
  }
  std::uint32_t held() const noexcept override { return stream_->held(); }
  bool is_starved() const noexcept override { return stream_->is_starved(); }
  Result<std::vector<CameraControl>> controls() const override {
    HALYARD_TRY(const auto device, running());
    return list_controls(*device);
  }
  Status put_control(const CameraControl& control, std::int64_t value) const override {
    HALYARD_TRY(const auto device, running());
    return set_device_control(*device, control, value);
  }

 private:
  Result<std::unique_ptr<CameraDevice>> find_again();
  Result<std::shared_ptr<const CameraDevice>> running() const;

  V4l2Calls& calls_;
  const std::string path_;
  const CameraOptions options_;
  std::unique_ptr<CameraDevice> device_;  // found, and not started
  bool has_run_ = false;
  std::string name_;  // with the bus, identifies the camera when it comes back
  std::string bus_;
  int fd_ = -1;
  std::shared_ptr<CameraStream> stream_;
  CameraImages images_;
};

Status V4l2Feed::start(CameraMode& mode) {
  auto device = std::move(device_);
  HALYARD_TRY(const Configured done, set_mode(*device, options_));
  mode.fourcc = done.format.fourcc;
  mode.width = done.format.width;
  mode.height = done.format.height;
  mode.rate = done.rate;
  const auto code = pixel_code(done.format.fourcc);
  const bool must_map = code->is_jpeg || code->sample_bits != 0;
  name_ = device->name();
  bus_ = device->bus();
  fd_ = device->fd();
  HALYARD_RETURN_IF_ERROR(
      stream_->start(std::move(device), done.format, options_.buffers, must_map));
  mode.buffers = stream_->buffer_count();
  images_.prepare(*stream_, done.format, mode);
  has_run_ = true;
  return {};
}

// The camera may have another number after it was plugged in again.
Result<std::unique_ptr<CameraDevice>> V4l2Feed::find_again() {
  std::vector<std::string> paths = calls_.nodes();
  paths.insert(paths.begin(), path_);
  std::optional<Error> first;
  for (const std::string& path : paths) {
    auto device = CameraDevice::open(calls_, path);
    if (device && (*device)->name() == name_ && (*device)->bus() == bus_) return device;
    if (!device && !first) first = device.error();
  }
  if (first) return *first;
  return fail(Errc::not_found, "camera: it is not plugged in", "{}: {}", path_, name_);
}

Result<std::shared_ptr<const CameraDevice>> V4l2Feed::running() const {
  auto device = stream_->device();
  if (device == nullptr) return make_error(Errc::device, "camera: it was unplugged", path_, ENODEV);
  return device;
}

}  // namespace

std::unique_ptr<CameraFeed> make_v4l2_feed(const std::string& path, const CameraOptions& options) {
  return std::make_unique<V4l2Feed>(v4l2_calls(), path, options);
}

}  // namespace halyard::capture
