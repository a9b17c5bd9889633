// SPDX-License-Identifier: Apache-2.0
// Statistics of an image's samples: one histogram per channel, and the numbers derived from it.
#include <algorithm>
#include <cmath>

#include "base/text/format_error.h"
#include "halyard/image.h"
#include "image/channels.h"

namespace halyard {
namespace {

/// Counts codes in four tables alternately: neighbours are often equal, and a single counter would
/// wait for its own store.
class Counter {
 public:
  void add_row(const std::byte* sample, std::int32_t count, std::size_t step_bytes) noexcept {
    for (std::int32_t i = 0; i < count; ++i, sample += step_bytes)
      ++counts_[static_cast<std::size_t>(i) % 4][std::to_integer<std::size_t>(*sample)];
  }
  std::uint64_t at(std::size_t code) const noexcept {
    return counts_[0][code] + counts_[1][code] + counts_[2][code] + counts_[3][code];
  }

 private:
  std::array<std::array<std::uint64_t, 256>, 4> counts_{};
};

ChannelStatistics statistics_of(const Counter& counter) {
  ChannelStatistics out;
  std::uint64_t count = 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t code = 0; code < 256; ++code) {
    out.histogram[code] = counter.at(code);
    count += out.histogram[code];
    sum += static_cast<double>(code * out.histogram[code]);
    squares += static_cast<double>(code * code * out.histogram[code]);
  }
  if (count == 0) return out;
  out.mean = sum / static_cast<double>(count);
  const double variance = squares / static_cast<double>(count) - out.mean * out.mean;
  out.standard_deviation = std::sqrt(std::max(variance, 0.0));
  return out;
}

}  // namespace

Result<ImageStatistics> measure(const Tensor& image, std::size_t row_step) {
  if (!image.is_image()) return fail(Errc::invalid_argument, "image: must be an image");
  if (row_step == 0) return fail(Errc::invalid_argument, "row_step: must be at least 1");
  if (image.dtype() != DType::u8)
    return fail(Errc::unsupported, "image: element type must be u8", "it is {}",
                to_string(image.dtype()));
  // The samples of a Bayer mosaic are one channel.
  constexpr image::ChannelMap mosaic{1, {{{0, 0, 1, 0, 0}, {}, {}, {}}}};
  const image::ChannelMap* known = image::channel_map(*image.format());
  const image::ChannelMap& channels = known == nullptr ? mosaic : *known;
  HALYARD_TRY(const TensorMap map, image.map(Access::read));
  ImageStatistics out;
  out.channels = channels.count;
  for (std::size_t c = 0; c < channels.count; ++c) {
    Counter counter;
    const auto channel = image::source_channel(map, channels.sites[c], image.size(), 1);
    for (std::size_t y = 0; y < static_cast<std::size_t>(channel.rows); y += row_step)
      counter.add_row(channel.row(static_cast<std::int32_t>(y)), channel.columns,
                      channel.step_bytes);
    out.channel[c] = statistics_of(counter);
  }
  return out;
}

}  // namespace halyard
