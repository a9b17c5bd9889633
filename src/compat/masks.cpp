// SPDX-License-Identifier: Apache-2.0
// Masks: lists of bytes, prototypes and coefficients, class ids from masks, class scores as bytes.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/format_error.h"
#include "compat/decoder_state.h"
#include "halyard/byte_levels.h"
#include "halyard/semantic.h"

namespace halyard::compat {

SegmentationList::SegmentationList() noexcept = default;
SegmentationList::SegmentationList(SegmentationList&&) noexcept = default;
SegmentationList& SegmentationList::operator=(SegmentationList&&) noexcept = default;
SegmentationList::~SegmentationList() = default;

void SegmentationList::clear() noexcept {
  views_.clear();
}

std::uint8_t* SegmentationList::reset(std::size_t bytes, std::size_t masks) {
  views_.clear();
  views_.reserve(masks);
  if (capacity_ < bytes) {
    bytes_.reset(new std::uint8_t[bytes]);  // not zeroed, because all bytes are written
    capacity_ = bytes;
  }
  return bytes_.get();
}

void SegmentationList::assign(const MaskSet& masks) {
  const auto bytes_of = [](const MaskView& mask) {
    return static_cast<std::size_t>(mask.region.width) *
           static_cast<std::size_t>(mask.region.height);
  };
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < masks.size(); ++i)
    bytes += bytes_of(masks[i]);
  std::uint8_t* at = reset(bytes, masks.size());
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const MaskView mask = masks[i];
    const std::size_t count = bytes_of(mask);
    if (count != 0) std::memcpy(at, mask.data, count);
    const RegionF part = masks.fraction(i);
    views_.push_back(
        {Box{static_cast<float>(part.x), static_cast<float>(part.y),
             static_cast<float>(part.x + part.width), static_cast<float>(part.y + part.height)},
         static_cast<std::size_t>(mask.region.height), static_cast<std::size_t>(mask.region.width),
         1, at});
    at += count;
  }
}

std::uint8_t* SegmentationList::assign(std::size_t height, std::size_t width,
                                       std::size_t channels) {
  std::uint8_t* const bytes = reset(height * width * channels, 1);
  views_.push_back({Box{0, 0, 1, 1}, height, width, channels, bytes});
  return bytes;
}

Result<Tensor> segmentation_to_mask(const Segmentation& segmentation) {
  const std::size_t pixels = segmentation.height * segmentation.width;
  const std::size_t channels = segmentation.channels;
  if (pixels == 0 || channels == 0 || channels > 256 || segmentation.data == nullptr) {
    return fail(Errc::invalid_argument, "segmentation: needs pixels, and 1..256 channels",
                "{} x {} x {}", segmentation.height, segmentation.width, channels);
  }
  HALYARD_TRY(Tensor out,
              Tensor::create(DType::u8, {segmentation.height, segmentation.width}, Memory::mem));
  HALYARD_TRY(const TensorMap map, out.map(Access::write));
  HALYARD_TRY(const auto ids, map.flat<std::uint8_t>());
  const std::uint8_t* pixel = segmentation.data;
  for (std::uint8_t& id : ids) {
    id = channels == 1
             ? static_cast<std::uint8_t>(*pixel >= 128)
             : static_cast<std::uint8_t>(std::max_element(pixel, pixel + channels) - pixel);
    pixel += channels;
  }
  return out;
}

ProtoData::ProtoData() noexcept = default;
ProtoData::ProtoData(ProtoData&&) noexcept = default;
ProtoData& ProtoData::operator=(ProtoData&&) noexcept = default;
ProtoData::~ProtoData() = default;

ProtoData::ProtoData(MaskPrototypes masks) noexcept : masks_(std::move(masks)) {
  has_protos_ = has_coefficients_ = true;
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

Result<std::optional<Tensor>> ProtoData::take_mask_coefficients() {
  if (!has_coefficients_) return std::optional<Tensor>();
  HALYARD_TRY(Tensor out, masks_.coefficient_tensor());
  has_coefficients_ = false;
  return std::optional<Tensor>(std::move(out));
}

const MaskPrototypes& ProtoData::prototypes() const noexcept {
  static const MaskPrototypes none;
  return has_protos_ && has_coefficients_ ? masks_ : none;
}

Status Decoder::Impl::class_scores(std::span<const Tensor> ordered, std::size_t batch,
                                   SegmentationList& out) const {
  if (!model.segmentation) return {};
  const Tensor& scores = ordered[*model.segmentation];
  const OutputDescription& output = model.outputs.outputs()[*model.segmentation];
  HALYARD_TRY(const TensorMap map, scores.map(Access::read));
  HALYARD_TRY(const SemanticView view, semantic_view(map.layout(), output, batch));
  const auto& shape = view.layout.shape;
  std::uint8_t* const bytes = out.assign(shape[0], shape[1], shape[2]);
  Status made = byte_levels(view.layout, map.data() + view.offset_bytes, bytes);
  if (!made) out.clear();
  return made;
}

}  // namespace halyard::compat
