// SPDX-License-Identifier: Apache-2.0
// Memory of cameras and other devices in C.
#include "halyard/import.h"

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "capi/arguments.h"
#include "capi/error.h"
#include "capi/generation.h"
#include "capi/handles.h"

struct hal_plane_descriptor {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("plan");
  halyard::capi::Tag tag{kind};
  halyard::Fd fd;
  std::size_t stride_bytes = 0;
  std::size_t offset_bytes = 0;
  bool require_sealed = false;
};

namespace halyard::capi {
namespace {

using OwnedPlane = std::unique_ptr<hal_plane_descriptor>;

Result<hal_plane_descriptor*> make_plane(int fd) {
  HALYARD_TRY(Fd own, Fd::duplicate(fd));
  return new hal_plane_descriptor{.fd = std::move(own)};
}

Result<int> set_stride(hal_plane_descriptor* plane, std::size_t stride) {
  HALYARD_RETURN_IF_ERROR(checked(plane, "plane"));
  if (stride == 0) return null_argument("stride: is 0");
  plane->stride_bytes = stride;
  return 0;
}

Result<int> set_offset(hal_plane_descriptor* plane, std::size_t offset) {
  HALYARD_RETURN_IF_ERROR(checked(plane, "plane"));
  plane->offset_bytes = offset;
  return 0;
}

Result<int> set_require_sealed(hal_plane_descriptor* plane, bool required) {
  HALYARD_RETURN_IF_ERROR(checked(plane, "plane"));
  plane->require_sealed = required;
  return 0;
}

Result<PlaneDescriptor> described(const OwnedPlane& plane) {
  if (auto kind = fd_kind(plane->fd.get()); !kind) {
    return failing_as(Errc::unsupported, std::move(kind)).error();
  }
  return PlaneDescriptor{.fd = plane->fd.get(),
                         .stride_bytes = plane->stride_bytes,
                         .offset_bytes = plane->offset_bytes};
}

struct ImportRequest {
  std::size_t width;
  std::size_t height;
  int format;
  int dtype;
  const hal_colorimetry* colorimetry;
};

Result<hal_tensor*> import(const OwnedPlane& image, const OwnedPlane& chroma,
                           const ImportRequest& request) {
  HALYARD_TRY(const PixelFormat format, format_from(request.format));
  HALYARD_TRY(const DType dtype, dtype_from(request.dtype));
  HALYARD_RETURN_IF_ERROR(aligned(request.colorimetry, "colorimetry"));
  std::array<PlaneDescriptor, 2> planes;
  HALYARD_TRY(planes[0], described(image));
  if (chroma != nullptr) {
    HALYARD_TRY(planes[1], described(chroma));
  }
  ImportOptions options;
  options.require_sealed = image->require_sealed || (chroma != nullptr && chroma->require_sealed);
  HALYARD_TRY(Tensor tensor, Importer::shared().import_image(
                                 std::span(planes).first(chroma != nullptr ? 2 : 1), request.width,
                                 request.height, format, dtype, options));
  if (request.colorimetry != nullptr) {
    tensor.set_colorimetry(colorimetry_from(*request.colorimetry));
  }
  return new hal_tensor{.tensor = std::move(tensor)};
}

// Consumes the valid descriptors even on failure.
Result<hal_tensor*> consume(const hal_image_processor* processor, hal_plane_descriptor* image,
                            hal_plane_descriptor* chroma, const ImportRequest& request) {
  const bool twice = image != nullptr && image == chroma;
  const OwnedPlane first(is_valid(image) ? image : nullptr);
  const OwnedPlane second(is_valid(chroma) && !twice ? chroma : nullptr);
  HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
  HALYARD_RETURN_IF_ERROR(checked(image, "image"));
  if (twice) return null_argument("chroma: is the same descriptor as image");
  if (chroma != nullptr) HALYARD_RETURN_IF_ERROR(checked(chroma, "chroma"));
  return import(first, second, request);
}

}  // namespace
}  // namespace halyard::capi

using halyard::capi::guarded;
using halyard::capi::is_valid;

hal_plane_descriptor* hal_plane_descriptor_new(int fd) {
  return guarded<hal_plane_descriptor*>(nullptr, [&] { return halyard::capi::make_plane(fd); });
}

void hal_plane_descriptor_free(hal_plane_descriptor* plane) {
  if (is_valid(plane)) delete plane;
}

int hal_plane_descriptor_set_stride(hal_plane_descriptor* plane, size_t stride) {
  return guarded<int>(-1, [&] { return halyard::capi::set_stride(plane, stride); });
}

int hal_plane_descriptor_set_offset(hal_plane_descriptor* plane, size_t offset) {
  return guarded<int>(-1, [&] { return halyard::capi::set_offset(plane, offset); });
}

int hal_plane_descriptor_set_require_sealed(hal_plane_descriptor* plane, bool required) {
  return guarded<int>(-1, [&] { return halyard::capi::set_require_sealed(plane, required); });
}

hal_tensor* hal_import_image(hal_image_processor* processor, hal_plane_descriptor* image,
                             hal_plane_descriptor* chroma, size_t width, size_t height,
                             hal_pixel_format format, hal_dtype dtype) {
  return hal_import_image_27(processor, image, chroma, width, height, format, dtype, nullptr);
}

HALYARD_HAL_0_27(hal_import_image)
hal_tensor* hal_import_image_27(hal_image_processor* processor, hal_plane_descriptor* image,
                                hal_plane_descriptor* chroma, size_t width, size_t height,
                                hal_pixel_format format, hal_dtype dtype,
                                const hal_colorimetry* colorimetry) {
  return guarded<hal_tensor*>(nullptr, [&] {
    return halyard::capi::consume(processor, image, chroma,
                                  {width, height, format, dtype, colorimetry});
  });
}
