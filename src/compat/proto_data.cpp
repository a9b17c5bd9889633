// SPDX-License-Identifier: Apache-2.0
// Prototypes and coefficients, which a program may take out as tensors.
#include "base/text/format_error.h"
#include "compat/segmentation.h"
#include "halyard/view.h"

namespace halyard::compat {

ProtoData::ProtoData() noexcept = default;
ProtoData::ProtoData(ProtoData&&) noexcept = default;
ProtoData& ProtoData::operator=(ProtoData&&) noexcept = default;
ProtoData::~ProtoData() = default;

ProtoData ProtoAccess::make(MaskPrototypes masks) {
  ProtoData out;
  out.masks_ = std::move(masks);
  out.has_protos_ = out.has_coefficients_ = true;
  return out;
}

ProtoLayout ProtoData::layout() const noexcept {
  return masks_.order == PrototypeOrder::channels_height_width ? ProtoLayout::nchw
                                                               : ProtoLayout::nhwc;
}

std::size_t ProtoData::size() const noexcept {
  return masks_.size();
}

bool ProtoData::has_protos() const noexcept {
  return has_protos_;
}

bool ProtoData::has_coefficients() const noexcept {
  return has_coefficients_;
}

std::optional<Tensor> ProtoData::take_protos() noexcept {
  if (!has_protos_) return std::nullopt;
  has_protos_ = false;
  return std::exchange(masks_.prototypes, Tensor());
}

namespace {

template <class T, class From>
Status fill(Tensor& out, const std::vector<From>& values) {
  HALYARD_TRY(const TensorMap map, out.map(Access::write));
  HALYARD_TRY(const auto to, map.flat<T>());
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<T>(values[i]);
  return {};
}

}  // namespace

Result<std::optional<Tensor>> ProtoData::take_mask_coefficients() {
  if (!has_coefficients_) return std::optional<Tensor>();
  const bool is_stored =
      !masks_.stored.empty() && masks_.stored.size() == masks_.coefficients.size();
  const DType dtype = is_stored ? masks_.stored_dtype : DType::f32;
  HALYARD_TRY(Tensor out, Tensor::create(dtype, {masks_.size(), masks_.channels}, Memory::mem));
  if (masks_.size() != 0) {
    switch (dtype) {
      case DType::i8:
        HALYARD_RETURN_IF_ERROR(fill<std::int8_t>(out, masks_.stored));
        break;
      case DType::u8:
        HALYARD_RETURN_IF_ERROR(fill<std::uint8_t>(out, masks_.stored));
        break;
      case DType::i16:
        HALYARD_RETURN_IF_ERROR(fill<std::int16_t>(out, masks_.stored));
        break;
      case DType::u16:
        HALYARD_RETURN_IF_ERROR(fill<std::uint16_t>(out, masks_.stored));
        break;
      default:
        HALYARD_RETURN_IF_ERROR(fill<float>(out, masks_.coefficients));
        break;
    }
  }
  if (is_stored) {
    HALYARD_RETURN_IF_ERROR(out.set_quantization(
        Quantization::per_tensor(masks_.stored_scale, masks_.stored_zero_point)));
  }
  has_coefficients_ = false;
  return std::optional<Tensor>(std::move(out));
}

const MaskPrototypes& ProtoData::prototypes() const noexcept {
  static const MaskPrototypes none;
  return has_protos_ && has_coefficients_ ? masks_ : none;
}

}  // namespace halyard::compat
