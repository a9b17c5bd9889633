// SPDX-License-Identifier: Apache-2.0
// Image tensors in C: creation, properties, and alignment of rows.
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "capi/arguments.h"
#include "capi/error.h"
#include "capi/generation.h"
#include "capi/handles.h"

namespace halyard::capi {

// Enumerators as the caller gave them. They are checked when the image is created.
struct ImageRequest {
  std::size_t width = 0;
  std::size_t height = 0;
  int format = 0;
  int dtype = 0;
  int memory = HAL_TENSOR_MEMORY_AUTO;
  int access = HAL_CPU_ACCESS_READ_WRITE;
  int compression = HAL_COMPRESSION_NONE;
};

}  // namespace halyard::capi

struct HalImageDesc {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("desc");
  halyard::capi::Tag tag{kind};
  halyard::capi::ImageRequest request;
};

namespace halyard::capi {
namespace {

constexpr std::size_t pitch_alignment_bytes = 64;

// In the memory that suits the processor, if there is one and the request names no kind.
Result<hal_tensor*> make_image(const ImageRequest& request, const Processor* processor = nullptr) {
  ImageOptions options;
  HALYARD_TRY(const PixelFormat format, format_from(request.format));
  HALYARD_TRY(options.dtype, dtype_from(request.dtype));
  HALYARD_TRY(options.memory, memory_from(request.memory));
  HALYARD_TRY(options.cpu_access, cpu_access_from(request.access));
  HALYARD_TRY(options.compression, compression_from(request.compression));
  HALYARD_TRY(Tensor tensor,
              processor != nullptr
                  ? processor->create_image(request.width, request.height, format, options)
                  : Tensor::create_image(request.width, request.height, format, options));
  return new hal_tensor{.tensor = std::move(tensor)};
}

Result<hal_tensor*> make_image(const HalImageDesc* desc, const Processor* processor = nullptr) {
  HALYARD_RETURN_IF_ERROR(checked(desc, "desc"));
  return make_image(desc->request, processor);
}

template <class Request>
Result<hal_tensor*> make_for(hal_image_processor* processor, const Request& request) {
  HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
  return make_image(request, &processor->processor);
}

Result<HalImageDesc*> make_desc(std::size_t width, std::size_t height, int format, int dtype) {
  if (width == 0 || height == 0) return null_argument("size: width and height must be above 0");
  HALYARD_RETURN_IF_ERROR(format_from(format));
  HALYARD_RETURN_IF_ERROR(dtype_from(dtype));
  return new HalImageDesc{
      .request = {.width = width, .height = height, .format = format, .dtype = dtype}};
}

Result<int> set_format(hal_tensor* handle, int format) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(const PixelFormat wanted, format_from(format));
  HALYARD_TRY(Tensor image, failing_as(Errc::invalid_argument, tensor->with_format(wanted)));
  handle->tensor = std::move(image);
  return 0;
}

// The row of the format table; null for tensors that are not images.
const FormatInfo* format_of(const hal_tensor* tensor) noexcept {
  if (!is_valid(tensor) || !tensor->tensor.format()) return nullptr;
  return &info(*tensor->tensor.format());
}

std::size_t align_width(std::size_t width, std::size_t bytes_per_pixel) noexcept {
  if (width == 0 || bytes_per_pixel == 0) return width;
  constexpr std::size_t maximum = std::numeric_limits<std::size_t>::max();
  const std::size_t step = pitch_alignment_bytes / std::gcd(pitch_alignment_bytes, bytes_per_pixel);
  if (width > maximum - (step - 1)) return width;
  const std::size_t aligned = (width + step - 1) / step * step;
  return aligned > maximum / bytes_per_pixel ? width : aligned;
}

}  // namespace
}  // namespace halyard::capi

using halyard::capi::guarded;
using halyard::capi::is_valid;

hal_tensor* hal_tensor_new_image(size_t width, size_t height, hal_pixel_format format,
                                 hal_dtype dtype, hal_tensor_memory memory) {
  return hal_tensor_new_image_27(width, height, format, dtype, memory, HAL_CPU_ACCESS_READ_WRITE);
}

HALYARD_HAL_0_27(hal_tensor_new_image)
hal_tensor* hal_tensor_new_image_27(size_t width, size_t height, hal_pixel_format format,
                                    hal_dtype dtype, hal_tensor_memory memory,
                                    HalCpuAccess access) {
  return guarded<hal_tensor*>(nullptr, [&] {
    return halyard::capi::make_image({width, height, format, dtype, memory, access});
  });
}

