// SPDX-License-Identifier: Apache-2.0
// Devices by name and number, and descriptors as layouts. pool.cpp finds the tensor that a
// descriptor names.
#include "halyard/tensor_descriptor.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/text/format_error.h"
#include "halyard/log.h"

namespace halyard {
namespace {

struct DeviceRow {
  std::string_view name;
  std::int32_t dlpack;
};
// In the order of DeviceType.
constexpr std::array<DeviceRow, 5> devices = {
    {{"cpu", 1}, {"cuda", 2}, {"cuda_host", 3}, {"cuda_managed", 13}, {"dma_buf", 1}}};

// The element type of each code of a descriptor.
constexpr std::array<DType, 13> descriptor_dtypes = {
    DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,  DType::i16,    DType::i32,
    DType::i64, DType::u8,  DType::u16, DType::u32,  DType::u64, DType::boolean};

constexpr std::uint64_t max_bytes = PTRDIFF_MAX;

std::optional<DeviceType> device_type_from(std::string_view lower_case) {
  if (lower_case == "gpu") return DeviceType::cuda;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (lower_case == devices[i].name) return static_cast<DeviceType>(i);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> number_from(std::string_view digits) {
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Reads extents and strides into the types of a Layout.
Status read_axes(const TensorDescriptor& d, Layout& layout) {
  for (std::size_t axis = 0; axis < d.ndim; ++axis) {
    if (d.dims[axis] > max_bytes || d.strides[axis] > max_bytes) {
      return fail(Errc::malformed, "descriptor.dims, strides: must be below 2^63",
                  "axis {}: extent {}, stride {}", axis, d.dims[axis], d.strides[axis]);
    }
    layout.shape[axis] = static_cast<std::size_t>(d.dims[axis]);
    layout.stride_bytes[axis] = static_cast<std::ptrdiff_t>(d.strides[axis]);
  }
  return {};
}

}  // namespace

std::string_view to_string(DeviceType type) noexcept {
  const auto i = static_cast<std::size_t>(type);
  return i < devices.size() ? devices[i].name : "unknown";
}

Result<Device> Device::parse(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t colon = lower.find(':');
  const auto type = device_type_from(std::string_view(lower).substr(0, colon));
  const auto id = colon == std::string::npos
                      ? std::optional<std::uint32_t>(0)
                      : number_from(std::string_view(lower).substr(colon + 1));
  if (!type || !id) {
    return fail(Errc::invalid_argument,
                "device: must be cpu, cuda, gpu, cuda_host, cuda_managed or dma_buf, and may have "
                "a number behind a colon",
                "\"{}\"", printable(text.substr(0, 64)));
  }
  return Device{.type = *type, .id = *id};
}

std::optional<Device> Device::from_dlpack(std::int32_t type, std::int32_t id) noexcept {
  if (id < 0) return std::nullopt;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].dlpack == type)
      return Device{.type = static_cast<DeviceType>(i), .id = static_cast<std::uint32_t>(id)};
  }
  return std::nullopt;
}

std::int32_t Device::dlpack_type() const noexcept {
  const auto i = static_cast<std::size_t>(type);
  return i < devices.size() ? devices[i].dlpack : 0;
}

std::string to_string(const Device& device) {
  const bool is_one_of_many = device.type != DeviceType::cpu && device.type != DeviceType::dma_buf;
  if (!is_one_of_many && device.id == 0) return std::string(to_string(device.type));
  return fmt::format("{}:{}", to_string(device.type), device.id);
}

std::span<const std::uint64_t> TensorDescriptor::shape() const noexcept {
  return {dims, std::min<std::size_t>(ndim, max_rank)};
}

std::optional<DType> TensorDescriptor::dtype() const noexcept {
  if (dtype_code >= descriptor_dtypes.size()) return std::nullopt;
  return descriptor_dtypes[dtype_code];
}

void TensorDescriptor::set_dtype(DType dtype) noexcept {
  const auto* const found = std::find(descriptor_dtypes.begin(), descriptor_dtypes.end(), dtype);
  dtype_code = static_cast<std::uint8_t>(found - descriptor_dtypes.begin());
}

std::optional<Device> TensorDescriptor::device() const noexcept {
  if (device_type >= devices.size()) return std::nullopt;
  return Device{.type = static_cast<DeviceType>(device_type), .id = device_id};
}

void TensorDescriptor::set_device(Device device) noexcept {
  device_type = static_cast<std::uint8_t>(device.type);
  device_id = device.id;
}

Result<TensorDescriptor> TensorDescriptor::of_layout(const Layout& layout) {
  if (layout.rank == 0 || layout.rank > max_rank) {
    return fail(Errc::invalid_argument, "layout.rank: must be 1..8", "{}", layout.rank);
  }
  const auto reach = reach_of(layout);
  if (!reach) return fail(Errc::invalid_argument, "layout: its elements reach beyond 2^63 bytes");
  TensorDescriptor d;
  d.set_dtype(layout.dtype);
  d.ndim = layout.rank;
  d.size = static_cast<std::uint64_t>(reach->end);
  if (layout.is_contiguous()) d.flags |= contiguous_flag;
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    if (layout.stride_bytes[axis] < 0) {
      return fail(Errc::unsupported, "layout.stride_bytes: a descriptor has no negative strides",
                  "axis {}: {}", axis, layout.stride_bytes[axis]);
    }
    d.dims[axis] = layout.shape[axis];
    d.strides[axis] = static_cast<std::uint64_t>(layout.stride_bytes[axis]);
  }
  return d;
}

Result<Layout> TensorDescriptor::layout() const {
  const auto type = dtype();
  if (!type) return fail(Errc::malformed, "descriptor.dtype_code: must be 0..12", "{}", dtype_code);
  if (!device()) {
    return fail(Errc::malformed, "descriptor.device_type: must be 0..4", "{}", device_type);
  }
  if (ndim > max_rank) return fail(Errc::malformed, "descriptor.ndim: must be 0..8", "{}", ndim);
  Layout layout;
  layout.dtype = *type;
  layout.rank = ndim;
  HALYARD_RETURN_IF_ERROR(read_axes(*this, layout));
  if (ndim == 0) {
    layout.rank = 1;
    layout.shape[0] = 1;
    layout.stride_bytes[0] = static_cast<std::ptrdiff_t>(size_of(*type));
  }
  if (!Layout::contiguous(*type, layout.dims())) {
    return fail(Errc::malformed, "descriptor.dims: their product is beyond 2^63 bytes");
  }
  const auto reach = reach_of(layout);
  if (!reach) return fail(Errc::malformed, "descriptor.strides: they reach beyond 2^63 bytes");
  if (size != static_cast<std::uint64_t>(reach->end)) {
    return fail(Errc::malformed, "descriptor.size: must be what extents and strides reach",
                "{} bytes, they reach {}", size, reach->end);
  }
  return layout;
}

}  // namespace halyard
