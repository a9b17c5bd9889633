// SPDX-License-Identifier: Apache-2.0
#include "draw/mask/mask_band.h"

#include "decode/mask/mask_plan.h"

namespace halyard::draw {
namespace {

constexpr std::size_t row_margin = 64;  // before a row: one byte is used, the rest is for alignment
constexpr std::size_t row_padding = 64 + decode::byte_padding;

}  // namespace

MaskBits MaskBand::rows(std::size_t width, std::size_t height) {
  const std::size_t stride = (width + row_margin + row_padding + 63) / 64 * 64;
  const std::size_t bytes = stride * (height + 2);
  if (bytes_.size() < bytes) bytes_.resize(bytes);
  return {bytes_.data() + stride + row_margin, stride, 0, 0, width, height};
}

}  // namespace halyard::draw
