// SPDX-License-Identifier: Apache-2.0
// Sources at network addresses: an image or a video of an HTTP server, or an RTSP camera.
#include "base/text/format_error.h"
#include "capture/ffmpeg/video_input.h"
#include "capture/image_source.h"
#include "capture/network/address.h"
#include "capture/network/connection.h"
#include "capture/source.h"

namespace halyard::capture {

#ifdef HALYARD_HAVE_FFMPEG

namespace {

constexpr std::size_t max_fetched_bytes = std::size_t{1} << 28;

/// A source of one image whose file is in memory.
class LoadedImage final : public Source {
 public:
  LoadedImage(std::vector<std::byte> file, std::string name, const Options& options)
      : file_(std::move(file)), name_(std::move(name)), options_(options) {}

  Result<std::optional<Frame>> next() override {
    if (std::exchange(is_read_, true)) return std::optional<Frame>();
    HALYARD_TRY(Frame frame, decode_image(file_, name_, 0, options_));
    return std::optional<Frame>(std::move(frame));
  }
  std::optional<std::size_t> frame_count() const noexcept override { return 1; }
  double rate() const noexcept override { return options_.picture_rate; }
  Status seek(std::chrono::nanoseconds time) override {
    is_read_ = time > std::chrono::nanoseconds(0);
    return {};
  }

 private:
  std::vector<std::byte> file_;
  std::string name_;
  Options options_;
  bool is_read_ = false;
};

}  // namespace

SourceResult address_source(const std::string& address, const Options& options) {
  HALYARD_TRY(const Scheme scheme, scheme_of(address));
  HALYARD_RETURN_IF_ERROR(load_ffmpeg());
  const std::string name = without_password(address);
  if (scheme == Scheme::rtsp)
    return video_source(VideoInput::open_rtsp(address, name, options), name, options);
  HALYARD_TRY(auto connection, Connection::open(address, name, options));
  HALYARD_TRY(const auto head, connection->peek(18));
  if (head.empty()) return fail(Errc::malformed, "source is an empty file", "{}", name);
  if (image_file_type(head)) {
    HALYARD_TRY(auto file, connection->read_all(max_fetched_bytes));
    return std::unique_ptr<Source>(std::make_unique<LoadedImage>(std::move(file), name, options));
  }
  return video_source(VideoInput::open(std::move(connection), name), name, options);
}

#else

SourceResult address_source(const std::string& address, const Options&) {
  HALYARD_RETURN_IF_ERROR(scheme_of(address));
  return fail(Errc::unsupported, "this build has no FFmpeg: network addresses are not supported",
              "{}; install libavformat-dev libavcodec-dev libavutil-dev and build again",
              without_password(address));
}

#endif

}  // namespace halyard::capture
