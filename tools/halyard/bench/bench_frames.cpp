// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_frames.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "input/raw_image.h"
#include "interrupt.h"
#include "report.h"

namespace halyard::tool {
namespace {

/// A gradient with a chessboard that moves from image to image.
Result<Tensor> synthetic_image(Size size, std::size_t number) {
  const auto width = static_cast<std::size_t>(size.width);
  const auto height = static_cast<std::size_t>(size.height);
  std::vector<std::byte> samples(width * height * 3);
  std::size_t at = 0;
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t board = ((x + 8 * number) / 32 + y / 32) % 2;
      for (const std::size_t value : {x * 255 / width, y * 255 / height, board * 160})
        samples[at++] = static_cast<std::byte>(value);
    }
  return image_from_raw(samples, size, PixelFormat::rgb);
}

}  // namespace

Result<BenchFrames> BenchFrames::synthetic(Size size) {
  BenchFrames out;
  for (std::size_t number = 0; number < 4; ++number) {
    HALYARD_TRY(auto image, synthetic_image(size, number));
    out.images_.push_back(std::move(image));
  }
  out.describe(out.images_.front());
  return out;
}

Result<BenchFrames> BenchFrames::open(std::vector<std::string> paths, FrameSourceOptions reading) {
  BenchFrames out;
  out.paths_ = std::move(paths);
  out.reading_ = std::move(reading);
  HALYARD_TRY(auto first, out.next());
  out.is_empty_ = !first;
  if (first) out.describe(first->image);
  out.rewind();
  return out;
}

void BenchFrames::describe(const Tensor& image) {
  size_ = image.upright_size();
  format_ = image.format().value_or(PixelFormat::rgb);
}

Result<std::optional<Frame>> BenchFrames::next() {
  if (is_synthetic()) {
    const Tensor& image = images_[made_ % images_.size()];
    return std::optional<Frame>(Frame{image, "synthetic", made_++, {}});
  }
  while (!InterruptGuard::is_requested()) {
    if (!inputs_) {
      HALYARD_TRY(inputs_, Inputs::open(paths_, reading_));
      is_live_ = inputs_->is_live();
      has_frame_ = false;
    }
    auto frame = inputs_->next();
    if (frame && *frame) return has_frame_ = true, std::move(frame);
    if (!frame) {
      if (InterruptGuard::is_requested()) break;
      const std::string text = frame.error().message();
      if (damaged_.insert(text).second) report(inputs_->current(), text);
      continue;
    }
    if (is_live_ || !has_frame_) break;
    inputs_.reset();
  }
  return std::optional<Frame>();
}

Result<BenchFrames> BenchFrames::image_files(std::size_t limit) const {
  const auto unfit = [] {
    return make_error(Errc::unsupported, "inputs must be image files, or folders of them");
  };
  if (is_synthetic() || is_live_) return unfit();
  std::vector<std::string> files;
  HALYARD_TRY(auto inputs, Inputs::open(paths_, reading_));
  while (files.size() < limit && !InterruptGuard::is_requested()) {
    auto frame = inputs.next();
    if (!frame) continue;
    if (!*frame) break;
    // All frames of a video have its name.
    std::error_code error;
    const std::string& file = (*frame)->source;
    const bool is_again = std::find(files.begin(), files.end(), file) != files.end();
    if (is_again || !std::filesystem::is_regular_file(file, error)) return unfit();
    files.push_back(file);
  }
  return open(std::move(files), reading_);
}

}  // namespace halyard::tool
