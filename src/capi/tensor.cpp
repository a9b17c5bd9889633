// SPDX-License-Identifier: Apache-2.0
// Tensors in C: creation, properties, shapes and parts.
#include <string>
#include <utility>

#include "capi/arguments.h"
#include "capi/error.h"
#include "capi/handles.h"
#include "halyard/c/tensor.h"
#include "halyard/import.h"

namespace halyard::capi {
namespace {

std::string name_from(const char* name) {
  return name != nullptr && is_utf8(name) ? std::string(name) : std::string();
}

Result<hal_tensor*> make_tensor(int dtype, const std::size_t* shape, std::size_t ndim, int memory,
                                const char* name) {
  HALYARD_TRY(const auto extents, shape_from(shape, ndim));
  HALYARD_TRY(const DType element, dtype_from(dtype));
  HALYARD_TRY(const Memory kind, memory_from(memory));
  HALYARD_TRY(Tensor tensor, Tensor::create(element, extents, kind));
  tensor.set_name(name_from(name));
  return new hal_tensor{.tensor = std::move(tensor)};
}

Result<hal_tensor*> make_from_fd(int dtype, int fd, const std::size_t* shape, std::size_t ndim,
                                 const char* name, bool require_sealed) {
  HALYARD_TRY(const auto extents, shape_from(shape, ndim));
  HALYARD_TRY(const DType element, dtype_from(dtype));
  HALYARD_TRY(const Layout layout, Layout::contiguous(element, extents));
  ImportOptions options;
  options.size_bytes = layout.size_bytes();
  options.require_sealed = require_sealed;
  HALYARD_TRY(auto buffer, Importer::shared().import_buffer(fd, options));
  HALYARD_TRY(Tensor tensor, Tensor::wrap(std::move(buffer), layout));
  tensor.set_name(name_from(name));
  return new hal_tensor{.tensor = std::move(tensor)};
}

Result<int> clone_fd(const hal_tensor* handle) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(Fd fd, tensor->buffer()->clone_fd());
  return fd.release();
}

Result<int> clone_dma_buf(const hal_tensor* handle) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  if (tensor->memory() != Memory::dma) {
    return make_error(Errc::unsupported, "tensor: memory must be a DMA-BUF",
                      std::string(to_string(tensor->memory())));
  }
  return clone_fd(handle);
}

Result<int> reshape(hal_tensor* handle, const std::size_t* shape, std::size_t ndim) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(const auto extents, shape_from(shape, ndim));
  HALYARD_TRY(Tensor reshaped, failing_as(Errc::invalid_argument, tensor->reshape(extents)));
  handle->tensor = std::move(reshaped);
  return 0;
}

Result<hal_tensor*> view(const hal_tensor* handle, const hal_region& part) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(const Region region, region_from(part.x, part.y, part.width, part.height));
  HALYARD_TRY(Tensor sliced, failing_as(Errc::invalid_argument, tensor->slice(region)));
  return new hal_tensor{.tensor = std::move(sliced)};
}

Result<hal_tensor*> element(const hal_tensor* handle, std::size_t n) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(Tensor found, failing_as(Errc::invalid_argument, tensor->batch(n)));
  return new hal_tensor{.tensor = std::move(found)};
}

// The stride that the C interface reports as recorded: of semi-planar and planar images, and of
// images whose rows do not fill it.
Result<std::size_t> recorded_stride(const hal_tensor* handle) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  if (!tensor->is_image()) return std::size_t{0};
  const std::size_t stride = tensor->row_stride_bytes();
  const FormatKind kind = info(*tensor->format()).kind;
  if (kind == FormatKind::semi_planar || kind == FormatKind::tri_planar) return stride;
  if (kind == FormatKind::packed && tensor->height() == 1) return std::size_t{0};
  HALYARD_TRY(const std::size_t tight,
              tight_stride(*tensor->format(), tensor->dtype(), tensor->width()));
  return stride == tight ? 0 : stride;
}

Result<std::size_t> stride(const hal_tensor* handle) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  return tensor->row_stride_bytes();
}

}  // namespace
}  // namespace halyard::capi

