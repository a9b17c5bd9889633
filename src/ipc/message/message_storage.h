// SPDX-License-Identifier: Apache-2.0
// The source of the tensors of messages, and which tensors the CPU can read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "halyard/drm.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard {
class TensorPool;
}

namespace halyard::ipc {

inline constexpr std::uint32_t max_pixels_per_side = 65535;

/// A tensor of `pool`, or of the default pool if it is null. A tensor without elements is allowed
/// and also gets a slot. Errors: those of default_pool() and TensorPool::alloc().
Result<Tensor> message_tensor(const std::shared_ptr<TensorPool>& pool,
                              std::span<const std::size_t> shape, DType dtype);
/// Like message_tensor(), for an image. Errors: also those of TensorPool::alloc_image().
Result<Tensor> message_image(const std::shared_ptr<TensorPool>& pool, std::size_t width,
                             std::size_t height, PixelFormat format, DType dtype,
                             std::size_t stride_bytes);

/// The error of check_linear().
[[gnu::cold]] Error not_linear(const Tensor& tensor);

/// Errors: unsupported (only a device can address the pixels).
inline Status check_linear(const Tensor& tensor) {
  if (is_linear(tensor.modifier())) return {};
  return not_linear(tensor);
}

}  // namespace halyard::ipc
