// SPDX-License-Identifier: Apache-2.0
// DLPack consumer. It checks all fields of the producer, then wraps the memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/dlpack.h"
#include "halyard/trace.h"
#include "tensor/exchange/dlpack_abi.h"

namespace halyard {
namespace {

// Names of DLDataTypeCode and DLDeviceType by value, for messages.
constexpr const char* code_names[] = {
    "int",
    "uint",
    "float",
    "opaque handle",
    "bfloat",
    "complex",
    "bool",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
};
constexpr const char* device_names[] = {
    nullptr,     "CPU",          "CUDA",   "CUDA host", "OpenCL",  nullptr,
    nullptr,     "Vulkan",       "Metal",  "VPI",       "ROCm",    "ROCm host",
    "extension", "CUDA managed", "oneAPI", "WebGPU",    "Hexagon", "MAIA",
};

template <std::size_t N>
const char* enumerator_name(const char* const (&names)[N], std::int64_t value) {
  const bool known = value >= 0 && value < static_cast<std::int64_t>(N);
  const char* name = known ? names[value] : nullptr;
  return name != nullptr ? name : "unknown";
}

Status check_device(const dlpack_abi::DlDevice& device) {
  constexpr std::array reachable{dlpack_abi::device_cpu, dlpack_abi::device_cuda_host,
                                 dlpack_abi::device_rocm_host, dlpack_abi::device_cuda_managed};
  if (std::find(reachable.begin(), reachable.end(), device.type) != reachable.end()) return {};
  return fail(Errc::unsupported, "device: the CPU cannot reach its memory", "device type {} ({})",
              device.type, enumerator_name(device_names, device.type));
}

Result<DType> check_type(const dlpack_abi::DataType& type) {
  for (const auto& [dtype, known] : dlpack_abi::types) {
    if (type.code == known.code && type.bits == known.bits && type.lanes == known.lanes)
      return dtype;
  }
  const char* what = "dtype: has no counterpart among the element types";
  if (type.lanes != 1) what = "dtype: elements of several lanes are not supported";
  if (type.bits < 8) what = "dtype: elements of fewer than 8 bits are not supported";
  return fail(Errc::unsupported, what, "{} of {} bits, {} lanes",
              enumerator_name(code_names, type.code), type.bits, type.lanes);
}

// A C-contiguous layout with the producer's shape.
Result<Layout> check_shape(const dlpack_abi::TensorInfo& info, DType dtype) {
  if (info.ndim < 1 || info.ndim > static_cast<std::int32_t>(max_rank)) {
    return fail(Errc::invalid_argument, "ndim: must be 1..8", "{}", info.ndim);
  }
  if (info.shape == nullptr) return fail(Errc::invalid_argument, "shape: is null");
  const auto rank = static_cast<std::size_t>(info.ndim);
  std::array<std::size_t, max_rank> shape{};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (info.shape[axis] < 0) {
      return fail(Errc::invalid_argument, "shape: an extent is negative", "axis {}: {}", axis,
                  info.shape[axis]);
    }
    if (static_cast<std::uint64_t>(info.shape[axis]) > static_cast<std::uint64_t>(PTRDIFF_MAX)) {
      return fail(Errc::invalid_argument, "shape: size in bytes overflows", "axis {} of extent {}",
                  axis, info.shape[axis]);
    }
    shape[axis] = static_cast<std::size_t>(info.shape[axis]);
  }
  return Layout::contiguous(dtype, std::span(shape).first(rank));
}

// Takes the producer's strides. Those of extents 0 and 1 have no effect and stay contiguous.
Status read_strides(const dlpack_abi::TensorInfo& info, Layout& layout) {
  if (info.strides == nullptr) return {};
  const auto element = static_cast<std::ptrdiff_t>(size_of(layout.dtype));
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    if (layout.shape[axis] > 1 &&
        __builtin_mul_overflow(info.strides[axis], element, &layout.stride_bytes[axis])) {
      return fail(Errc::invalid_argument, "strides: overflow", "axis {}: {} elements", axis,
                  info.strides[axis]);
    }
  }
  return {};
}

