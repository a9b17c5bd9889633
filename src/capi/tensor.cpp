// SPDX-License-Identifier: Apache-2.0
// Tensors and their memory in C.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "capi/error.h"
#include "capi/handles.h"
#include "halyard/import.h"

namespace halyard::capi {
namespace {

Result<DType> dtype_from(int value) {
  if (value < HAL_DTYPE_U8 || value > HAL_DTYPE_BOOL) {
    return make_error(Errc::invalid_argument, "dtype: is none of hal_dtype", std::to_string(value));
  }
  return static_cast<DType>(value);
}

Result<Memory> memory_from(int value) {
  switch (value) {
    case HAL_TENSOR_MEMORY_MEM:
    case HAL_TENSOR_MEMORY_DMA:
    case HAL_TENSOR_MEMORY_SHM:
    case HAL_TENSOR_MEMORY_PBO:
    case HAL_TENSOR_MEMORY_AUTO:
      return static_cast<Memory>(value);
    default:
      return make_error(Errc::invalid_argument, "memory: is none of hal_tensor_memory",
                        std::to_string(value));
  }
}

Result<std::span<const std::size_t>> shape_from(const std::size_t* shape, std::size_t ndim) {
  if (shape == nullptr) return null_argument("shape: is NULL");
  if (ndim < 1 || ndim > max_rank) {
    return make_error(Errc::invalid_argument, "ndim: must be 1..8", std::to_string(ndim));
  }
  return std::span(shape, ndim);
}

// Bytes of the UTF-8 sequence at the front of `text`, 0 when there is none. Overlong forms and
// surrogates are none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : length;
}

std::string name_from(const char* name) {
  if (name == nullptr) return {};
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t length = sequence_length(rest);
    if (length == 0) return {};
    rest.remove_prefix(length);
  }
  return name;
}

Result<hal_tensor*> make(int dtype, const std::size_t* shape, std::size_t ndim, int memory,
                         const char* name) {
  HALYARD_TRY(const auto extents, shape_from(shape, ndim));
  HALYARD_TRY(const DType element, dtype_from(dtype));
  HALYARD_TRY(const Memory kind, memory_from(memory));
  HALYARD_TRY(Tensor tensor, Tensor::create(element, extents, kind));
  tensor.set_name(name_from(name));
  return new hal_tensor{.tensor = std::move(tensor)};
}

Result<hal_tensor*> make_from_fd(int dtype, int fd, const std::size_t* shape, std::size_t ndim,
                                 const char* name) {
  HALYARD_TRY(const auto extents, shape_from(shape, ndim));
  HALYARD_TRY(const DType element, dtype_from(dtype));
  HALYARD_TRY(const Layout layout, Layout::contiguous(element, extents));
  HALYARD_TRY(auto buffer,
              Importer::shared().import_buffer(fd, {.size_bytes = layout.size_bytes()}));
  HALYARD_TRY(Tensor tensor, Tensor::wrap(std::move(buffer), layout));
  tensor.set_name(name_from(name));
  return new hal_tensor{.tensor = std::move(tensor)};
}

// C has one kind of map. It claims nothing, so that readers on several threads do not shut each
// other out, and falls back to reading where nobody may write.
Result<hal_tensor_map*> make_map(const hal_tensor* handle) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  auto map = tensor->map_unclaimed(Access::read_write);
  if (!map && map.error().code == Errc::permission) map = tensor->map_unclaimed(Access::read);
  if (!map) return std::move(map).error();
  return new hal_tensor_map{.map = *std::move(map)};
}

// From element (0, ..., 0) to the end of the one at the highest address.
std::size_t bytes_behind(const Layout& layout) noexcept {
  if (layout.element_count() == 0) return 0;
  std::size_t bytes = size_of(layout.dtype);
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    const std::ptrdiff_t stride = std::max<std::ptrdiff_t>(layout.stride_bytes[axis], 0);
    bytes += static_cast<std::size_t>(stride) * (layout.shape[axis] - 1);
  }
  return bytes;
}

const std::size_t* shape_of(const Layout* layout, std::size_t* out_ndim) noexcept {
  if (out_ndim != nullptr) *out_ndim = layout != nullptr ? layout->rank : 0;
  return layout != nullptr ? layout->shape.data() : nullptr;
}

}  // namespace
}  // namespace halyard::capi

