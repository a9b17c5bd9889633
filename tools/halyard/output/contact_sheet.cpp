// SPDX-License-Identifier: Apache-2.0
// Invariant: thumbnails_[i] shows frame i * step_.
#include "output/contact_sheet.h"

#include <algorithm>

namespace halyard::tool {

Status ContactSheet::add(const Tensor& image, Processor& processor) {
  const std::size_t index = seen_++;
  if (index % step_ != 0) return {};
  if (thumbnails_.empty()) {
    const Size size = image.size();
    cell_ = {cell_width, std::clamp(cell_width * size.height / size.width, 1, 2 * cell_width)};
  }
  HALYARD_TRY(auto thumbnail, Tensor::create_image(static_cast<std::size_t>(cell_.width),
                                                   static_cast<std::size_t>(cell_.height),
                                                   PixelFormat::rgb, DType::u8, Memory::mem));
  Convert request;
  request.src = image;
  request.dst = thumbnail;
  request.fit = Fit::letterbox;
  request.antialias = true;
  request.pad = {0, 0, 0, 255};
  HALYARD_RETURN_IF_ERROR(processor.convert(request));
  thumbnails_.push_back(std::move(thumbnail));
  if (thumbnails_.size() <= 2 * cells) return {};
  for (std::size_t i = 0; 2 * i < thumbnails_.size(); ++i)
    thumbnails_[i] = thumbnails_[2 * i];
  thumbnails_.resize((thumbnails_.size() + 1) / 2);
  step_ *= 2;
  return {};
}

Result<Tensor> ContactSheet::compose() const {
  if (thumbnails_.empty())
    return make_error(Errc::invalid_argument, "contact sheet needs at least one frame");
  const std::size_t count = std::min(cells, thumbnails_.size());
  const std::size_t width = std::min(columns, count);
  const std::size_t height = (count + columns - 1) / columns;
  const auto extent = [](std::size_t n, std::int32_t cell) {
    return n * static_cast<std::size_t>(cell + gap) + static_cast<std::size_t>(gap);
  };
  HALYARD_TRY(auto sheet,
              Tensor::create_image(extent(width, cell_.width), extent(height, cell_.height),
                                   PixelFormat::rgb, DType::u8, Memory::mem));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = count == 1 ? 0 : i * (thumbnails_.size() - 1) / (count - 1);
    const Region place{static_cast<std::int32_t>(extent(i % columns, cell_.width)),
                       static_cast<std::int32_t>(extent(i / columns, cell_.height)), cell_.width,
                       cell_.height};
    HALYARD_TRY(auto cell, sheet.slice(place));
    HALYARD_RETURN_IF_ERROR(copy(thumbnails_[from], cell));
  }
  return sheet;
}

}  // namespace halyard::tool
