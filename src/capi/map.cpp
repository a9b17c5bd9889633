// SPDX-License-Identifier: Apache-2.0
// Access to bytes in C: maps of the CPU and of CUDA, and a copy without padding.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "capi/error.h"
#include "capi/handles.h"
#include "halyard/c/tensor.h"
#include "halyard/device.h"

struct hal_cuda_map {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("cuda");
  halyard::capi::Tag tag{kind};
  halyard::DeviceMap map;
  std::size_t offset_bytes = 0;
};

namespace halyard::capi {
namespace {

// Bytes from element (0, ..., 0) to the end of the element at the highest address.
std::size_t bytes_behind(const Layout& layout) noexcept {
  if (layout.element_count() == 0) return 0;
  std::size_t bytes = size_of(layout.dtype);
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    const std::ptrdiff_t stride = std::max<std::ptrdiff_t>(layout.stride_bytes[axis], 0);
    bytes += static_cast<std::size_t>(stride) * (layout.shape[axis] - 1);
  }
  return bytes;
}

// A map of an image includes all its rows with their stride, as far as the memory reaches. The last
// pair of an odd chroma row is after the last element.
std::size_t accessible_bytes(const Tensor& tensor, const TensorMap& map) noexcept {
  if (!tensor.is_image()) return bytes_behind(map.layout());
  std::size_t bytes = 0;
  const std::size_t planes = map.planes_adjacent() ? map.plane_count() : 1;
  for (std::size_t i = 0; i < planes; ++i) {
    const MappedPlane& plane = map.plane(i);
    const auto begin = static_cast<std::size_t>(plane.data - map.data());
    bytes = std::max(bytes, begin + plane.stride_bytes * plane.rows);
  }
  return std::min(bytes, tensor.buffer()->size_bytes() - tensor.offset_bytes());
}

Result<TensorMap> map_bytes(const Tensor& tensor) {
  // An unclaimed map lets readers on several threads map at once. If writing is not permitted, the
  // tensor is mapped for reading.
  auto map = tensor.map_unclaimed(Access::read_write);
  if (!map && map.error().code == Errc::permission) map = tensor.map_unclaimed(Access::read);
  return map;
}

Result<hal_tensor_map*> make_map(const hal_tensor* handle) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  auto map = map_bytes(*tensor);
  if (!map) return std::move(map).error();
  const std::size_t bytes = accessible_bytes(*tensor, *map);
  return new hal_tensor_map{.map = *std::move(map), .size_bytes = bytes};
}

// Copies the planes of an image one after the other, if the layout does not include all of them.
Result<int> copy_planes(const TensorMap& map, std::uint8_t* dst, std::size_t size_bytes) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < map.plane_count(); ++i)
    total += map.plane(i).row_bytes * map.plane(i).rows;
  if (total != size_bytes) {
    return make_error(Errc::unsupported,
                      "tensor: bytes of its separate planes differ from its size");
  }
  for (std::size_t i = 0; i < map.plane_count(); ++i) {
    const MappedPlane& plane = map.plane(i);
    for (std::size_t row = 0; row < plane.rows; ++row, dst += plane.row_bytes)
      std::memcpy(dst, plane.data + row * plane.stride_bytes, plane.row_bytes);
  }
  return 0;
}

Result<int> copy_flat(const hal_tensor* handle, std::uint8_t* dst, std::size_t dst_len) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  if (dst == nullptr) return null_argument("dst: is NULL");
  if (dst_len != tensor->size_bytes()) {
    return make_error(Errc::invalid_argument, "dst_len: must be the tensor's size",
                      std::to_string(dst_len) + ", not " + std::to_string(tensor->size_bytes()));
  }
  if (dst_len == 0) return 0;
  HALYARD_TRY(const TensorMap map, tensor->map_unclaimed(Access::read));
  if (!map.planes_adjacent()) return copy_planes(map, dst, dst_len);
  HALYARD_TRY(const Layout layout, Layout::contiguous(tensor->dtype(), tensor->shape()));
  HALYARD_TRY(auto memory, wrap_memory(static_cast<void*>(dst), dst_len, nullptr));
  HALYARD_TRY(Tensor flat, Tensor::wrap(std::move(memory), layout));
  // Copy the elements, whatever the image format is.
  HALYARD_TRY(const Tensor elements,
              Tensor::wrap(tensor->buffer(), tensor->layout(), tensor->offset_bytes()));
  HALYARD_RETURN_IF_ERROR(copy(elements, flat));
  return 0;
}

// A usual answer, so guarded() keeps errno; hal_last_error() has the reason.
std::nullptr_t without_address(const Error& reason) noexcept {
  report(reason);
  return nullptr;
}

Result<void*> map_cuda(const hal_tensor* handle) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  if (!tensor->is_in_one_buffer())
    return without_address(make_error(Errc::unsupported, "device: the image has several buffers"));
  auto map = map_device(tensor->buffer(), DeviceKind::cuda);
  if (!map && map.error().code == Errc::unsupported) return without_address(map.error());
  if (!map) return std::move(map).error();
  return new hal_cuda_map{.map = *std::move(map), .offset_bytes = tensor->offset_bytes()};
}

}  // namespace

}  // namespace halyard::capi

using halyard::capi::guarded;
using halyard::capi::is_valid;

int hal_tensor_copy_to_flat(const hal_tensor* tensor, uint8_t* dst, size_t dst_len) {
  return guarded<int>(-1, [&] { return halyard::capi::copy_flat(tensor, dst, dst_len); });
}

hal_tensor_map* hal_tensor_map_create(const hal_tensor* tensor) {
  return guarded<hal_tensor_map*>(nullptr, [&] { return halyard::capi::make_map(tensor); });
}

void* hal_tensor_map_data(hal_tensor_map* map) {
  return is_valid(map) ? map->map.writable() : nullptr;
}

const void* hal_tensor_map_data_const(const hal_tensor_map* map) {
  return is_valid(map) ? map->map.data() : nullptr;
}

const size_t* hal_tensor_map_shape(const hal_tensor_map* map, size_t* out_ndim) {
  return halyard::capi::shape_of(is_valid(map) ? &map->map.layout() : nullptr, out_ndim);
}

size_t hal_tensor_map_len(const hal_tensor_map* map) {
  return is_valid(map) ? map->map.layout().element_count() : 0;
}

size_t hal_tensor_map_size(const hal_tensor_map* map) {
  return is_valid(map) ? map->size_bytes : 0;
}

void hal_tensor_map_unmap(hal_tensor_map* map) {
  if (is_valid(map)) delete map;
}

void* hal_tensor_cuda_map(const hal_tensor* tensor) {
  return guarded<void*>(nullptr, [&] { return halyard::capi::map_cuda(tensor); });
}

void* hal_tensor_cuda_device_ptr(const void* map, size_t* out_size) {
  const auto* const found = static_cast<const hal_cuda_map*>(map);
  const bool valid = is_valid(found);
  halyard::capi::store(out_size, valid ? found->map.size_bytes() - found->offset_bytes : 0);
  return valid ? static_cast<std::byte*>(found->map.address()) + found->offset_bytes : nullptr;
}

void hal_tensor_cuda_unmap(void* map) {
  auto* const found = static_cast<hal_cuda_map*>(map);
  if (is_valid(found)) delete found;
}

void hal_copy_stats(uint64_t* copies, uint64_t* bytes) {
  const halyard::CopyStats stats = halyard::copy_stats();
  halyard::capi::store(copies, stats.copies);
  halyard::capi::store(bytes, stats.bytes);
}