HalImageDesc* hal_image_desc_new(size_t width, size_t height, hal_pixel_format format,
                                 hal_dtype dtype) {
  return guarded<HalImageDesc*>(
      nullptr, [&] { return halyard::capi::make_desc(width, height, format, dtype); });
}

void hal_image_desc_set_memory(HalImageDesc* desc, hal_tensor_memory memory) {
  if (is_valid(desc)) desc->request.memory = memory;
}

void hal_image_desc_set_access(HalImageDesc* desc, HalCpuAccess access) {
  if (is_valid(desc)) desc->request.access = access;
}

void hal_image_desc_set_compression(HalImageDesc* desc, HalCompression compression) {
  if (is_valid(desc)) desc->request.compression = compression;
}

void hal_image_desc_free(HalImageDesc* desc) {
  if (is_valid(desc)) delete desc;
}

hal_tensor* hal_tensor_new_image_desc(const HalImageDesc* desc) {
  return guarded<hal_tensor*>(nullptr, [&] { return halyard::capi::make_image(desc); });
}

hal_tensor* hal_image_processor_create_image(hal_image_processor* processor, size_t width,
                                             size_t height, hal_pixel_format format,
                                             hal_dtype dtype) {
  return hal_image_processor_create_image_27(processor, width, height, format, dtype,
                                             HAL_CPU_ACCESS_READ_WRITE);
}

HALYARD_HAL_0_27(hal_image_processor_create_image)
hal_tensor* hal_image_processor_create_image_27(hal_image_processor* processor, size_t width,
                                                size_t height, hal_pixel_format format,
                                                hal_dtype dtype, HalCpuAccess access) {
  return guarded<hal_tensor*>(nullptr, [&] {
    const halyard::capi::ImageRequest request{width, height, format, dtype, HAL_TENSOR_MEMORY_AUTO,
                                              access};
    return halyard::capi::make_for(processor, request);
  });
}

hal_tensor* hal_image_processor_create_image_desc(hal_image_processor* processor,
                                                  const HalImageDesc* desc) {
  return guarded<hal_tensor*>(nullptr, [&] { return halyard::capi::make_for(processor, desc); });
}

size_t hal_tensor_width(const hal_tensor* tensor) {
  return is_valid(tensor) ? tensor->tensor.width() : 0;
}

size_t hal_tensor_height(const hal_tensor* tensor) {
  return is_valid(tensor) ? tensor->tensor.height() : 0;
}

hal_pixel_format hal_tensor_pixel_format(const hal_tensor* tensor) {
  const auto* const found = halyard::capi::format_of(tensor);
  return found != nullptr ? static_cast<hal_pixel_format>(found->format) : HAL_PIXEL_FORMAT_RGB;
}

int hal_tensor_set_format(hal_tensor* tensor, hal_pixel_format format) {
  return guarded<int>(-1, [&] { return halyard::capi::set_format(tensor, format); });
}

bool hal_tensor_is_planar(const hal_tensor* tensor) {
  const auto* const found = halyard::capi::format_of(tensor);
  return found != nullptr && found->kind != halyard::FormatKind::packed;
}

size_t hal_tensor_channels(const hal_tensor* tensor) {
  const auto* const found = halyard::capi::format_of(tensor);
  return found != nullptr ? found->channels : 0;
}

size_t hal_gpu_dma_buf_pitch_alignment_bytes(void) {
  return halyard::capi::pitch_alignment_bytes;
}

size_t hal_align_width_for_gpu_pitch(size_t width, size_t bpp) {
  return halyard::capi::align_width(width, bpp);
}

size_t hal_align_width_for_pixel_format(size_t width, hal_pixel_format format, hal_dtype dtype) {
  return guarded<size_t>(width, [&]() -> halyard::Result<size_t> {
    HALYARD_TRY(const auto known, halyard::capi::format_from(format));
    HALYARD_TRY(const auto element, halyard::capi::dtype_from(dtype));
    const halyard::FormatInfo& row = halyard::info(known);
    const size_t samples = row.kind == halyard::FormatKind::packed ? row.channels : 1;
    return halyard::capi::align_width(width, samples * halyard::size_of(element));
  });
}
