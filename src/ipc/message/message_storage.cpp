// SPDX-License-Identifier: Apache-2.0
// Allocates the tensors of messages from a pool, and refuses those that no CPU can read.
#include "ipc/message/message_storage.h"

#include <algorithm>
#include <array>

#include "base/text/format_error.h"
#include "halyard/pool.h"

namespace halyard::ipc {
namespace {

Result<std::shared_ptr<TensorPool>> pool_or_default(const std::shared_ptr<TensorPool>& pool) {
  if (pool) return pool;
  return default_pool();
}

}  // namespace

Result<Tensor> message_tensor(const std::shared_ptr<TensorPool>& pool,
                              std::span<const std::size_t> shape, DType dtype) {
  // Checks the rank, and gives the strides of a tensor without elements.
  HALYARD_TRY(const Layout layout, Layout::contiguous(dtype, shape));
  HALYARD_TRY(const std::shared_ptr<TensorPool> from, pool_or_default(pool));
  std::array<std::size_t, max_rank> filled{};
  std::transform(shape.begin(), shape.end(), filled.begin(),
                 [](std::size_t extent) { return std::max<std::size_t>(extent, 1); });
  HALYARD_TRY(const TensorHandle handle, from->alloc(std::span(filled).first(shape.size()), dtype));
  if (layout.element_count() > 0) return Tensor(handle);
  return Tensor::wrap(handle.buffer(), layout, handle.offset_bytes());
}

Result<Tensor> message_image(const std::shared_ptr<TensorPool>& pool, std::size_t width,
                             std::size_t height, PixelFormat format, DType dtype,
                             std::size_t stride_bytes) {
  HALYARD_TRY(const std::shared_ptr<TensorPool> from, pool_or_default(pool));
  HALYARD_TRY(const TensorHandle handle,
              from->alloc_image(width, height, format, dtype, stride_bytes));
  return Tensor(handle);
}

Error not_linear(const Tensor& tensor) {
  return fail(Errc::unsupported,
              "tensor.modifier: must be linear, only a device reads other pixels", "{}",
              modifier_to_string(tensor.modifier()));
}

}  // namespace halyard::ipc
