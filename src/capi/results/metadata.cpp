// SPDX-License-Identifier: Apache-2.0
// Quantization and colorimetry in C.
#include <utility>

#include "capi/error.h"
#include "capi/handles.h"
#include "halyard/c/tensor.h"
#include "halyard/quantization.h"

struct HalTensorQuant {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("quan");
  halyard::capi::Tag tag{kind};
  halyard::Quantization quantization;
};

namespace halyard::capi {
namespace {

Result<int> set_quantization(hal_tensor* handle, float scale, int zero_point) {
  HALYARD_RETURN_IF_ERROR(tensor_of(handle));
  HALYARD_RETURN_IF_ERROR(
      handle->tensor.set_quantization(Quantization::per_tensor(scale, zero_point)));
  return 0;
}

Result<HalTensorQuant*> quantization_of(const hal_tensor* handle) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  if (!tensor->quantization()) return nullptr;
  return new HalTensorQuant{.quantization = *tensor->quantization()};
}

Result<int> colorimetry_of(const hal_tensor* handle, hal_colorimetry* out) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  if (out == nullptr) return null_argument("out: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(out, "out"));
  *out = colorimetry_to_c(tensor->colorimetry());
  return 0;
}

Result<int> from_v4l2(const V4l2Colorimetry& codes, hal_colorimetry* out) {
  if (out == nullptr) return null_argument("out: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(out, "out"));
  *out = colorimetry_to_c(colorimetry_from_v4l2(codes));
  return 0;
}

}  // namespace

}  // namespace halyard::capi

using halyard::capi::guarded;
using halyard::capi::is_valid;

int hal_tensor_set_quantization(hal_tensor* tensor, float scale, int zero_point) {
  return guarded<int>(-1,
                      [&] { return halyard::capi::set_quantization(tensor, scale, zero_point); });
}

HalTensorQuant* hal_tensor_quantization(const hal_tensor* tensor) {
  return guarded<HalTensorQuant*>(nullptr, [&] { return halyard::capi::quantization_of(tensor); });
}

void hal_quantization_free(HalTensorQuant* quant) {
  if (is_valid(quant)) delete quant;
}

HalTensorQuantKind hal_quantization_kind(const HalTensorQuant* quant) {
  if (!is_valid(quant)) return HAL_TENSOR_QUANT_KIND_PER_TENSOR;
  const bool symmetric = quant->quantization.is_symmetric();
  if (quant->quantization.is_per_tensor()) {
    return symmetric ? HAL_TENSOR_QUANT_KIND_PER_TENSOR_SYMMETRIC
                     : HAL_TENSOR_QUANT_KIND_PER_TENSOR;
  }
  return symmetric ? HAL_TENSOR_QUANT_KIND_PER_CHANNEL_SYMMETRIC
                   : HAL_TENSOR_QUANT_KIND_PER_CHANNEL;
}

size_t hal_quantization_scale_len(const HalTensorQuant* quant) {
  return is_valid(quant) ? quant->quantization.scale.size() : 0;
}

float hal_quantization_scale_at(const HalTensorQuant* quant, size_t i) {
  return i < hal_quantization_scale_len(quant) ? quant->quantization.scale[i] : 0.0F;
}

int32_t hal_quantization_zero_point_at(const HalTensorQuant* quant, size_t i) {
  if (!is_valid(quant)) return 0;
  const auto& zero_point = quant->quantization.zero_point;
  return i < zero_point.size() ? zero_point[i] : 0;
}

bool hal_quantization_is_symmetric(const HalTensorQuant* quant) {
  return is_valid(quant) && quant->quantization.is_symmetric();
}

bool hal_quantization_axis(const HalTensorQuant* quant, size_t* axis_out) {
  if (!is_valid(quant) || !quant->quantization.axis) return false;
  halyard::capi::store<std::size_t>(axis_out, *quant->quantization.axis);
  return true;
}

void hal_tensor_set_colorimetry(hal_tensor* tensor, const hal_colorimetry* colorimetry) {
  if (!is_valid(tensor) || !halyard::capi::is_aligned(colorimetry)) return;
  tensor->tensor.set_colorimetry(colorimetry != nullptr
                                     ? halyard::capi::colorimetry_from(*colorimetry)
                                     : halyard::Colorimetry{});
}

int hal_tensor_colorimetry(const hal_tensor* tensor, hal_colorimetry* out) {
  return guarded<int>(-1, [&] { return halyard::capi::colorimetry_of(tensor, out); });
}

int hal_colorimetry_from_v4l2(uint32_t colorspace, uint32_t xfer, uint32_t ycbcr_enc,
                              uint32_t quant, hal_colorimetry* out) {
  return guarded<int>(-1, [&] {
    return halyard::capi::from_v4l2({colorspace, xfer, ycbcr_enc, quant}, out);
  });
}
