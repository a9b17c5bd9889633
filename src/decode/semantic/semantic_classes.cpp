// SPDX-License-Identifier: Apache-2.0
// Resamples class maps by the nearest pixel.
#include "decode/semantic/semantic_classes.h"

#include <cstring>

#include "base/text/format_error.h"

namespace halyard::decode {
namespace {

template <class S, class T>
Status resample_map(const SemanticPlan& plan, const SemanticWorkspace& work, TargetPlane out) {
  const PrototypeGrid& from = plan.scores;
  for (std::int32_t y = 0; y < plan.target.height; ++y) {
    const std::byte* row =
        from.data + work.nearest_y[static_cast<std::size_t>(y)] * from.row_stride_bytes;
    T* to = out.row<T>(y);
    for (std::int32_t x = 0; x < plan.target.width; ++x) {
      S value;
      std::memcpy(&value,
                  row + work.nearest_x[static_cast<std::size_t>(x)] * from.pixel_stride_bytes,
                  sizeof value);
      to[x] = static_cast<T>(value);
      if (static_cast<S>(to[x]) != value || value < S{0}) {
        return fail(Errc::invalid_argument, "scores: a class id does not fit into out",
                    "{} at ({}, {})", value, x, y);
      }
    }
  }
  return {};
}

template <class T>
Status resample_map(const SemanticPlan& plan, const SemanticWorkspace& work, TargetPlane out) {
  switch (plan.scores.dtype) {
    case DType::u8:
      return resample_map<std::uint8_t, T>(plan, work, out);
    case DType::i8:
      return resample_map<std::int8_t, T>(plan, work, out);
    case DType::u16:
      return resample_map<std::uint16_t, T>(plan, work, out);
    case DType::i16:
      return resample_map<std::int16_t, T>(plan, work, out);
    case DType::u32:
      return resample_map<std::uint32_t, T>(plan, work, out);
    case DType::i32:
      return resample_map<std::int32_t, T>(plan, work, out);
    case DType::u64:
      return resample_map<std::uint64_t, T>(plan, work, out);
    default:
      return resample_map<std::int64_t, T>(plan, work, out);
  }
}

}  // namespace

Status resample_class_map(const SemanticPlan& plan, const SemanticWorkspace& work,
                          TargetPlane out) {
  return plan.out == DType::u16 ? resample_map<std::uint16_t>(plan, work, out)
                                : resample_map<std::uint8_t>(plan, work, out);
}

}  // namespace halyard::decode
