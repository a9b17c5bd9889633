// SPDX-License-Identifier: Apache-2.0
// The source of the tensors of messages.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard {
class TensorPool;
}

namespace halyard::ipc {

/// A tensor of `pool`, or of the default pool if it is null. A tensor without elements is allowed
/// and also gets a slot. Errors: those of default_pool() and TensorPool::alloc().
Result<Tensor> message_tensor(const std::shared_ptr<TensorPool>& pool,
                              std::span<const std::size_t> shape, DType dtype);
/// Like message_tensor(), for an image. Errors: also those of TensorPool::alloc_image().
Result<Tensor> message_image(const std::shared_ptr<TensorPool>& pool, std::size_t width,
                             std::size_t height, PixelFormat format, DType dtype,
                             std::size_t stride_bytes);

}  // namespace halyard::ipc
