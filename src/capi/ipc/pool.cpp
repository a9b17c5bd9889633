// SPDX-License-Identifier: Apache-2.0
// Pools in C: tensors in memory that processes share, and descriptors.
#include "halyard/pool.h"

#include <bit>
#include <chrono>
#include <utility>

#include "capi/error.h"
#include "capi/ipc/topics.h"
#include "halyard/ipc_info.h"

namespace halyard::capi {
namespace {

static_assert(sizeof(hal_tensor_descriptor) == sizeof(TensorDescriptor) &&
              alignof(hal_tensor_descriptor) == alignof(TensorDescriptor));
#define HALYARD_SAME_PLACE(field) \
  static_assert(offsetof(hal_tensor_descriptor, field) == offsetof(TensorDescriptor, field))
HALYARD_SAME_PLACE(pool_id);
HALYARD_SAME_PLACE(slot_id);
HALYARD_SAME_PLACE(generation_low);
HALYARD_SAME_PLACE(generation_high);
HALYARD_SAME_PLACE(offset);
HALYARD_SAME_PLACE(size);
HALYARD_SAME_PLACE(dtype_code);
HALYARD_SAME_PLACE(ndim);
HALYARD_SAME_PLACE(device_type);
HALYARD_SAME_PLACE(flags);
HALYARD_SAME_PLACE(device_id);
HALYARD_SAME_PLACE(dims);
HALYARD_SAME_PLACE(strides);
#undef HALYARD_SAME_PLACE
static_assert(HAL_DESCRIPTOR_READ_ONLY == TensorDescriptor::read_only_flag &&
              HAL_DESCRIPTOR_CONTIGUOUS == TensorDescriptor::contiguous_flag);

hal_pool_config pool_config_to_c(const TensorPoolConfig& config) noexcept {
  return {.pool_size = config.pool_size,
          .max_slots = config.max_slots,
          .slot_alignment = config.slot_alignment,
          .scrub = static_cast<int>(config.scrub),
          .prefault = config.prefault,
          .lock_memory = config.lock_memory,
          .huge_pages = config.huge_pages,
          .first_bytes = config.first_bytes};
}

hal_pool_stats pool_stats_to_c(const TensorPoolStats& stats) noexcept {
  return {.pool_id = stats.pool_id,
          .max_slots = stats.max_slots,
          .pool_size = stats.pool_size,
          .allocated_slots = stats.allocated_slots,
          .processes = stats.processes,
          .total_refcount = stats.total_refcount,
          .used_bytes = stats.used_bytes,
          .free_bytes = stats.free_bytes,
          .reserved_bytes = stats.reserved_bytes,
          .peak_used_bytes = stats.peak_used_bytes,
          .failed_allocations = stats.failed_allocations};
}

Result<hal_pool*> slot_handle(Result<std::shared_ptr<TensorPool>> pool) {
  if (!pool) return std::move(pool).error();
  return new hal_pool{.pool = *std::move(pool)};
}

Result<hal_tensor*> slot_handle(Result<TensorHandle> tensor) {
  if (!tensor) return std::move(tensor).error();
  return new hal_tensor{.tensor = *std::move(tensor)};
}

Result<hal_pool*> create_pool(std::uint32_t id, const hal_pool_config* config) {
  HALYARD_TRY(const TensorPoolConfig limits, pool_config_from(config));
  return slot_handle(TensorPool::create(id, limits));
}

// Checks the arguments and calls `allocate` with pool, extents and dtype.
template <class T, class F>
Result<T> allocated(const hal_pool* handle, int dtype, const std::size_t* shape, std::size_t ndim,
                    F&& allocate) {
  HALYARD_TRY(TensorPool* const pool, pool_of(handle));
  HALYARD_TRY(const auto extents, shape_from(shape, ndim));
  HALYARD_TRY(const DType element, dtype_from(dtype));
  return allocate(*pool, extents, element);
}

Result<hal_tensor*> allocate_image(const hal_pool* handle, std::size_t width, std::size_t height,
                                   int format, int dtype, std::size_t stride_bytes) {
  HALYARD_TRY(TensorPool* const pool, pool_of(handle));
  HALYARD_TRY(const PixelFormat pixels, format_from(format));
  HALYARD_TRY(const DType element, dtype_from(dtype));
  return slot_handle(pool->alloc_image(width, height, pixels, element, stride_bytes));
}

Result<int> describe(const hal_tensor* handle, hal_tensor_descriptor* out) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_RETURN_IF_ERROR(pointer_to(out, "out"));
  HALYARD_TRY(const TensorHandle in_pool, TensorHandle::of(*tensor));
  HALYARD_TRY(const TensorDescriptor descriptor, in_pool.descriptor());
  *out = std::bit_cast<hal_tensor_descriptor>(descriptor);
  return 0;
}

// Checks the arguments and calls `use` with pool and descriptor.
template <class T, class F>
Result<T> with_descriptor(const hal_pool* handle, const hal_tensor_descriptor* descriptor,
                          F&& use) {
  HALYARD_TRY(TensorPool* const pool, pool_of(handle));
  HALYARD_RETURN_IF_ERROR(pointer_to(descriptor, "descriptor"));
  return use(*pool, std::bit_cast<TensorDescriptor>(*descriptor));
}

Result<int> collect(hal_garbage_report* out) {
  HALYARD_RETURN_IF_ERROR(pointer_to(out, "out"));
  HALYARD_TRY(const GarbageReport report, collect_garbage());
  *out = {report.sockets, report.members, report.files, report.entries, report.skipped};
  return 0;
}

}  // namespace

}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;
using capi::is_valid;

