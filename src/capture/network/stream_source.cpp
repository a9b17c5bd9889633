// SPDX-License-Identifier: Apache-2.0
// Images from a stream: one image of any kind, or consecutive JPEGs. Each is returned as soon as it
// is complete.
#include <algorithm>
#include <utility>

#include "base/text/format_error.h"
#include "capture/image_source.h"
#include "capture/network/jpeg_splitter.h"
#include "capture/source.h"

namespace halyard::capture {
namespace {

constexpr std::size_t max_image_bytes = std::size_t{1} << 30;
constexpr std::size_t chunk_bytes = std::size_t{1} << 16;

// Appends one read; false at the end of the stream. Errors: os, invalid_argument (too large).
Result<bool> read_more(ByteStream& stream, std::vector<std::byte>& bytes) {
  if (bytes.size() >= max_image_bytes) {
    return fail(Errc::invalid_argument, "image in the stream is above 1 GiB");
  }
  const std::size_t had = bytes.size();
  bytes.resize(had + chunk_bytes);
  auto got = stream.read(std::span(bytes).subspan(had));
  bytes.resize(had + got.value_or(0));
  if (!got) return got.error();
  return *got > 0;
}

class ImageStream final : public Source {
 public:
  ImageStream(ByteStream stream, std::string name, const Options& options)
      : stream_(std::move(stream)), name_(std::move(name)), options_(options) {}

  Result<std::optional<Frame>> next() override {
    if (done_) return std::optional<Frame>();
    done_ = true;
    std::vector<std::byte> file;
    for (bool more = true; more;) {
      const auto read = read_more(stream_, file);
      if (!read) return naming(read.error(), name_);
      more = *read;
    }
    HALYARD_TRY(Frame frame, decode_image(file, name_, 0, options_));
    return std::optional<Frame>(std::move(frame));
  }
  double rate() const noexcept override { return options_.picture_rate; }

 private:
  ByteStream stream_;
  std::string name_;
  Options options_;
  bool done_ = false;
};

class JpegStream final : public Source {
 public:
  JpegStream(ByteStream stream, std::string name, const Options& options)
      : stream_(std::move(stream)), name_(std::move(name)), options_(options) {}

  Result<std::optional<Frame>> next() override {
    auto found = find_image();
    if (!found) {
      at_end_ = true;
      held_.clear();
      return naming(found.error(), name_);
    }
    if (*found == 0) return std::optional<Frame>();
    const std::vector<std::byte> file(held_.begin(),
                                      held_.begin() + static_cast<std::ptrdiff_t>(*found));
    drop(*found);
    const std::size_t index = index_++;
    auto frame = decode_image(file, name_, index, options_);
    if (!frame) return naming(frame.error(), name_ + " image " + std::to_string(index));
    return std::optional<Frame>(*std::move(frame));
  }
  double rate() const noexcept override { return options_.picture_rate; }
  // A file of JPEGs; the images before the wanted one are not decoded.
  Status seek(std::chrono::nanoseconds time) override {
    if (!stream_.is_seekable()) return Source::seek(time);
    HALYARD_RETURN_IF_ERROR(stream_.seek(0));
    held_.clear();
    at_end_ = false;
    for (index_ = 0; image_time(index_, options_) < time; ++index_) {
      HALYARD_TRY(const std::size_t length, find_image());
      if (length == 0) break;
      drop(length);
    }
    return {};
  }

 private:
  void drop(std::size_t count) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // Moves the next image to the front of held_. Returns its length; 0 at the end of the stream.
  Result<std::size_t> find_image() {
    for (;;) {
      skip_to_start();
      if (has_jpeg_magic(held_)) break;
      if (at_end_) return std::size_t{0};
      HALYARD_RETURN_IF_ERROR(fetch());
    }
    JpegSplitter splitter;
    for (;;) {
      const auto end = splitter.end(held_);
      if (end) return std::min(*end, held_.size());
      if (at_end_) return held_.size();  // cut: the decoder reports it
      HALYARD_RETURN_IF_ERROR(fetch());
    }
  }

  Status fetch() {
    HALYARD_TRY(const bool more, read_more(stream_, held_));
    at_end_ = !more;
    return {};
  }

  // Drops the bytes before the next SOI, but keeps a possible beginning of one at the end.
  void skip_to_start() {
    constexpr std::size_t magic_bytes = 3;
    std::size_t at = 0;
    while (at + magic_bytes <= held_.size() && !has_jpeg_magic(std::span(held_).subspan(at)))
      ++at;
    drop(at);
  }

  ByteStream stream_;
  std::string name_;
  Options options_;
  std::vector<std::byte> held_;
  std::size_t index_ = 0;
  bool at_end_ = false;
};

}  // namespace

SourceResult stream_source(ByteStream stream, std::string name, const Options& options) {
  const auto head = stream.peek(18);
  if (!head) return naming(head.error(), name);
  if (head->empty()) return fail(Errc::malformed, "stream is empty", "{}", name);
  if (has_jpeg_magic(*head)) {
    return std::unique_ptr<Source>(
        std::make_unique<JpegStream>(std::move(stream), std::move(name), options));
  }
  if (image_file_type(*head)) {
    return std::unique_ptr<Source>(
        std::make_unique<ImageStream>(std::move(stream), std::move(name), options));
  }
  return video_source(std::move(stream), name, options);
}

}  // namespace halyard::capture
