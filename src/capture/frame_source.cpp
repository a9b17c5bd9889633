// SPDX-License-Identifier: Apache-2.0
// FrameSource: finds out what a path is and opens the source that reads it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/camera/camera_source.h"
#include "capture/image_source.h"
#include "capture/network/address.h"
#include "capture/source.h"
#include "halyard/capture.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using capture::ByteStream;
using capture::SourceResult;

constexpr double max_source_rate = 1e6;
constexpr double max_speed = 1e3;

Result<ByteStream> open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_os("source cannot be opened", errno, path);
  return ByteStream(Fd(fd));
}

bool has_mjpeg_extension(const std::string& path) {
  const std::string extension = capture::extension_of(path);
  return extension == "mjpeg" || extension == "mjpg";
}

// The content decides. The extension decides only for Motion JPEG, and for images whose content is
// not recognized.
SourceResult open_regular(const std::string& path, const FrameSourceOptions& options) {
  HALYARD_TRY(ByteStream stream, open_file(path));
  const auto head = stream.peek(18);
  if (!head) return capture::naming(head.error(), path);
  if (head->empty()) return fail(Errc::malformed, "source is an empty file", "{}", path);
  const bool jpeg = capture::has_jpeg_magic(*head);
  if (jpeg && has_mjpeg_extension(path)) {
    return capture::stream_source(std::move(stream), path, options);
  }
  if (image_file_type(*head) || image_file_type(std::string_view(path))) {
    return capture::image_source(path, options);
  }
  return capture::video_source(path, options);
}

// Opens a FIFO, socket or device. With a cancel function it opens without waiting for a writer; the
// first read waits.
SourceResult open_stream(const std::string& path, const FrameSourceOptions& options) {
  const int mode = options.load.is_cancelled ? O_NONBLOCK : 0;
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | mode));
  if (!fd) return fail_os("source cannot be opened", errno, path);
  return capture::stream_source(ByteStream(std::move(fd), options.load.is_cancelled), path,
                                options);
}

SourceResult open_once(const std::string& path, const FrameSourceOptions& options) {
  if (path == "-") {
    HALYARD_TRY(Fd input, Fd::duplicate(STDIN_FILENO));
    return capture::stream_source(ByteStream(std::move(input), options.load.is_cancelled),
                                  "standard input", options);
  }
  if (capture::is_camera(path)) return capture::camera_source(path, options);
  if (capture::is_address(path)) return capture::address_source(path, options);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return fail_os("source cannot be opened", errno, path);
  if (S_ISDIR(status.st_mode)) return capture::folder_source(path, options);
  if (S_ISREG(status.st_mode)) return open_regular(path, options);
  return open_stream(path, options);
}

bool is_remote(const std::string& path) {
  return capture::is_camera(path) || capture::is_address(path);
}

// The source with what `options` add to it.
SourceResult open_path(const std::string& path, const FrameSourceOptions& options) {
  const capture::OpenSource open = [path, options] { return open_once(path, options); };
  const bool reconnects = options.reconnect && is_remote(path);
  HALYARD_TRY(auto source, reconnects ? capture::reconnecting_source(
                                            open, capture::without_password(path), options)
                                      : open());
  if (source->is_live()) return source;
  if (options.loops) {
    if (const Status again = source->seek({}); !again) {
      if (again.error().code != Errc::unsupported) return again.error();
      return fail(Errc::unsupported, "loops: the source cannot be read again", "{}",
                  capture::without_password(path));
    }
    source = capture::looped_source(std::move(source));
  }
  if (options.start > std::chrono::nanoseconds::zero())
    HALYARD_RETURN_IF_ERROR(source->seek(options.start));
  return options.speed > 0 ? capture::paced_source(std::move(source), options) : std::move(source);
}

Status check_waits(const ReconnectOptions& reconnect) {
  if (reconnect.first_wait > std::chrono::milliseconds::zero() &&
      reconnect.max_wait >= reconnect.first_wait) {
    return {};
  }
  return fail(Errc::invalid_argument,
              "reconnect: first_wait must be above 0 and not above max_wait", "{} ms and {} ms",
              reconnect.first_wait.count(), reconnect.max_wait.count());
}

Status check_options(const FrameSourceOptions& options) {
  if (!(options.picture_rate > 0 && options.picture_rate <= max_source_rate)) {
    return fail(Errc::invalid_argument, "picture_rate must be above 0 and at most 1e6", "{}",
                options.picture_rate);
  }
  if (options.network_timeout <= std::chrono::milliseconds::zero()) {
    return fail(Errc::invalid_argument, "network_timeout must be above 0", "{} ms",
                options.network_timeout.count());
  }
  if (!(options.speed >= 0 && options.speed <= max_speed)) {
    return fail(Errc::invalid_argument, "speed must be 0 to 1e3", "{}", options.speed);
  }
  if (options.start < std::chrono::nanoseconds::zero()) {
    return fail(Errc::invalid_argument, "start must not be below 0", "{} ns",
                options.start.count());
  }
  const std::string& decoder = options.video_decoder;
  const bool is_named = decoder.empty() || decoder == "cpu" || decoder == "auto" ||
                        decoder == "v4l2" || decoder.starts_with('/');
  if (!is_named) {
    return fail(Errc::invalid_argument,
                "video_decoder must be cpu, v4l2, auto or the path of a hardware codec", "{}",
                decoder);
  }
  return options.reconnect ? check_waits(*options.reconnect) : Status{};
}

}  // namespace

struct HALYARD_LOCAL FrameSource::Impl {
  std::unique_ptr<capture::Source> source;
};

FrameSource::FrameSource(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
FrameSource::FrameSource(FrameSource&&) noexcept = default;
FrameSource& FrameSource::operator=(FrameSource&&) noexcept = default;
FrameSource::~FrameSource() = default;

Result<FrameSource> FrameSource::open(const std::string& path, const FrameSourceOptions& options) {
  trace::Span span("capture.open");
  span.arg("path", std::string_view(path));
  HALYARD_RETURN_IF_ERROR(check_options(options));
  HALYARD_TRY(auto source, open_path(path, options));
  return FrameSource(std::make_unique<Impl>(Impl{std::move(source)}));
}

Result<std::optional<Frame>> FrameSource::next() {
  trace::Span span("capture.next");
  auto frame = impl_->source->next();
  if (frame && *frame) {
    const Frame& f = **frame;
    span.arg("index", f.index).arg("width", f.image.width()).arg("height", f.image.height());
  }
  return frame;
}

Status FrameSource::seek(std::chrono::nanoseconds time) {
  trace::Span span("capture.seek");
  span.arg("ns", time.count());
  if (time < std::chrono::nanoseconds::zero())
    return fail(Errc::invalid_argument, "time must not be below 0", "{} ns", time.count());
  return impl_->source->seek(time);
}

std::optional<std::size_t> FrameSource::frame_count() const noexcept {
  return impl_->source->frame_count();
}
bool FrameSource::is_video() const noexcept {
  return impl_->source->is_video();
}
bool FrameSource::is_live() const noexcept {
  return impl_->source->is_live();
}
std::size_t FrameSource::reconnect_count() const noexcept {
  return impl_->source->reconnect_count();
}
double FrameSource::rate() const noexcept {
  return impl_->source->rate();
}

}  // namespace halyard
