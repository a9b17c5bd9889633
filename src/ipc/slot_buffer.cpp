// SPDX-License-Identifier: Apache-2.0
// Between tensors in slots and the descriptors that name them.
#include "ipc/slot_buffer.h"

#include <typeinfo>

#include "base/format_error.h"

namespace halyard::ipc {

[[gnu::hot]] SlotBuffer* slot_of(const Tensor& tensor) noexcept {
  if (tensor.is_empty() || tensor.memory() != Memory::shm) return nullptr;
  const std::size_t planes = tensor.is_image() ? tensor.plane_count() : 1;
  for (std::size_t i = 1; i < planes; ++i) {
    const auto plane = tensor.image_plane(i);
    if (!plane || plane->buffer != tensor.buffer()) return nullptr;
  }
  Buffer* const buffer = tensor.buffer().get();
  // Cheaper than dynamic_cast, and as good: nothing derives from it.
  return typeid(*buffer) == typeid(SlotBuffer) ? static_cast<SlotBuffer*>(buffer) : nullptr;
}

[[gnu::hot]] void put_slot(TensorDescriptor& descriptor, const SlotBuffer& slot,
                           std::uint64_t offset) noexcept {
  const SlotHome::Identity& home = slot.home()->identity();
  const SlotBuffer::Place& place = slot.place();
  descriptor.pool_id = home.pool_id;
  descriptor.slot_id = home.index << 24U | place.slot;
  descriptor.set_generation(place.generation);
  descriptor.offset = place.offset + offset;
}

Result<TensorDescriptor> describe(const Tensor& tensor, const SlotBuffer& slot) {
  HALYARD_TRY(TensorDescriptor descriptor, TensorDescriptor::of_layout(tensor.layout()));
  put_slot(descriptor, slot, tensor.offset_bytes());
  if (!slot.is_writable()) descriptor.flags |= TensorDescriptor::read_only_flag;
  return descriptor;
}

Result<Tensor> tensor_at(std::shared_ptr<SlotBuffer> slot, const TensorDescriptor& descriptor) {
  HALYARD_TRY(const Layout layout, descriptor.layout());
  const SlotBuffer::Place& place = slot->place();
  const std::uint64_t begin = descriptor.offset;
  const bool is_inside = begin >= place.offset && begin - place.offset <= slot->size_bytes() &&
                         descriptor.size <= slot->size_bytes() - (begin - place.offset);
  if (!is_inside) {
    return fail(Errc::corrupt, "descriptor: leaves its slot",
                "offset {} size {}, the slot has {} bytes from {} on", begin, descriptor.size,
                slot->size_bytes(), place.offset);
  }
  return Tensor::wrap(std::move(slot), layout, begin - place.offset);
}

}  // namespace halyard::ipc