using halyard::capi::guarded;
using halyard::capi::is_valid;

hal_tensor* hal_tensor_new(hal_dtype dtype, const size_t* shape, size_t ndim,
                           hal_tensor_memory memory, const char* name) {
  return guarded<hal_tensor*>(
      nullptr, [&] { return halyard::capi::make_tensor(dtype, shape, ndim, memory, name); });
}

hal_tensor* hal_tensor_from_fd(hal_dtype dtype, int fd, const size_t* shape, size_t ndim,
                               const char* name) {
  return guarded<hal_tensor*>(
      nullptr, [&] { return halyard::capi::make_from_fd(dtype, fd, shape, ndim, name, false); });
}

hal_tensor* hal_tensor_from_sealed_fd(hal_dtype dtype, int fd, const size_t* shape, size_t ndim,
                                      const char* name) {
  return guarded<hal_tensor*>(
      nullptr, [&] { return halyard::capi::make_from_fd(dtype, fd, shape, ndim, name, true); });
}

void hal_tensor_free(hal_tensor* tensor) {
  if (is_valid(tensor)) delete tensor;
}

hal_dtype hal_tensor_dtype(const hal_tensor* tensor) {
  return is_valid(tensor) ? static_cast<hal_dtype>(tensor->tensor.dtype()) : HAL_DTYPE_U8;
}

size_t hal_tensor_dtype_size(const hal_tensor* tensor) {
  return is_valid(tensor) ? halyard::size_of(tensor->tensor.dtype()) : 0;
}

hal_tensor_memory hal_tensor_memory_type(const hal_tensor* tensor) {
  return is_valid(tensor) ? static_cast<hal_tensor_memory>(tensor->tensor.memory())
                          : HAL_TENSOR_MEMORY_MEM;
}

char* hal_tensor_name(const hal_tensor* tensor) {
  return guarded<char*>(nullptr, [&]() -> halyard::Result<char*> {
    HALYARD_TRY(const auto* const found, halyard::capi::tensor_of(tensor));
    if (found->name().empty()) return nullptr;
    return halyard::capi::duplicated(found->name().c_str());
  });
}

const size_t* hal_tensor_shape(const hal_tensor* tensor, size_t* out_ndim) {
  return halyard::capi::shape_of(is_valid(tensor) ? &tensor->tensor.layout() : nullptr, out_ndim);
}

size_t hal_tensor_len(const hal_tensor* tensor) {
  return is_valid(tensor) ? tensor->tensor.element_count() : 0;
}

size_t hal_tensor_size(const hal_tensor* tensor) {
  return is_valid(tensor) ? tensor->tensor.size_bytes() : 0;
}

int hal_tensor_clone_fd(const hal_tensor* tensor) {
  return guarded<int>(-1, [&] { return halyard::capi::clone_fd(tensor); });
}

int hal_tensor_dmabuf_clone(const hal_tensor* tensor) {
  return guarded<int>(-1, [&] { return halyard::capi::clone_dma_buf(tensor); });
}

int hal_tensor_reshape(hal_tensor* tensor, const size_t* shape, size_t ndim) {
  return guarded<int>(-1, [&] { return halyard::capi::reshape(tensor, shape, ndim); });
}

hal_tensor* hal_tensor_view(const hal_tensor* tensor, hal_region region) {
  return guarded<hal_tensor*>(nullptr, [&] { return halyard::capi::view(tensor, region); });
}

hal_tensor* hal_tensor_batch(const hal_tensor* tensor, size_t n) {
  return guarded<hal_tensor*>(nullptr, [&] { return halyard::capi::element(tensor, n); });
}

size_t hal_tensor_recorded_row_stride(const hal_tensor* tensor) {
  return guarded<size_t>(0, [&] { return halyard::capi::recorded_stride(tensor); });
}

size_t hal_tensor_effective_row_stride(const hal_tensor* tensor) {
  return guarded<size_t>(0, [&] { return halyard::capi::stride(tensor); });
}

size_t hal_tensor_row_stride(const hal_tensor* tensor) {
  return hal_tensor_effective_row_stride(tensor);
}
