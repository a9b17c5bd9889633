// SPDX-License-Identifier: Apache-2.0
// DLPack producer. The manager's context holds a map until the consumer is done.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/text/format_error.h"
#include "halyard/dlpack.h"
#include "halyard/trace.h"
#include "tensor/exchange/dlpack_abi.h"

namespace halyard {
namespace {

// What a consumer holds. The deleter ends the map, on any thread.
template <class ManagedType>
struct Exported {
  TensorMap map;
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
Status check_exportable(const TensorMap& map) {
  if (!map.planes_adjacent()) {
    return fail(Errc::unsupported, "dlpack: the image's planes do not follow one another");
  }
  const Layout& layout = map.layout();
  const std::size_t element = size_of(layout.dtype);
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    if (layout.stride_bytes[axis] % static_cast<std::ptrdiff_t>(element) != 0) {
      return fail(Errc::unsupported, "dlpack: strides must be multiples of the element size",
                  "axis {}: {} bytes, {} has {}", axis, layout.stride_bytes[axis],
                  to_string(layout.dtype), element);
    }
  }
  const auto address = reinterpret_cast<std::uintptr_t>(map.data());
  if (address % element != 0) {
    return fail(Errc::unsupported, "dlpack: the elements do not lie at multiples of their size",
                "{} at an address ending in {:#x}", to_string(layout.dtype), address % 16);
  }
  return {};
}

template <class ManagedType>
Result<std::unique_ptr<Exported<ManagedType>>> export_tensor(const Tensor& tensor, Access access) {
  trace::Span span("tensor.to_dlpack");
  HALYARD_TRY(TensorMap map, tensor.map_unclaimed(access));
  HALYARD_RETURN_IF_ERROR(check_exportable(map));
  std::unique_ptr<Exported<ManagedType>> out(new Exported<ManagedType>{std::move(map)});
  const Layout& layout = out->map.layout();
  const auto element = static_cast<std::ptrdiff_t>(size_of(layout.dtype));
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    out->shape[axis] = static_cast<std::int64_t>(layout.shape[axis]);
    out->strides[axis] = layout.stride_bytes[axis] / element;
  }
  dlpack_abi::TensorInfo& info = out->managed.tensor;
  // DLPack wants a null address if there are no elements. The flag holds whether writing is
  // allowed.
  if (layout.element_count() != 0) info.data = const_cast<std::byte*>(out->map.data());
  info.device = {dlpack_abi::device_cpu, 0};
  info.ndim = layout.rank;
  info.dtype = data_type(layout.dtype);
  info.shape = out->shape.data();
  info.strides = out->strides.data();
  out->managed.manager_ctx = out.get();
  out->managed.deleter = &Exported<ManagedType>::release;
  return out;
}

}  // namespace

Result<DLManagedTensorVersioned*> to_dlpack(const Tensor& tensor, const DlpackOptions& options) {
  const Access access = options.read_only ? Access::read : Access::read_write;
  HALYARD_TRY(auto exported, export_tensor<dlpack_abi::ManagedVersioned>(tensor, access));
  exported->managed.version = {dlpack_abi::version_major, dlpack_abi::version_minor};
  exported->managed.flags = options.read_only ? dlpack_abi::flag_read_only : 0;
  return dlpack_abi::to_public(&exported.release()->managed);
}

Result<DLManagedTensor*> to_dlpack_unversioned(const Tensor& tensor) {
  HALYARD_TRY(auto exported, export_tensor<dlpack_abi::Managed>(tensor, Access::read_write));
  return dlpack_abi::to_public(&exported.release()->managed);
}

}  // namespace halyard
