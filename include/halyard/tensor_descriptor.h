// SPDX-License-Identifier: Apache-2.0
// TensorDescriptor: names a tensor in the memory of a pool, in 168 bytes that processes exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Kinds of memory that a descriptor can name. Values are those of the byte in the descriptor.
enum class DeviceType : std::uint8_t {
  cpu = 0,
  cuda = 1,
  cuda_host = 2,     ///< pinned memory of the CPU
  cuda_managed = 3,  ///< CUDA's unified memory
  dma_buf = 4,
};
/// "cpu", "cuda", "cuda_host", "cuda_managed", "dma_buf"; "unknown" for a foreign value.
std::string_view to_string(DeviceType type) noexcept;

/// Where the elements of a tensor are. A label: it allocates nothing.
struct Device {
  DeviceType type = DeviceType::cpu;
  std::uint8_t reserved[3] = {};
  std::uint32_t id = 0;  ///< which of several devices, from 0

  static constexpr Device cpu() noexcept { return {}; }
  static constexpr Device cuda(std::uint32_t id = 0) noexcept {
    return {.type = DeviceType::cuda, .id = id};
  }
  constexpr bool is_cpu() const noexcept { return type == DeviceType::cpu; }
  constexpr bool is_cuda() const noexcept { return type == DeviceType::cuda; }
  friend bool operator==(const Device&, const Device&) = default;

  /// Parses "cpu", "cuda", "gpu", "cuda:1", "gpu:1", "dma_buf" and so on, in upper or lower case.
  /// Errors: invalid_argument.
  static Result<Device> parse(std::string_view text);
  /// The device of DLPack's DLDeviceType and id; nullopt for a negative id and for types that
  /// DeviceType lacks.
  static std::optional<Device> from_dlpack(std::int32_t type, std::int32_t id) noexcept;
  /// DLDeviceType: 1 CPU (also DMA-BUF), 2 CUDA, 3 CUDA host, 13 CUDA managed; 0 for a foreign
  /// value.
  std::int32_t dlpack_type() const noexcept;
};
static_assert(sizeof(Device) == 8 && alignof(Device) == 4);
/// "cpu", "cuda:0"; Device::parse() accepts it. For CPU and DMA-BUF the number is left out if it is
/// 0.
std::string to_string(const Device& device);

/// Whether this process can use a CUDA device: its driver is present and reports one or more. Asks
/// the driver once. Thread-safe.
bool cuda_available() noexcept;
/// Number of CUDA devices that the driver reports, 0 without a driver. Thread-safe.
std::uint32_t cuda_device_count() noexcept;

/// A tensor in the memory of a pool. Plain bytes, little endian, the same for every process;
/// docs/shared-memory.md lists the offsets of the fields. A descriptor from another process may
/// hold any bytes: TensorPool::validate() checks whether it names a tensor that is alive.
struct TensorDescriptor {
  static constexpr std::uint8_t read_only_flag = 1;   ///< published: nobody writes the bytes
  static constexpr std::uint8_t contiguous_flag = 2;  ///< no gaps between elements

  std::uint32_t pool_id = 0;
  std::uint32_t slot_id = 0;         ///< upper 8 bits: which process's part of the pool
  std::uint32_t generation_low = 0;  ///< of the slot: odd while a tensor is in it
  std::uint32_t generation_high = 0;
  std::uint64_t offset = 0;     ///< of element (0, ..., 0) in the memory of its part of the pool
  std::uint64_t size = 0;       ///< bytes from `offset` to the end of the elements
  std::uint8_t dtype_code = 8;  ///< f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool: 0..12
  std::uint8_t ndim = 0;        ///< 0: a scalar
  std::uint8_t device_type = 0;
  std::uint8_t flags = 0;
  std::uint32_t device_id = 0;
  std::uint64_t dims[max_rank] = {};
  std::uint64_t strides[max_rank] = {};  ///< bytes

  std::uint64_t generation() const noexcept {
    return std::uint64_t{generation_high} << 32U | generation_low;
  }
  void set_generation(std::uint64_t generation) noexcept {
    generation_low = static_cast<std::uint32_t>(generation);
    generation_high = static_cast<std::uint32_t>(generation >> 32U);
  }
  /// At most 8 extents, also for a larger `ndim`.
  std::span<const std::uint64_t> shape() const noexcept;
  /// nullopt: the byte is not an element type.
  std::optional<DType> dtype() const noexcept;
  void set_dtype(DType dtype) noexcept;
  /// nullopt: the byte is not a device.
  std::optional<Device> device() const noexcept;
  void set_device(Device device) noexcept;
  bool is_cpu() const noexcept { return device_type == 0; }
  bool is_cuda() const noexcept { return device_type == 1; }

  /// The bytes, extents and strides of a layout, without a place in a pool. Errors:
  /// invalid_argument (rank 0 or above 8, elements that reach beyond 2^63), unsupported (a negative
  /// stride).
  static Result<TensorDescriptor> of_layout(const Layout& layout);
  /// The layout that the fields describe. Errors: malformed, naming the field: more than 8
  /// dimensions, an unknown element type or device, a product or an end of the elements beyond
  /// 2^63, a `size` that differs from the bytes that extents and strides cover.
  Result<Layout> layout() const;
  friend bool operator==(const TensorDescriptor&, const TensorDescriptor&) = default;
};
static_assert(sizeof(TensorDescriptor) == 168 && alignof(TensorDescriptor) == 8);
static_assert(offsetof(TensorDescriptor, pool_id) == 0 &&
              offsetof(TensorDescriptor, slot_id) == 4 &&
              offsetof(TensorDescriptor, generation_low) == 8 &&
              offsetof(TensorDescriptor, generation_high) == 12);
static_assert(offsetof(TensorDescriptor, offset) == 16 && offsetof(TensorDescriptor, size) == 24);
static_assert(offsetof(TensorDescriptor, dtype_code) == 32 &&
              offsetof(TensorDescriptor, ndim) == 33 &&
              offsetof(TensorDescriptor, device_type) == 34 &&
              offsetof(TensorDescriptor, flags) == 35 &&
              offsetof(TensorDescriptor, device_id) == 36);
static_assert(offsetof(TensorDescriptor, dims) == 40 && offsetof(TensorDescriptor, strides) == 104);

}  // namespace halyard
HALYARD_EXPORTS_END
