// SPDX-License-Identifier: Apache-2.0
// A deep-learning accelerator like NVDLA; see nvdla.org, "In-memory data formats".
#include "base/text/format_error.h"
#include "reconcile/engines/engines.h"
#include "reconcile/engines/table_engine.h"

namespace halyard {

namespace {

class Dla : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest& request, AttributeList& list) const override {
    HALYARD_RETURN_IF_ERROR(memory(list));
    HALYARD_RETURN_IF_ERROR(type(request, list));
    for (std::size_t axis = 0; axis < 3; ++axis)
      HALYARD_RETURN_IF_ERROR(set(list, Key::max_axis, "max_extent", axis));
    HALYARD_RETURN_IF_ERROR(set(list, Key::max_axis, "max_batch", 3));
    HALYARD_RETURN_IF_ERROR(set(list, Key::row_align, "row"));
    HALYARD_RETURN_IF_ERROR(set(list, Key::surf_align, "row"));
    return layouts(request, list);
  }

 private:
  Status memory(AttributeList& list) const {
    constexpr std::uint64_t heaps = ((std::uint64_t{1} << heap_count) - 1) & ~bit(Heap::pbo);
    constexpr auto domains = static_cast<std::uint64_t>(Coherency::cpu_sync) |
                             static_cast<std::uint64_t>(Coherency::hardware);
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::heaps, heaps));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::domains, domains));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::attach, static_cast<std::uint64_t>(Attach::dma)));
    HALYARD_RETURN_IF_ERROR(set(list, Key::base_align, "base_align"));
    return set(list, Key::size_max, "size_max");
  }

  /// Accepts i8 and f16 only: a party with another type gets a conflict with i8.
  Status type(const BufferRequest& request, AttributeList& list) const {
    const bool is_half = request.dtype == DType::f16;
    HALYARD_RETURN_IF_ERROR(
        set_fact(list, Key::dtype, static_cast<std::uint64_t>(is_half ? DType::f16 : DType::i8)));
    if (!is_half) return {};
    return set_fact(list, Key::pad_fill, static_cast<std::uint64_t>(PadFill::not_nan));
  }

  /// Blocks of one atom of channels; pixels of a camera, of up to four channels; planes.
  Status layouts(const BufferRequest& request, AttributeList& list) const {
    const std::uint64_t element = request.dtype == DType::f16 ? 2 : 1;
    const auto x = static_cast<std::uint32_t>(number("atom") / element);
    HALYARD_RETURN_IF_ERROR(list.accept(LayoutTag::tensor(AxisOrder::nc_hwx, x)));
    const std::size_t channels =
        request.shape.size() >= 3 ? request.shape[request.shape.size() - 3] : 1;
    if (channels == 1 || channels == 3 || channels == 4) {
      AttributeList pixels(list.party());
      HALYARD_RETURN_IF_ERROR(set(pixels, Key::cpad, "pixel_channels"));
      HALYARD_RETURN_IF_ERROR(list.accept(LayoutTag::tensor(AxisOrder::nhwc), 0, pixels));
    }
    AttributeList planes(list.party());
    HALYARD_RETURN_IF_ERROR(set(planes, Key::row_align, "plane_row"));
    return list.accept(LayoutTag::tensor(AxisOrder::nchw), 1, planes);
  }
};

}  // namespace

MadeEngine make_dla(std::string_view name, std::string_view json) {
  constexpr Setting table[] = {{"atom", 32},          {"row", 32},         {"plane_row", 64},
                               {"pixel_channels", 4}, {"base_align", 512}, {"size_max", 0xFFFFFFFF},
                               {"max_batch", 65536},  {"max_extent", 8192}};
  HALYARD_TRY(Settings settings, Settings::read(name, table, json));
  if (settings.number("atom") < 2 || settings.number("atom") > 1024)
    return fail(Errc::invalid_argument, "an atom has 2 to 1024 bytes", "{}: {}", name,
                settings.number("atom"));
  return std::shared_ptr<const BufferEngine>(std::make_shared<Dla>(name, std::move(settings)));
}

}  // namespace halyard
