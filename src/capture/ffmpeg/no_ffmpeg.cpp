// SPDX-License-Identifier: Apache-2.0
// The video functions in a build without FFmpeg: each returns an error that names this reason.
#ifndef HALYARD_HAVE_FFMPEG

#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/image_source.h"
#include "capture/source.h"

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

}  // namespace halyard

#endif
