// SPDX-License-Identifier: Apache-2.0
// Loads several features at once: one switch on the dtype, then a loop.
#include "decode/head/field.h"

namespace halyard::decode {
namespace {

void load_raw_values(const std::byte* at, std::ptrdiff_t stride, DType dtype,
                     std::span<float> out) noexcept {
  with_stored_type(dtype, [&]<class T>(T) {
    for (float& to : out) {
      to = load_stored<T>(at);
      at += stride;
    }
  });
}

}  // namespace

void FieldView::values(const BoxView& box, std::span<float> out) const noexcept {
  load_raw_values(box.data, feature_stride, dtype, out);
  if (stored == nullptr) return;
  if (per_channel == nullptr) {
    for (float& value : out)
      value = dequantize(value, affine);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = real(out[i], box.channel + i);
}

}  // namespace halyard::decode