// Address of the lowest byte.
Result<std::byte*> check_address(const dlpack_abi::TensorInfo& info, const Layout& layout,
                                 const Reach& reach) {
  const std::size_t element = size_of(layout.dtype);
  if (info.data == nullptr && reach.end != 0)
    return fail(Errc::invalid_argument, "data: is null, and there are elements");
  if (info.byte_offset % element != 0) {
    return fail(Errc::invalid_argument, "byte_offset: must be a multiple of the element size",
                "{} for {}", info.byte_offset, to_string(layout.dtype));
  }
  if (info.byte_offset > static_cast<std::uint64_t>(PTRDIFF_MAX)) {
    return fail(Errc::invalid_argument, "byte_offset: must be below 2^63, as no memory is larger",
                "{}", info.byte_offset);
  }
  auto address = reinterpret_cast<std::uintptr_t>(info.data);
  if (address % element != 0) {
    return fail(Errc::invalid_argument, "data: must lie at a multiple of the element size",
                "{} at an address ending in {:#x}", to_string(layout.dtype), address % 16);
  }
  if (reach.end == 0) return nullptr;
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(address, info.byte_offset, &address) ||
      __builtin_add_overflow(address, reach.end, &end) ||
      __builtin_add_overflow(address, reach.lowest, &address)) {
    return fail(Errc::invalid_argument, "data: the elements leave the address space",
                "byte_offset {}, strides reach {}..{} bytes", info.byte_offset, reach.lowest,
                reach.end);
  }
  return reinterpret_cast<std::byte*>(address);
}

// The producer's struct. Its deleter runs with the last user, but only if the tensor was made.
template <class ManagedType>
struct Taken {
  explicit Taken(ManagedType* m) noexcept : managed(m) {}
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    if (ours && managed->deleter != nullptr) managed->deleter(managed);
  }
  ManagedType* managed;
  bool ours = false;
};

template <class ManagedType>
Result<Tensor> take(ManagedType* managed, bool read_only) {
  const dlpack_abi::TensorInfo& info = managed->tensor;
  HALYARD_RETURN_IF_ERROR(check_device(info.device));
  HALYARD_TRY(const DType dtype, check_type(info.dtype));
  HALYARD_TRY(Layout layout, check_shape(info, dtype));
  HALYARD_RETURN_IF_ERROR(read_strides(info, layout));
  const auto bounds = reach_of(layout);
  if (!bounds) {
    return fail(Errc::invalid_argument, "strides: overflow", "they reach beyond 2^63 bytes");
  }
  const Reach& reach = *bounds;
  HALYARD_TRY(std::byte* const lowest, check_address(info, layout, reach));

  const auto taken = std::make_shared<Taken<ManagedType>>(managed);
  const std::span bytes(lowest, static_cast<std::size_t>(reach.end - reach.lowest));
  HALYARD_TRY(auto buffer, read_only ? wrap_object(std::span<const std::byte>(bytes), taken)
                                     : wrap_object(bytes, taken));
  HALYARD_TRY(Tensor tensor,
              Tensor::wrap(std::move(buffer), layout, static_cast<std::size_t>(-reach.lowest)));
  taken->ours = true;
  return tensor;
}

}  // namespace

Result<Tensor> from_dlpack(DLManagedTensorVersioned* managed) {
  trace::Span span("tensor.from_dlpack");
  if (managed == nullptr) return fail(Errc::invalid_argument, "managed: is null");
  dlpack_abi::ManagedVersioned* const told = dlpack_abi::from_public(managed);
  // With another major version, only the version field may be read.
  if (told->version.major != dlpack_abi::version_major) {
    return fail(Errc::version, "version: must be 1.x", "{}.{}", told->version.major,
                told->version.minor);
  }
  return take(told, (told->flags & dlpack_abi::flag_read_only) != 0);
}

Result<Tensor> from_dlpack(DLManagedTensor* managed) {
  trace::Span span("tensor.from_dlpack");
  if (managed == nullptr) return fail(Errc::invalid_argument, "managed: is null");
  return take(dlpack_abi::from_public(managed), false);
}

}  // namespace halyard
