// SPDX-License-Identifier: Apache-2.0
// Converts 8-bit codes to the numbers of each dtype.
#include <algorithm>
#include <cmath>

#include "image/reference/reference.h"

namespace halyard::reference {
namespace {

struct Range {
  double lowest, highest;
};

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return {0, 255};
    case DType::i8:
      return {-128, 127};
    case DType::u16:
      return {0, 65535};
    default:
      return {-HUGE_VAL, HUGE_VAL};
  }
}

struct Line {
  double factor, offset;
};

// A code as a number, and this number as quantization stores it.
Line line_of(std::size_t channel, const Convert& request) {
  const DType dtype = request.dst.dtype();
  const bool is_alpha = channel == 3;
  if (stores_codes(request)) return {1, dtype == DType::i8 && !is_alpha ? -128.0 : 0.0};
  const auto& quantization = request.dst.quantization();
  if (dtype == DType::u16 && !quantization) return {257, 0};
  Line real{1.0 / 255, 0};
  if (request.normalize) {
    real = {static_cast<double>(request.normalize->scale[channel]),
            static_cast<double>(request.normalize->bias[channel])};
  }
  if (is_float(dtype)) return real;
  const auto scale = static_cast<double>(quantization->scale_at(channel));
  return {real.factor / scale, real.offset / scale + quantization->zero_point_at(channel)};
}

}  // namespace

bool stores_codes(const Convert& request) {
  const DType dtype = request.dst.dtype();
  if (dtype != DType::u8 && dtype != DType::i8) return false;
  const auto& q = request.dst.quantization();
  if (!q) return true;
  if (request.normalize || !q->is_per_tensor()) return false;
  return std::abs(static_cast<double>(q->scale_at(0)) * 255 - 1) < 1e-6 &&
         q->zero_point_at(0) == (dtype == DType::i8 ? -128 : 0);
}

Expected store(double code, std::size_t channel, const Convert& request) {
  const Line line = line_of(channel, request);
  const Range range = range_of(request.dst.dtype());
  Expected out;
  // For i8, the code xor 0x80 is the code minus 128; its alpha is the code itself.
  const bool unsigned_alpha = channel == 3 && stores_codes(request);
  const double number = code * line.factor + line.offset;
  out.value = unsigned_alpha ? number : std::clamp(number, range.lowest, range.highest);
  out.per_code = std::abs(line.factor);
  return out;
}

}  // namespace halyard::reference
