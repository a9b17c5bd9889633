// SPDX-License-Identifier: Apache-2.0
// Real numbers in f32 from the stored numbers of whole tensors.
#pragma once

#include <cstdint>
#include <optional>

#include "halyard/export.h"
#include "halyard/quantization.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Computes real = (stored - zero_point) * scale into an f32 tensor of as many elements, in C
/// order. Integers of 8 and 16 bits are computed in f32, those of 32 bits in f64 and rounded once.
/// Errors: invalid_argument (types, counts, shared bytes), unsupported (strides), those of mapping.
Status dequantize(const Tensor& input, float scale, std::int32_t zero_point, Tensor& output);

/// A copy in f32 of the same shape and name. Integers as above, with the tensor's own quantization,
/// else with `described`; f64 is rounded. Errors: invalid_argument (integers without quantization,
/// other types), unsupported (quantization per channel, strides), those of mapping.
Result<Tensor> dequantized(const Tensor& tensor,
                           const std::optional<Quantization>& described = std::nullopt);

}  // namespace halyard
HALYARD_EXPORTS_END