hal_pool_config hal_pool_config_default(void) {
  return capi::pool_config_to_c(TensorPoolConfig{});
}
hal_pool_config hal_pool_config_small(void) {
  return capi::pool_config_to_c(TensorPoolConfig::small());
}
hal_pool_config hal_pool_config_large(void) {
  return capi::pool_config_to_c(TensorPoolConfig::large());
}

hal_pool* hal_pool_create(uint32_t id, const hal_pool_config* config) {
  return guarded<hal_pool*>(nullptr, [&] { return capi::create_pool(id, config); });
}
hal_pool* hal_pool_open(uint32_t id) {
  return guarded<hal_pool*>(nullptr, [&] { return capi::slot_handle(TensorPool::open(id)); });
}
hal_pool* hal_pool_default(void) {
  return guarded<hal_pool*>(nullptr, [] { return capi::slot_handle(default_pool()); });
}
void hal_pool_free(hal_pool* pool) {
  if (is_valid(pool)) delete pool;
}

uint32_t hal_pool_id(const hal_pool* pool) {
  return is_valid(pool) ? pool->pool->pool_id() : 0;
}
bool hal_pool_is_owner(const hal_pool* pool) {
  return is_valid(pool) && pool->pool->is_owner();
}

int hal_pool_get_stats(const hal_pool* pool, hal_pool_stats* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(TensorPool* const found, capi::pool_of(pool));
    HALYARD_RETURN_IF_ERROR(capi::pointer_to(out, "out"));
    *out = capi::pool_stats_to_c(found->stats());
    return 0;
  });
}

hal_tensor* hal_pool_alloc(const hal_pool* pool, hal_dtype dtype, const size_t* shape,
                           size_t ndim) {
  return guarded<hal_tensor*>(nullptr, [&] {
    return capi::allocated<hal_tensor*>(pool, dtype, shape, ndim,
                                        [](auto& from, auto extents, auto element) {
                                          return capi::slot_handle(from.alloc(extents, element));
                                        });
  });
}

hal_tensor* hal_pool_alloc_for(const hal_pool* pool, hal_dtype dtype, const size_t* shape,
                               size_t ndim, int64_t timeout_ns) {
  return guarded<hal_tensor*>(nullptr, [&] {
    return capi::allocated<hal_tensor*>(
        pool, dtype, shape, ndim, [&](auto& from, auto extents, auto element) {
          return capi::slot_handle(from.alloc_for(extents, element, Device::cpu(),
                                                  std::chrono::nanoseconds(timeout_ns)));
        });
  });
}

hal_tensor* hal_pool_alloc_image(const hal_pool* pool, size_t width, size_t height,
                                 hal_pixel_format format, hal_dtype dtype, size_t stride_bytes) {
  return guarded<hal_tensor*>(nullptr, [&] {
    return capi::allocate_image(pool, width, height, format, dtype, stride_bytes);
  });
}

int hal_tensor_descriptor_of(const hal_tensor* tensor, hal_tensor_descriptor* out) {
  return guarded<int>(-1, [&] { return capi::describe(tensor, out); });
}

hal_tensor* hal_pool_attach(const hal_pool* pool, const hal_tensor_descriptor* descriptor) {
  return guarded<hal_tensor*>(nullptr, [&] {
    return capi::with_descriptor<hal_tensor*>(pool, descriptor, [](auto& from, const auto& which) {
      return capi::slot_handle(from.attach(which));
    });
  });
}

int hal_pool_validate(const hal_pool* pool, const hal_tensor_descriptor* descriptor) {
  return guarded<int>(-1, [&] {
    return capi::with_descriptor<int>(pool, descriptor, [](auto& from, const auto& which) {
      return capi::done(from.validate(which));
    });
  });
}

int hal_pool_alloc_slot(const hal_pool* pool, hal_dtype dtype, const size_t* shape, size_t ndim,
                        hal_tensor_descriptor* out) {
  return guarded<int>(-1, [&] {
    return capi::allocated<int>(
        pool, dtype, shape, ndim, [out](auto& from, auto extents, auto element) -> Result<int> {
          HALYARD_RETURN_IF_ERROR(capi::pointer_to(out, "out"));
          HALYARD_TRY(const TensorDescriptor made, from.alloc_slot(extents, element));
          *out = std::bit_cast<hal_tensor_descriptor>(made);
          return 0;
        });
  });
}

int hal_pool_retain(const hal_pool* pool, const hal_tensor_descriptor* descriptor) {
  return guarded<int>(-1, [&] {
    return capi::with_descriptor<int>(pool, descriptor, [](auto& from, const auto& which) {
      return capi::done(from.retain(which));
    });
  });
}

int hal_pool_release(const hal_pool* pool, const hal_tensor_descriptor* descriptor) {
  return guarded<int>(-1, [&] {
    return capi::with_descriptor<int>(pool, descriptor, [](auto& from, const auto& which) {
      return capi::done(from.release(which));
    });
  });
}

void* hal_pool_bytes(const hal_pool* pool, const hal_tensor_descriptor* descriptor,
                     size_t* out_size) {
  return guarded<void*>(nullptr, [&] {
    return capi::with_descriptor<void*>(
        pool, descriptor, [out_size](auto& from, const auto& which) -> Result<void*> {
          HALYARD_RETURN_IF_ERROR(capi::aligned(out_size, "out_size"));
          HALYARD_TRY(const auto bytes, from.bytes(which));
          capi::store(out_size, bytes.size());
          return bytes.data();
        });
  });
}

int hal_collect_garbage(hal_garbage_report* out) {
  return guarded<int>(-1, [&] { return capi::collect(out); });
}
