// SPDX-License-Identifier: Apache-2.0
// DLPack producer. The manager's context holds a map, of the CPU or of a device, until the consumer
// is done.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/text/format_error.h"
#include "halyard/device.h"
#include "halyard/dlpack.h"
#include "halyard/trace.h"
#include "tensor/exchange/dlpack_abi.h"

namespace halyard {
namespace {

// What is exported: elements at an address of a device.
struct Elements {
  const Layout& layout;
  const void* data;
  dlpack_abi::DlDevice device;
};

// What a consumer holds. The deleter ends the access, on any thread.
template <class ManagedType, class Held>
struct Exported {
  Held held;
  std::array<std::int64_t, max_rank> shape{};
  std::array<std::int64_t, max_rank> strides{};
  ManagedType managed{};

  static void release(ManagedType* managed) noexcept {
    if (managed == nullptr) return;
    delete static_cast<Exported*>(std::exchange(managed->manager_ctx, nullptr));
  }
};

dlpack_abi::DataType data_type(DType dtype) noexcept {
  const auto* row = std::find_if(std::begin(dlpack_abi::types), std::end(dlpack_abi::types),
                                 [dtype](const auto& r) { return r.dtype == dtype; });
  HALYARD_ASSERT(row != std::end(dlpack_abi::types));
  return row->type;
}

// One pointer and strides in whole elements must describe the whole tensor.
Status check_exportable(const Elements& elements) {
  const Layout& layout = elements.layout;
  const std::size_t element = size_of(layout.dtype);
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    if (layout.stride_bytes[axis] % static_cast<std::ptrdiff_t>(element) != 0) {
      return fail(Errc::unsupported, "dlpack: strides must be multiples of the element size",
                  "axis {}: {} bytes, {} has {}", axis, layout.stride_bytes[axis],
                  to_string(layout.dtype), element);
    }
  }
  const auto address = reinterpret_cast<std::uintptr_t>(elements.data);
  if (address % element != 0) {
    return fail(Errc::unsupported, "dlpack: the elements do not lie at multiples of their size",
                "{} at an address ending in {:#x}", to_string(layout.dtype), address % 16);
  }
  return {};
}

Status check_adjacent(bool adjacent) {
  if (adjacent) return {};
  return fail(Errc::unsupported, "dlpack: the image's planes do not follow one another");
}

template <class ManagedType, class Held>
std::unique_ptr<Exported<ManagedType, Held>> export_elements(const Elements& elements, Held held) {
  std::unique_ptr<Exported<ManagedType, Held>> out(
      new Exported<ManagedType, Held>{std::move(held)});
  const Layout& layout = elements.layout;
  const auto element = static_cast<std::ptrdiff_t>(size_of(layout.dtype));
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    out->shape[axis] = static_cast<std::int64_t>(layout.shape[axis]);
    out->strides[axis] = layout.stride_bytes[axis] / element;
  }
  dlpack_abi::TensorInfo& info = out->managed.tensor;
  // DLPack wants a null address if there are no elements. The flag holds whether writing is
  // allowed.
  if (layout.element_count() != 0) info.data = const_cast<void*>(elements.data);
  info.device = elements.device;
  info.ndim = layout.rank;
  info.dtype = data_type(layout.dtype);
  info.shape = out->shape.data();
  info.strides = out->strides.data();
  out->managed.manager_ctx = out.get();
  out->managed.deleter = &Exported<ManagedType, Held>::release;
  return out;
}

template <class ManagedType>
Result<std::unique_ptr<Exported<ManagedType, TensorMap>>> export_for_cpu(const Tensor& tensor,
                                                                         Access access) {
  trace::Span span("tensor.to_dlpack");
  HALYARD_TRY(TensorMap map, tensor.map_unclaimed(access));
  HALYARD_RETURN_IF_ERROR(check_adjacent(map.planes_adjacent()));
  const Layout layout = map.layout();
  const Elements elements{layout, map.data(), {dlpack_abi::device_cpu, 0}};
  HALYARD_RETURN_IF_ERROR(check_exportable(elements));
  return export_elements<ManagedType>(elements, std::move(map));
}

Status check_map(const Tensor& tensor, const DeviceMap* map, Access access) {
  if (map == nullptr || map->buffer() == nullptr)
    return fail(Errc::invalid_argument, "map: must map a buffer on a device");
  if (tensor.buffer() != map->buffer() || !tensor.is_in_one_buffer())
    return fail(Errc::invalid_argument, "map: must be of the buffer that holds the tensor");
  if (can_write(access) && !tensor.buffer()->is_writable())
    return fail(Errc::permission, "tensor: its memory is read-only");
  if (tensor.modifier() == drm_modifier_linear) return check_adjacent(tensor.planes_adjacent());
  return fail(Errc::unsupported, "dlpack: the image is not linear", "modifier {:#x}",
              tensor.modifier());
}

using SharedDeviceMap = std::shared_ptr<const DeviceMap>;

template <class ManagedType>
Result<std::unique_ptr<Exported<ManagedType, SharedDeviceMap>>> export_for_device(
    const Tensor& tensor, SharedDeviceMap map, Access access) {
  trace::Span span("tensor.to_dlpack");
  HALYARD_RETURN_IF_ERROR(check_map(tensor, map.get(), access));
  const auto* data = static_cast<const std::byte*>(map->address()) + tensor.offset_bytes();
  const Elements elements{
      tensor.layout(), data, {static_cast<std::int32_t>(map->device()), map->device_number()}};
  HALYARD_RETURN_IF_ERROR(check_exportable(elements));
  return export_elements<ManagedType>(elements, std::move(map));
}

Access access_of(const DlpackOptions& options) noexcept {
  return options.read_only ? Access::read : Access::read_write;
}

template <class Held>
DLManagedTensorVersioned* versioned(
    std::unique_ptr<Exported<dlpack_abi::ManagedVersioned, Held>> exported,
    const DlpackOptions& options) noexcept {
  exported->managed.version = {dlpack_abi::version_major, dlpack_abi::version_minor};
  exported->managed.flags = options.read_only ? dlpack_abi::flag_read_only : 0;
  return dlpack_abi::to_public(&exported.release()->managed);
}

}  // namespace

Result<DLManagedTensorVersioned*> to_dlpack(const Tensor& tensor, const DlpackOptions& options) {
  HALYARD_TRY(auto exported,
              export_for_cpu<dlpack_abi::ManagedVersioned>(tensor, access_of(options)));
  return versioned(std::move(exported), options);
}

Result<DLManagedTensor*> to_dlpack_unversioned(const Tensor& tensor) {
  HALYARD_TRY(auto exported, export_for_cpu<dlpack_abi::Managed>(tensor, Access::read_write));
  return dlpack_abi::to_public(&exported.release()->managed);
}

Result<DLManagedTensorVersioned*> to_dlpack(const Tensor& tensor,
                                            std::shared_ptr<const DeviceMap> map,
                                            const DlpackOptions& options) {
  HALYARD_TRY(auto exported, export_for_device<dlpack_abi::ManagedVersioned>(tensor, std::move(map),
                                                                             access_of(options)));
  return versioned(std::move(exported), options);
}

Result<DLManagedTensor*> to_dlpack_unversioned(const Tensor& tensor,
                                               std::shared_ptr<const DeviceMap> map) {
  HALYARD_TRY(auto exported,
              export_for_device<dlpack_abi::Managed>(tensor, std::move(map), Access::read_write));
  return dlpack_abi::to_public(&exported.release()->managed);
}

}  // namespace halyard
