// SPDX-License-Identifier: Apache-2.0
// Converts the stored numbers of outputs to floats.
#pragma once

#include "compat/decoder_state.h"

namespace halyard::compat {

/// An f32 copy of an f64, i32 or u32 tensor; dequantized if the tensor has quantization, or with
/// `described`. Errors: unsupported (strides), those of mapping.
Result<Tensor> widened(const Tensor& tensor, const std::optional<Quantization>& described);

bool needs_widening(DType dtype) noexcept;

}  // namespace halyard::compat
