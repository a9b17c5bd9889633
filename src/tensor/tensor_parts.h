// SPDX-License-Identifier: Apache-2.0
// Converts a tensor to a message with buffers, and back.
#pragma once

#include "tensor/exchange/tensor_message.h"

namespace halyard {

/// Checks everything that can be checked without the memory. Both ends call it, so that a sender
/// refuses what a receiver would. Errors: malformed (a field outside its limits), corrupt (fields
/// that contradict one another). The error names the field.
Status check_tensor_message(const TensorMessage& message);

/// Errors: invalid_argument (empty tensor, or one that a receiver would refuse), unsupported
/// (memory without a descriptor).
Result<TensorParts> take_apart(const Tensor& tensor);

/// Makes the tensor over the memory that came with a checked message: one buffer per descriptor, in
/// order. Errors: corrupt (the layout or a plane does not fit that memory, planes overlap).
Result<Tensor> put_together(const TensorMessage& message,
                            std::span<const std::shared_ptr<Buffer>> buffers);

}  // namespace halyard
