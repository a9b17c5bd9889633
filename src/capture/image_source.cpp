// SPDX-License-Identifier: Apache-2.0
// A single image file as a source, and functions that all image sources share.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "capture/image_source.h"
#include "capture/source.h"

namespace halyard::capture {
namespace {

class ImageSource final : public Source {
 public:
  ImageSource(std::string path, const Options& options)
      : path_(std::move(path)), options_(options) {}

  Result<std::optional<Frame>> next() override {
    if (done_) return std::optional<Frame>();
    done_ = true;
    auto file = read_file(path_);
    if (!file) return naming(file.error(), path_);
    HALYARD_TRY(Frame frame, decode_image(*file, path_, 0, options_));
    return std::optional<Frame>(std::move(frame));
  }
  std::optional<std::size_t> frame_count() const noexcept override { return 1; }
  double rate() const noexcept override { return options_.picture_rate; }
  Status seek(std::chrono::nanoseconds time) override {
    done_ = time > std::chrono::nanoseconds(0);
    return {};
  }

 private:
  std::string path_;
  Options options_;
  bool done_ = false;
};

bool starts_with(std::span<const std::byte> bytes, std::span<const unsigned char> magic) noexcept {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](unsigned char a, std::byte b) { return std::byte{a} == b; });
}

}  // namespace

std::unique_ptr<Source> image_source(std::string path, const Options& options) {
  return std::make_unique<ImageSource>(std::move(path), options);
}

Result<Frame> decode_image(std::span<const std::byte> file, const std::string& name,
                           std::size_t index, const Options& options) {
  auto image = load_image(file, options.load);
  if (!image) return naming(image.error(), name);
  return Frame{*std::move(image), name, index, image_time(index, options)};
}

Error naming(const Error& error, const std::string& name) {
  std::string detail = name;
  if (error.detail && error.detail->find(name) != std::string::npos) {
    detail = *error.detail;
  } else if (error.detail && !error.detail->empty()) {
    detail += ": " + *error.detail;
  }
  return make_error(error.code, error.what, std::move(detail), error.os_errno);
}

std::chrono::nanoseconds image_time(std::size_t index, const Options& options) noexcept {
  return std::chrono::nanoseconds(
      std::llround(static_cast<double>(index) * 1e9 / options.picture_rate));
}

std::size_t first_index(std::chrono::nanoseconds time, const Options& options) noexcept {
  const double near = static_cast<double>(time.count()) / 1e9 * options.picture_rate;
  if (near >= 1e15) return std::numeric_limits<std::size_t>::max();
  auto index = static_cast<std::size_t>(std::max(0.0, near - 1));
  while (image_time(index, options) < time)
    ++index;
  return index;
}

bool has_jpeg_magic(std::span<const std::byte> bytes) noexcept {
  constexpr std::array<unsigned char, 3> magic{0xFF, 0xD8, 0xFF};
  return starts_with(bytes, magic);
}

std::string read_kinds() {
  std::string text;
  for (const ImageFileKind& kind : image_file_kinds()) {
    if (kind.is_read) text.append(text.empty() ? "" : ", ").append(kind.name);
  }
  return text;
}

std::string extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace halyard::capture
