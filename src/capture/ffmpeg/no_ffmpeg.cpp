// SPDX-License-Identifier: Apache-2.0
// The video functions in a build without FFmpeg: each returns an error that names this reason.
#ifndef HALYARD_HAVE_FFMPEG

#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/image_source.h"
#include "capture/source.h"
#include "halyard/video_stream.h"

namespace halyard {
namespace {

Error no_ffmpeg(const std::string& what) {
  return fail(Errc::unsupported, "this build has no FFmpeg: video is not supported",
              "{}; install libavformat-dev libavcodec-dev libavutil-dev and build again", what);
}

Error no_image(const std::string& name) {
  return no_ffmpeg(name + " is not an image that this build reads (" + capture::read_kinds() + ")");
}

}  // namespace

namespace capture {

SourceResult video_source(const std::string& path, const Options&) {
  return no_image(path);
}
SourceResult video_source(ByteStream, const std::string& name, const Options&) {
  return no_image(name);
}

}  // namespace capture

struct HALYARD_LOCAL VideoWriter::Impl {};

VideoWriter::VideoWriter(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
VideoWriter::VideoWriter(VideoWriter&&) noexcept = default;
VideoWriter& VideoWriter::operator=(VideoWriter&&) noexcept = default;
VideoWriter::~VideoWriter() = default;

std::span<const std::string_view> VideoWriter::extensions() noexcept {
  return {};
}
Result<VideoWriter> VideoWriter::create(const std::string& path, Size, double,
                                        const VideoWriterOptions&) {
  return no_ffmpeg(path);
}
std::string_view VideoWriter::encoder() const noexcept {
  return {};
}
Status VideoWriter::write(const Tensor&) {
  return no_ffmpeg("writer");
}
Status VideoWriter::finish() {
  return no_ffmpeg("writer");
}

// No object of it exists.
struct HALYARD_LOCAL VideoStreamWriter::Impl {
  std::string none;
};

VideoStreamWriter::VideoStreamWriter(std::unique_ptr<Impl> impl) noexcept
    : impl_(std::move(impl)) {}
VideoStreamWriter::VideoStreamWriter(VideoStreamWriter&&) noexcept = default;
VideoStreamWriter& VideoStreamWriter::operator=(VideoStreamWriter&&) noexcept = default;
VideoStreamWriter::~VideoStreamWriter() = default;

Result<VideoStreamWriter> VideoStreamWriter::create(Size, const VideoStreamOptions&) {
  return no_ffmpeg("video stream");
}
Result<VideoSegment> VideoStreamWriter::write(const Tensor&, std::chrono::nanoseconds) {
  return no_ffmpeg("video stream");
}
void VideoStreamWriter::ask_key() noexcept {}
const std::string& VideoStreamWriter::initialization() const noexcept {
  return impl_->none;
}
const std::string& VideoStreamWriter::mime_type() const noexcept {
  return impl_->none;
}
std::string_view VideoStreamWriter::encoder() const noexcept {
  return {};
}

}  // namespace halyard

#endif