using halyard::capi::guarded;

hal_tensor* hal_tensor_new(hal_dtype dtype, const size_t* shape, size_t ndim,
                           hal_tensor_memory memory, const char* name) {
  return guarded<hal_tensor*>(
      nullptr, [&] { return halyard::capi::make(dtype, shape, ndim, memory, name); });
}

hal_tensor* hal_tensor_from_fd(hal_dtype dtype, int fd, const size_t* shape, size_t ndim,
                               const char* name) {
  return guarded<hal_tensor*>(
      nullptr, [&] { return halyard::capi::make_from_fd(dtype, fd, shape, ndim, name); });
}

void hal_tensor_free(hal_tensor* tensor) {
  delete tensor;
}

hal_dtype hal_tensor_dtype(const hal_tensor* tensor) {
  return tensor != nullptr ? static_cast<hal_dtype>(tensor->tensor.dtype()) : HAL_DTYPE_U8;
}

size_t hal_tensor_dtype_size(const hal_tensor* tensor) {
  return tensor != nullptr ? halyard::size_of(tensor->tensor.dtype()) : 0;
}

hal_tensor_memory hal_tensor_memory_type(const hal_tensor* tensor) {
  return tensor != nullptr ? static_cast<hal_tensor_memory>(tensor->tensor.memory())
                           : HAL_TENSOR_MEMORY_MEM;
}

char* hal_tensor_name(const hal_tensor* tensor) {
  return guarded<char*>(nullptr, [&]() -> halyard::Result<char*> {
    HALYARD_TRY(const auto* const found, halyard::capi::tensor_of(tensor));
    if (found->name().empty()) return nullptr;
    char* copy = ::strdup(found->name().c_str());
    if (copy == nullptr) throw std::bad_alloc();
    return copy;
  });
}

const size_t* hal_tensor_shape(const hal_tensor* tensor, size_t* out_ndim) {
  return halyard::capi::shape_of(tensor != nullptr ? &tensor->tensor.layout() : nullptr, out_ndim);
}

size_t hal_tensor_len(const hal_tensor* tensor) {
  return tensor != nullptr ? tensor->tensor.element_count() : 0;
}

size_t hal_tensor_size(const hal_tensor* tensor) {
  return tensor != nullptr ? tensor->tensor.size_bytes() : 0;
}

int hal_tensor_clone_fd(const hal_tensor* tensor) {
  return guarded<int>(-1, [&]() -> halyard::Result<int> {
    HALYARD_TRY(const auto* const found, halyard::capi::tensor_of(tensor));
    HALYARD_TRY(halyard::Fd fd, found->buffer()->clone_fd());
    return fd.release();
  });
}

hal_tensor_map* hal_tensor_map_create(const hal_tensor* tensor) {
  return guarded<hal_tensor_map*>(nullptr, [&] { return halyard::capi::make_map(tensor); });
}

void* hal_tensor_map_data(hal_tensor_map* map) {
  return map != nullptr ? map->map.writable() : nullptr;
}

const void* hal_tensor_map_data_const(const hal_tensor_map* map) {
  return map != nullptr ? map->map.data() : nullptr;
}

const size_t* hal_tensor_map_shape(const hal_tensor_map* map, size_t* out_ndim) {
  return halyard::capi::shape_of(map != nullptr ? &map->map.layout() : nullptr, out_ndim);
}

size_t hal_tensor_map_len(const hal_tensor_map* map) {
  return map != nullptr ? map->map.layout().element_count() : 0;
}

size_t hal_tensor_map_size(const hal_tensor_map* map) {
  return map != nullptr ? halyard::capi::bytes_behind(map->map.layout()) : 0;
}

void hal_tensor_map_unmap(hal_tensor_map* map) {
  delete map;
}

void hal_copy_stats(uint64_t* copies, uint64_t* bytes) {
  const halyard::CopyStats stats = halyard::copy_stats();
  if (copies != nullptr) *copies = stats.copies;
  if (bytes != nullptr) *bytes = stats.bytes;
}
