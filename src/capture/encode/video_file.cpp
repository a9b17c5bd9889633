// SPDX-License-Identifier: Apache-2.0
// FFmpeg's callbacks. The MP4 muxer opens its file a second time to move the index to the front; it
// gets a reader of the same descriptor.
#include "capture/encode/video_file.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

constexpr int write_buffer_bytes = 1 << 16;

int code_of(const Error& error) {
  return AVERROR(std::max(1, error.os_errno));
}

#if LIBAVFORMAT_VERSION_MAJOR >= 61
using WrittenBytes = const std::uint8_t*;
#else
using WrittenBytes = std::uint8_t*;
#endif
using ReadCall = int (*)(void*, std::uint8_t*, int);
using WriteCall = int (*)(void*, WrittenBytes, int);
using SeekCall = std::int64_t (*)(void*, std::int64_t, int);

AVIOContext* make_io(void* opaque, bool is_writing, ReadCall read, WriteCall write, SeekCall seek) {
  auto* buffer = static_cast<unsigned char*>(ffmpeg().av_malloc(write_buffer_bytes));
  if (buffer == nullptr) return nullptr;
  AVIOContext* io = ffmpeg().avio_alloc_context(buffer, write_buffer_bytes, is_writing ? 1 : 0,
                                                opaque, read, write, seek);
  if (io == nullptr) ffmpeg().av_free(buffer);
  return io;
}

// FFmpeg may have replaced the buffer it was given, so the buffer is freed through the context.
void free_io(AVIOContext* io) {
  if (io == nullptr) return;
  ffmpeg().av_freep(&io->buffer);
  ffmpeg().avio_context_free(&io);
}

// The position after a seek; negative for an error.
std::int64_t sought(std::int64_t position, std::int64_t size, std::int64_t offset, int whence) {
  whence &= ~AVSEEK_FORCE;
  const std::int64_t base = whence == SEEK_CUR ? position : whence == SEEK_END ? size : 0;
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
  return target;
}

}  // namespace

struct VideoFileCalls {
  /// The muxer's second reader of the file, with its own position.
  struct ReadBack {
    VideoFile* video = nullptr;
    std::int64_t position = 0;
  };

  static int write(void* opaque, WrittenBytes from, int count) noexcept {
    auto& video = *static_cast<VideoFile*>(opaque);
    const auto bytes =
        std::span(reinterpret_cast<const std::byte*>(from), static_cast<std::size_t>(count));
    if (auto written = video.file_.write(bytes); !written) return code_of(written.error());
    video.size_bytes_ = std::max(video.size_bytes_, video.file_.position_bytes());
    return count;
  }

  static std::int64_t seek(void* opaque, std::int64_t offset, int whence) noexcept {
    auto& video = *static_cast<VideoFile*>(opaque);
    const auto size = static_cast<std::int64_t>(video.size_bytes_);
    if ((whence & AVSEEK_SIZE) != 0) return size;
    const auto position = static_cast<std::int64_t>(video.file_.position_bytes());
    const std::int64_t target = sought(position, size, offset, whence);
    if (target < 0) return target;
    if (auto moved = video.file_.seek(static_cast<std::uint64_t>(target)); !moved)
      return code_of(moved.error());
    return target;
  }

  static int read(void* opaque, std::uint8_t* to, int count) noexcept {
    auto& self = *static_cast<ReadBack*>(opaque);
    const auto space = std::span(reinterpret_cast<std::byte*>(to), static_cast<std::size_t>(count));
    const auto got = self.video->file_.read_at(static_cast<std::uint64_t>(self.position), space);
    if (!got) return code_of(got.error());
    self.position += static_cast<std::int64_t>(*got);
    return *got == 0 ? AVERROR_EOF : static_cast<int>(*got);
  }

  static std::int64_t seek_back(void* opaque, std::int64_t offset, int whence) noexcept {
    auto& self = *static_cast<ReadBack*>(opaque);
    const auto size = static_cast<std::int64_t>(self.video->size_bytes_);
    if ((whence & AVSEEK_SIZE) != 0) return size;
    const std::int64_t target = sought(self.position, size, offset, whence);
    if (target >= 0) self.position = target;
    return target;
  }

  static int open(AVFormatContext* muxer, AVIOContext** io, const char* url, int flags,
                  AVDictionary**) noexcept {
    // Only the muxer's own file may be opened, and only for reading.
    if ((flags & AVIO_FLAG_WRITE) != 0 || url == nullptr || std::string_view(url) != muxer->url)
      return AVERROR(EACCES);
    auto* reader = new (std::nothrow) ReadBack{static_cast<VideoFile*>(muxer->opaque), 0};
    if (reader == nullptr) return AVERROR(ENOMEM);
    *io = make_io(reader, false, &read, nullptr, &seek_back);
    if (*io != nullptr) return 0;
    delete reader;
    return AVERROR(ENOMEM);
  }

  static int close(AVFormatContext*, AVIOContext* io) noexcept {
    if (io == nullptr) return 0;
    auto* reader = static_cast<ReadBack*>(io->opaque);
    free_io(io);
    delete reader;
    return 0;
  }
};

Result<std::unique_ptr<VideoFile>> VideoFile::create(const std::string& path) {
  HALYARD_TRY(auto file, OutputFile::create(path));
  if (file.is_direct()) {
    return fail(Errc::invalid_argument, "path: exists and is not a file", "{}", path);
  }
  std::unique_ptr<VideoFile> video(new VideoFile(std::move(file)));
  video->io_ = make_io(video.get(), true, nullptr, &VideoFileCalls::write, &VideoFileCalls::seek);
  if (video->io_ == nullptr) {
    return fail(Errc::no_memory, "video: writer cannot be allocated", "{}", path);
  }
  return video;
}

VideoFile::~VideoFile() {
  free_io(io_);
}

void VideoFile::attach(AVFormatContext& muxer) {
  muxer.pb = io_;
  muxer.flags |= AVFMT_FLAG_CUSTOM_IO;
  muxer.opaque = this;
  muxer.io_open = &VideoFileCalls::open;
#if LIBAVFORMAT_VERSION_MAJOR >= 59
  muxer.io_close2 = &VideoFileCalls::close;
#else
  muxer.io_close = [](AVFormatContext* context, AVIOContext* io) {
    VideoFileCalls::close(context, io);
  };
#endif
}

Status VideoFile::commit() {
  return file_.commit();
}

}  // namespace halyard::capture

#endif
