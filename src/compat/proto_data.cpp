// SPDX-License-Identifier: Apache-2.0
// Prototypes and coefficients, which a program may take out as tensors.
#include <bit>

#include "compat/segmentation.h"
#include "halyard/strided_copy.h"

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

template <class T>
const std::byte* bytes_of(const std::vector<T>& numbers) noexcept {
  static_assert(sizeof(T) == 4 && std::endian::native == std::endian::little);
  return reinterpret_cast<const std::byte*>(numbers.data());
}

}  // namespace

Result<std::optional<Tensor>> ProtoData::take_mask_coefficients() {
  if (!has_coefficients_) return std::optional<Tensor>();
  const bool is_stored =
      !masks_.stored.empty() && masks_.stored.size() == masks_.coefficients.size();
  const DType dtype = is_stored ? masks_.stored_dtype : DType::f32;
  HALYARD_TRY(Tensor out, Tensor::create(dtype, {masks_.size(), masks_.channels}, Memory::mem));
  HALYARD_TRY(const TensorMap map, out.map(Access::write));
  // The low bytes of 32-bit numbers.
  Layout from = out.layout();
  from.stride_bytes[0] = static_cast<std::ptrdiff_t>(4 * masks_.channels);
  from.stride_bytes[1] = 4;
  copy_elements(from, is_stored ? bytes_of(masks_.stored) : bytes_of(masks_.coefficients),
                out.layout(), map.writable());
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
