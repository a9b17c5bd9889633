// SPDX-License-Identifier: Apache-2.0
// Handles: tensors of pools as descriptors, as bytes, and parts of them.
#include <array>

#include "base/text/format_error.h"
#include "halyard/pool.h"
#include "ipc/pool/slot_buffer.h"

namespace halyard {

using ipc::SlotBuffer;

namespace {

Result<std::span<std::byte>> writable_bytes(const Tensor& tensor) {
  const SlotBuffer* const slot = ipc::slot_of(tensor);
  if (slot == nullptr)
    return fail(Errc::invalid_argument, "handle: must hold a tensor in a pool's memory");
  const auto reach = reach_of(tensor.layout());
  if (!reach || reach->lowest < 0)
    return fail(Errc::invalid_argument, "handle: its elements do not begin at its first byte");
  return slot->bytes().subspan(tensor.offset_bytes(), static_cast<std::size_t>(reach->end));
}

}  // namespace

// Built in place: moving a tensor copies several hundred bytes.
Result<TensorHandle> TensorHandle::over(std::shared_ptr<Buffer> slot, const Layout& layout,
                                        Device device, std::size_t offset_bytes) {
  Result<TensorHandle> made(std::in_place);
  HALYARD_RETURN_IF_ERROR(made->lay_over(std::move(slot), layout, offset_bytes));
  made->device_ = device;
  return made;
}

Result<TensorHandle> TensorHandle::alloc(const std::shared_ptr<TensorPool>& pool,
                                         std::span<const std::size_t> shape, DType dtype,
                                         Device device) {
  if (!pool) return fail(Errc::invalid_argument, "pool: must not be null");
  return pool->alloc(shape, dtype, device);
}

Result<TensorHandle> TensorHandle::alloc(const std::shared_ptr<TensorPool>& pool,
                                         std::initializer_list<std::size_t> shape, DType dtype,
                                         Device device) {
  return alloc(pool, std::span<const std::size_t>(shape.begin(), shape.size()), dtype, device);
}

[[gnu::hot]] bool TensorHandle::is_handle(const Tensor& tensor) noexcept {
  return ipc::slot_of(tensor) != nullptr;
}

Result<TensorHandle> TensorHandle::of(const Tensor& tensor) {
  if (!is_handle(tensor)) return fail(Errc::invalid_argument, "tensor: is not in a pool's memory");
  return TensorHandle(tensor, Device::cpu());
}

Result<TensorDescriptor> TensorHandle::descriptor() const {
  const SlotBuffer* const slot = ipc::slot_of(*this);
  if (slot == nullptr)
    return fail(Errc::invalid_argument, "handle: must hold a tensor in a pool's memory");
  HALYARD_TRY(TensorDescriptor descriptor, ipc::describe(*this, *slot));
  descriptor.set_device(device_);
  return descriptor;
}

Result<std::span<std::byte>> TensorHandle::data_slice_mut() const {
  HALYARD_TRY(const auto bytes, writable_bytes(*this));
  if (!buffer()->is_writable())
    return fail(Errc::permission, "handle: is read-only, published or owned by another process");
  return bytes;
}

Result<std::span<const std::byte>> TensorHandle::data_slice() const {
  HALYARD_TRY(const auto bytes, writable_bytes(*this));
  return std::span<const std::byte>(bytes);
}

Status TensorHandle::check_elements(std::optional<DType> wanted) const {
  if (wanted == dtype() && layout().is_contiguous()) return {};
  if (wanted == dtype())
    return fail(Errc::unsupported, "handle: has gaps between its elements, use map()");
  return fail(Errc::invalid_argument, "T: is not the tensor's element type",
              "{}, the tensor has {}", wanted ? to_string(*wanted) : "none of Halyard's",
              to_string(dtype()));
}

std::uint64_t TensorHandle::refcount() const noexcept {
  const SlotBuffer* const slot = ipc::slot_of(*this);
  if (slot == nullptr) return 0;
  // Copies share the buffer, which has one reference to the slot.
  const auto copies = static_cast<std::uint64_t>(buffer().use_count());
  return copies + slot->home()->references(slot->place().slot) - 1;
}

std::shared_ptr<TensorPool> TensorHandle::pool() const {
  const SlotBuffer* const slot = ipc::slot_of(*this);
  if (slot == nullptr) return nullptr;
  return TensorPool::opened(slot->home()->identity().pool_id);
}

Result<TensorHandle> TensorHandle::slice_first_dim(std::size_t start, std::size_t end) const {
  if (rank() == 0 || start >= end || end > shape()[0]) {
    return fail(Errc::invalid_argument, "start, end: must be start < end <= first extent",
                "{}, {}, {}", start, end, rank() == 0 ? 0 : shape()[0]);
  }
  const AxisRange range{start, end - start};
  HALYARD_TRY(Tensor part, this->part(std::span(&range, 1)));
  return TensorHandle(std::move(part), device_);
}

Result<TensorHandle> TensorHandle::view(std::span<const std::size_t> shape) const {
  HALYARD_TRY(Tensor same, reshape(shape));
  return TensorHandle(std::move(same), device_);
}

Result<TensorHandle> TensorHandle::permute(std::span<const std::size_t> order) const {
  std::array<bool, max_rank> seen{};
  bool is_order = order.size() == rank();
  for (std::size_t i = 0; is_order && i < order.size(); ++i) {
    is_order = order[i] < rank() && !seen[order[i]];
    if (is_order) seen[order[i]] = true;
  }
  if (!is_order) {
    return fail(Errc::invalid_argument, "order: must name each axis once", "{} of {} axes",
                order.size(), rank());
  }
  Layout rotated = layout();
  for (std::size_t i = 0; i < order.size(); ++i) {
    rotated.shape[i] = layout().shape[order[i]];
    rotated.stride_bytes[i] = layout().stride_bytes[order[i]];
  }
  return over(buffer(), rotated, device_, offset_bytes());
}

}  // namespace halyard
