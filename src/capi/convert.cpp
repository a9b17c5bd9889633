// SPDX-License-Identifier: Apache-2.0
// The image processor in C: conversion.
#include <algorithm>
#include <string>
#include <utility>

#include "capi/arguments.h"
#include "capi/error.h"
#include "capi/generation.h"
#include "capi/handles.h"

namespace halyard::capi {
namespace {

struct Request {
  hal_image_processor* processor;
  const hal_tensor* src;
  const hal_tensor* dst;
  int rotation;
  int flip;
};

Status apply(const hal_crop& crop, Convert& convert) {
  if (crop.has_src_rect) {
    const hal_rect& r = crop.src_rect;
    HALYARD_TRY(convert.crop, region_from(r.left, r.top, r.width, r.height));
  }
  convert.fit = crop.letterbox ? Fit::letterbox : Fit::stretch;
  convert.pad = {0, 0, 0, 255};
  if (crop.has_dst_color) std::ranges::copy(crop.dst_color, convert.pad.begin());
  if (!crop.has_dst_rect) return {};
  const hal_rect& r = crop.dst_rect;
  HALYARD_TRY(const Region place, region_from(r.left, r.top, r.width, r.height));
  if (crop.has_dst_color) {
    convert.place = place;
    return {};
  }
  // Without a colour, pixels outside the rectangle stay: the rectangle alone is the destination.
  if (!convert.dst.is_image()) {
    HALYARD_TRY(convert.dst, convert.dst.as_image());
  }
  HALYARD_TRY(convert.dst, convert.dst.slice(place));
  return {};
}

Status apply(const hal_crop_27& crop, Convert& convert) {
  if (crop.has_source) {
    const hal_region& r = crop.source;
    HALYARD_TRY(convert.crop, region_from(r.x, r.y, r.width, r.height));
  }
  HALYARD_TRY(convert.fit, fit_from(crop.fit, "crop: fit must be HAL_FIT_STRETCH or _LETTERBOX"));
  std::ranges::copy(crop.pad, convert.pad.begin());
  return {};
}

// Checks the handles and fills all fields but the tensors and the crop.
Status fill_words(const Request& request, Convert& convert) {
  HALYARD_RETURN_IF_ERROR(checked(request.processor, "processor"));
  HALYARD_RETURN_IF_ERROR(checked(request.src, "src"));
  HALYARD_RETURN_IF_ERROR(checked(request.dst, "dst"));
  HALYARD_TRY(convert.rotation, rotation_from(request.rotation));
  HALYARD_TRY(convert.flip, flip_from(request.flip));
  return {};
}

template <class Crop>
Status fill(const Request& request, const Crop* crop, Convert& convert) {
  HALYARD_RETURN_IF_ERROR(fill_words(request, convert));
  convert.src = request.src->tensor;
  convert.dst = request.dst->tensor;
  HALYARD_RETURN_IF_ERROR(aligned(crop, "crop"));
  if (crop != nullptr) HALYARD_RETURN_IF_ERROR(apply(*crop, convert));
  return {};
}

template <class Crop>
int convert(const Request& request, const Crop* crop) noexcept {
  return guarded<int>(-1, [&]() -> Result<int> {
    Convert filled;
    if (crop == nullptr) {
      HALYARD_RETURN_IF_ERROR(fill_words(request, filled));
      HALYARD_RETURN_IF_ERROR(
          request.processor->processor.convert(filled, request.src->tensor, request.dst->tensor));
      return 0;
    }
    HALYARD_RETURN_IF_ERROR(fill(request, crop, filled));
    HALYARD_RETURN_IF_ERROR(request.processor->processor.convert(filled));
    return 0;
  });
}

template <class Crop>
int convert_fence(const Request& request, const Crop* crop, int wait_fd, int* fence_fd) noexcept {
  if (fence_fd == nullptr || !is_aligned(fence_fd)) {
    report(Errc::invalid_argument, "fence_fd: is NULL, or not aligned for its type");
    return -1;
  }
  *fence_fd = -1;
  return guarded<int>(-1, [&]() -> Result<int> {
    Convert filled;
    HALYARD_RETURN_IF_ERROR(fill(request, crop, filled));
    HALYARD_TRY(FencedPlacement result,
                request.processor->processor.convert_with_fence(filled, wait_fd));
    *fence_fd = result.done.release();
    return 0;
  });
}

template <class Crop>
int defer(const Request& request, const Crop* crop) noexcept {
  return guarded<int>(-1, [&]() -> Result<int> {
    Convert filled;
    HALYARD_RETURN_IF_ERROR(fill(request, crop, filled));
    HALYARD_RETURN_IF_ERROR(request.processor->processor.convert_deferred(filled));
    return 0;
  });
}

template <class Crop>
char* explain(const Request& request, const Crop* crop) noexcept {
  return guarded<char*>(nullptr, [&]() -> Result<char*> {
    Convert filled;
    HALYARD_RETURN_IF_ERROR(fill(request, crop, filled));
    HALYARD_TRY(const std::string text, request.processor->processor.explain(filled));
    return duplicated(text.c_str());
  });
}

Result<hal_image_processor*> make_processor(int backend) {
  HALYARD_TRY(const auto wanted, enumerator<hal_compute_backend>(
                                     backend, "backend: must be a value of hal_compute_backend"));
  ProcessorOptions options;
  options.backend = static_cast<ComputeBackend>(wanted);
  HALYARD_TRY(Processor processor, Processor::create(options));
  return new hal_image_processor{.processor = std::move(processor),
                                 .painter = compat::Painter(options.backend)};
}

Result<int> flush(hal_image_processor* processor) {
  HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
  HALYARD_RETURN_IF_ERROR(processor->processor.flush());
  return 0;
}

}  // namespace
}  // namespace halyard::capi

