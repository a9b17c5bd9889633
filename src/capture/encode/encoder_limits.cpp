// SPDX-License-Identifier: Apache-2.0
#include "capture/encode/encoder_limits.h"

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

constexpr int max_side = 16384;
constexpr double max_rate = 1000;
constexpr std::int64_t max_bitrate = 1'000'000'000;

}  // namespace

Status check_video(Size size, double rate) {
  if (size.width < 1 || size.height < 1 || size.width > max_side || size.height > max_side) {
    return fail(Errc::invalid_argument, "size: width and height must be 1..16384", "{}x{}",
                size.width, size.height);
  }
  if (!(rate > 0 && rate <= max_rate))
    return fail(Errc::invalid_argument, "rate must be above 0 and at most 1000", "{}", rate);
  return {};
}

Status check_bitrate(std::int64_t bitrate) {
  if (bitrate >= 0 && bitrate <= max_bitrate) return {};
  return fail(Errc::invalid_argument, "bitrate must be 0 to 1e9", "{}", bitrate);
}

}  // namespace halyard::capture
