// SPDX-License-Identifier: Apache-2.0
// Stored numbers of outputs as floats.
#pragma once

#include "compat/decoder_state.h"

namespace halyard::compat {

/// f32 of an f64, i32 or u32 tensor, dequantized where it has or is given quantization. Errors:
/// unsupported (strides), those of mapping.
Result<Tensor> widened(const Tensor& tensor, const std::optional<Quantization>& described);

bool needs_widening(DType dtype) noexcept;

}  // namespace halyard::compat
