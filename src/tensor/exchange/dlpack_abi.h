// SPDX-License-Identifier: Apache-2.0
// The structs of DLPack 1.x as they are in memory. They have names of their own, so that they do
// not collide with those of a dlpack.h that a caller includes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halyard/dlpack.h"

namespace halyard::dlpack_abi {

// All versions of one major number share the layout below; minor versions add types, devices and
// flags. The library writes 1.0: the first version with flags, which all readers of 1.x know.
inline constexpr std::uint32_t version_major = 1;
inline constexpr std::uint32_t version_minor = 0;

inline constexpr std::uint64_t flag_read_only = 1U << 0;
inline constexpr std::uint64_t flag_is_copied = 1U << 1;

// DLDeviceType: the devices whose memory the CPU can access.
inline constexpr std::int32_t device_cpu = 1;
inline constexpr std::int32_t device_cuda_host = 3;
inline constexpr std::int32_t device_rocm_host = 11;
inline constexpr std::int32_t device_cuda_managed = 13;

struct Version {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

struct DlDevice {
  std::int32_t type = 0;  // DLDeviceType
  std::int32_t id = 0;
};

struct DataType {
  std::uint8_t code = 0;  // DLDataTypeCode
  std::uint8_t bits = 0;
  std::uint16_t lanes = 0;
};

// Element types that the library shares with DLPack, each with one lane.
struct TypeRow {
  DType dtype;
  DataType type;
};
inline constexpr TypeRow types[] = {
    {DType::i8, {0, 8, 1}},      {DType::i16, {0, 16, 1}}, {DType::i32, {0, 32, 1}},
    {DType::i64, {0, 64, 1}},    {DType::u8, {1, 8, 1}},   {DType::u16, {1, 16, 1}},
    {DType::u32, {1, 32, 1}},    {DType::u64, {1, 64, 1}}, {DType::f16, {2, 16, 1}},
    {DType::f32, {2, 32, 1}},    {DType::f64, {2, 64, 1}}, {DType::bf16, {4, 16, 1}},
    {DType::boolean, {6, 8, 1}},
};

struct TensorInfo {
  void* data = nullptr;
  DlDevice device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // elements, not bytes; null: C-contiguous
  std::uint64_t byte_offset = 0;
};

/// DLManagedTensor, the form before 1.0.
struct Managed {
  TensorInfo tensor;
  void* manager_ctx = nullptr;
  void (*deleter)(Managed*) = nullptr;
};

/// DLManagedTensorVersioned.
struct ManagedVersioned {
  Version version;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedVersioned*) = nullptr;
  std::uint64_t flags = 0;
  TensorInfo tensor;
};

static_assert(sizeof(DataType) == 4 && offsetof(DataType, lanes) == 2);
static_assert(sizeof(DlDevice) == 8 && sizeof(Version) == 8);
// Offsets on machines with 64-bit pointers.
static_assert(sizeof(void*) != 8 ||
              (sizeof(TensorInfo) == 48 && offsetof(TensorInfo, device) == 8 &&
               offsetof(TensorInfo, ndim) == 16 && offsetof(TensorInfo, dtype) == 20 &&
               offsetof(TensorInfo, shape) == 24 && offsetof(TensorInfo, strides) == 32 &&
               offsetof(TensorInfo, byte_offset) == 40));
static_assert(sizeof(void*) != 8 ||
              (sizeof(Managed) == 64 && offsetof(Managed, manager_ctx) == 48 &&
               offsetof(Managed, deleter) == 56));
static_assert(sizeof(void*) != 8 ||
              (sizeof(ManagedVersioned) == 80 && offsetof(ManagedVersioned, manager_ctx) == 8 &&
               offsetof(ManagedVersioned, deleter) == 16 &&
               offsetof(ManagedVersioned, flags) == 24 &&
               offsetof(ManagedVersioned, tensor) == 32));

// Casts between these structs and the names of the public header for the same memory.
inline DLManagedTensor* to_public(Managed* managed) noexcept {
  return reinterpret_cast<DLManagedTensor*>(managed);
}
inline DLManagedTensorVersioned* to_public(ManagedVersioned* managed) noexcept {
  return reinterpret_cast<DLManagedTensorVersioned*>(managed);
}
inline Managed* from_public(DLManagedTensor* managed) noexcept {
  return reinterpret_cast<Managed*>(managed);
}
inline ManagedVersioned* from_public(DLManagedTensorVersioned* managed) noexcept {
  return reinterpret_cast<ManagedVersioned*>(managed);
}

}  // namespace halyard::dlpack_abi
