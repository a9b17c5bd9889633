// SPDX-License-Identifier: Apache-2.0
// Maps masks from a network's input to the image that the input was made from, and back.
#include "base/text/format_error.h"
#include "halyard/image.h"

namespace halyard {
namespace {

struct Sizes {
  Size mask;
  Size out;
};

Status check_mask(const Tensor& tensor, Size size, const char* what) {
  if (tensor.format() == PixelFormat::grey && tensor.dtype() == DType::u8 && tensor.size() == size)
    return {};
  return fail(Errc::invalid_argument, what, "it is {} {} {}x{}, {}x{} is needed",
              tensor.format() ? to_string(*tensor.format()) : "no image", to_string(tensor.dtype()),
              tensor.width(), tensor.height(), size.width, size.height);
}

Status check_masks(const Tensor& mask, const Tensor& out, const Sizes& sizes) {
  HALYARD_RETURN_IF_ERROR(
      check_mask(mask, sizes.mask, "mask: must be grey u8 of the placement's size"));
  return check_mask(out, sizes.out, "out: must be grey u8 of the placement's size");
}

// The region in whole pixels, if its values are integers.
std::optional<Region> whole(const RegionF& r) {
  const Region cut{static_cast<std::int32_t>(r.x), static_cast<std::int32_t>(r.y),
                   static_cast<std::int32_t>(r.width), static_cast<std::int32_t>(r.height)};
  return RegionF(cut) == r ? std::optional(cut) : std::nullopt;
}

// The placement without its nominal scale, which is for boxes only.
Placement pixel_map(const Placement& p) {
  if (p.is_affine()) return p;
  return {p.source(), p.crop(), p.orientation(), p.destination(), p.content()};
}

Convert mask_request(const Tensor& mask, const Tensor& out, Filter filter) {
  Convert request;
  request.src = mask;
  request.dst = out;
  request.filter = filter;
  request.pad = {0, 0, 0, 255};
  return request;
}

}  // namespace

Status Processor::mask_to_source(const Placement& placement, const Tensor& mask, const Tensor& out,
                                 Filter filter) {
  HALYARD_RETURN_IF_ERROR(check_masks(mask, out, {placement.destination(), placement.source()}));
  Convert request = mask_request(mask, out, filter);
  request.crop = placement.content();
  const auto place = whole(placement.crop());
  if (place && !placement.is_affine()) {
    const Orientation back = inverse(placement.orientation());
    request.flip = back.flip;
    request.rotation = back.rotation;
    request.place = place;
  } else {
    request.affine = pixel_map(placement).backward();
  }
  HALYARD_RETURN_IF_ERROR(convert(request));
  return {};
}

Status Processor::mask_to_destination(const Placement& placement, const Tensor& mask,
                                      const Tensor& out, Filter filter) {
  HALYARD_RETURN_IF_ERROR(check_masks(mask, out, {placement.source(), placement.destination()}));
  Convert request = mask_request(mask, out, filter);
  request.crop = placement.crop();
  request.place = placement.content();
  if (placement.is_affine()) {
    request.affine = placement.forward();
  } else {
    request.flip = placement.orientation().flip;
    request.rotation = placement.orientation().rotation;
  }
  HALYARD_RETURN_IF_ERROR(convert(request));
  return {};
}

}  // namespace halyard