using halyard::capi::guarded;

hal_image_processor* hal_image_processor_new(void) {
  return hal_image_processor_new_with_backend(HAL_COMPUTE_BACKEND_AUTO);
}

hal_image_processor* hal_image_processor_new_with_backend(hal_compute_backend backend) {
  return guarded<hal_image_processor*>(nullptr,
                                       [&] { return halyard::capi::make_processor(backend); });
}

void hal_image_processor_free(hal_image_processor* processor) {
  if (halyard::capi::is_valid(processor)) delete processor;
}

int hal_image_processor_convert(hal_image_processor* processor, const hal_tensor* src,
                                hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                const hal_crop* crop) {
  return halyard::capi::convert({processor, src, dst, rotation, flip}, crop);
}

HALYARD_HAL_0_27(hal_image_processor_convert)
int hal_image_processor_convert_27(hal_image_processor* processor, const hal_tensor* src,
                                   hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                   const hal_crop_27* crop) {
  return halyard::capi::convert({processor, src, dst, rotation, flip}, crop);
}

int hal_image_processor_convert_fence(hal_image_processor* processor, const hal_tensor* src,
                                      hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                      const hal_crop* crop, int* fence_fd) {
  return halyard::capi::convert_fence({processor, src, dst, rotation, flip}, crop, -1, fence_fd);
}

HALYARD_HAL_0_27(hal_image_processor_convert_fence)
int hal_image_processor_convert_fence_27(hal_image_processor* processor, const hal_tensor* src,
                                         hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                         const hal_crop_27* crop, int* fence_fd) {
  return halyard::capi::convert_fence({processor, src, dst, rotation, flip}, crop, -1, fence_fd);
}

int hal_image_processor_convert_after(hal_image_processor* processor, int wait_fd,
                                      const hal_tensor* src, hal_tensor* dst, hal_rotation rotation,
                                      hal_flip flip, const hal_crop_27* crop, int* fence_fd) {
  return halyard::capi::convert_fence({processor, src, dst, rotation, flip}, crop, wait_fd,
                                      fence_fd);
}

int hal_image_processor_convert_deferred(hal_image_processor* processor, const hal_tensor* src,
                                         hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                         const hal_crop* crop) {
  return halyard::capi::defer({processor, src, dst, rotation, flip}, crop);
}

HALYARD_HAL_0_27(hal_image_processor_convert_deferred)
int hal_image_processor_convert_deferred_27(hal_image_processor* processor, const hal_tensor* src,
                                            hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                            const hal_crop_27* crop) {
  return halyard::capi::defer({processor, src, dst, rotation, flip}, crop);
}

int hal_image_processor_flush(hal_image_processor* processor) {
  return guarded<int>(-1, [&] { return halyard::capi::flush(processor); });
}

char* hal_processor_explain(hal_image_processor* processor, const hal_tensor* src,
                            const hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                            const hal_crop* crop) {
  return halyard::capi::explain({processor, src, dst, rotation, flip}, crop);
}

HALYARD_HAL_0_27(hal_processor_explain)
char* hal_processor_explain_27(hal_image_processor* processor, const hal_tensor* src,
                               const hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                               const hal_crop_27* crop) {
  return halyard::capi::explain({processor, src, dst, rotation, flip}, crop);
}
