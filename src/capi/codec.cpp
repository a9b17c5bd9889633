// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG in C.
#include "halyard/codec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "capi/arguments.h"
#include "capi/error.h"
#include "capi/generation.h"
#include "capi/handles.h"

namespace halyard::capi {
namespace {

// Callers see one failure for all data that cannot be decoded as requested: EBADMSG.
template <class T>
Result<T> of_data(Result<T> result) {
  if (result) return result;
  const Errc code = result.error().code;
  const bool data = code == Errc::unsupported || code == Errc::invalid_argument;
  return data ? failing_as(Errc::malformed, std::move(result)) : std::move(result);
}

Result<std::vector<std::byte>> file_from(const char* path) {
  HALYARD_TRY(const std::string name, path_from(path));
  HALYARD_TRY(auto bytes, read_file(name));
  if (bytes.empty()) return make_error(Errc::invalid_argument, "path: the file is empty", name);
  return bytes;
}

Result<std::optional<PixelFormat>> requested_format(int format) {
  switch (format) {
    case -1:
      return std::optional<PixelFormat>();
    case HAL_PIXEL_FORMAT_RGB:
    case HAL_PIXEL_FORMAT_RGBA:
    case HAL_PIXEL_FORMAT_GREY:
      return std::optional(static_cast<PixelFormat>(format));
    default:
      return make_error(Errc::invalid_argument, "format: must be RGB, RGBA, GREY or -1",
                        std::to_string(format));
  }
}

Result<std::span<const std::byte>> bytes_from(const std::uint8_t* data, std::size_t len) {
  if (data == nullptr) return null_argument("data: is NULL");
  if (len == 0) return null_argument("len: is 0");
  return std::as_bytes(std::span(data, len));
}

struct SizeOut {
  std::size_t* width;
  std::size_t* height;
};

Result<ImageFileInfo> decode(hal_tensor* handle, std::span<const std::byte> file,
                             const std::optional<PixelFormat>& format, SizeOut out) {
  HALYARD_RETURN_IF_ERROR(aligned(out.width, "out_width"));
  HALYARD_RETURN_IF_ERROR(aligned(out.height, "out_height"));
  HALYARD_TRY(const ImageFileInfo info,
              of_data(load_into(handle->tensor, file, {.format = format})));
  // Callers rotate the image themselves, by the orientation that they get.
  handle->tensor.set_orientation({});
  store(out.width, info.width);
  store(out.height, info.height);
  return info;
}

// Every orientation has one form: mirrored left and right, then rotated clockwise.
void write_orientation(Orientation orientation, std::uint16_t* degrees, bool* mirrored) noexcept {
  auto quarters = static_cast<unsigned>(orientation.rotation);
  if (orientation.flip == Flip::vertical) quarters = (quarters + 2) % 4;
  store(degrees, static_cast<std::uint16_t>(quarters * 90));
  store(mirrored, orientation.flip != Flip::none);
}

bool decoders_write(PixelFormat format) noexcept {
  return format == PixelFormat::rgb || format == PixelFormat::rgba || format == PixelFormat::bgra ||
         format == PixelFormat::grey;
}

Result<Tensor> upright(const Tensor& image, PixelFormat format, Orientation orientation) {
  const bool swaps = swaps_axes(orientation.rotation);
  const std::size_t width = swaps ? image.height() : image.width();
  const std::size_t height = swaps ? image.width() : image.height();
  HALYARD_TRY(Tensor converted, Tensor::create_image(width, height, format));
  HALYARD_TRY(Processor processor, Processor::create());
  HALYARD_RETURN_IF_ERROR(
      processor.convert({.src = image, .dst = converted, .orientation = orientation}));
  return converted;
}

Result<hal_tensor*> load(const char* path, int format) {
  HALYARD_TRY(const PixelFormat wanted, format_from(format));
  HALYARD_TRY(const auto file, file_from(path));
  HALYARD_TRY(const ImageFileInfo info, of_data(peek(file)));
  LoadOptions options;
  if (decoders_write(wanted)) options.format = wanted;
  HALYARD_TRY(Tensor image, of_data(load_image(file, options)));
  if (image.format() != wanted || info.orientation != Orientation{}) {
    HALYARD_TRY(image, upright(image, wanted, info.orientation));
  }
  return new hal_tensor{.tensor = std::move(image)};
}

Result<int> save(const hal_tensor* handle, const char* path, int quality) {
  HALYARD_TRY(const Tensor* const tensor, tensor_of(handle));
  HALYARD_TRY(const std::string name, path_from(path));
  const bool legal = quality >= 1 && quality <= 100;
  HALYARD_RETURN_IF_ERROR(save_jpeg(*tensor, name, {.quality = legal ? quality : 80}));
  return 0;
}

// The field of an enumerator; null if there is none.
std::size_t DecodeLimits::*field_of(int limit) noexcept {
  switch (limit) {
    case HAL_DECODE_LIMIT_WIDTH:
      return &DecodeLimits::max_width;
    case HAL_DECODE_LIMIT_HEIGHT:
      return &DecodeLimits::max_height;
    case HAL_DECODE_LIMIT_PIXELS:
      return &DecodeLimits::max_pixels;
    case HAL_DECODE_LIMIT_BYTES:
      return &DecodeLimits::max_bytes;
    case HAL_DECODE_LIMIT_EXPANSION:
      return &DecodeLimits::max_expansion;
    case HAL_DECODE_LIMIT_EXPANSION_FLOOR:
      return &DecodeLimits::expansion_floor;
    case HAL_DECODE_LIMIT_SCANS:
      return &DecodeLimits::max_scans;
    case HAL_DECODE_LIMIT_SCAN_PASSES:
      return &DecodeLimits::max_scan_passes;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace halyard::capi

using halyard::Result;
using halyard::capi::guarded;

size_t hal_decode_limit_get(hal_decode_limit limit) {
  const auto field = halyard::capi::field_of(limit);
  return field == nullptr ? 0 : halyard::DecodeLimits::defaults().*field;
}

int hal_decode_limit_set(hal_decode_limit limit, size_t value) {
  return guarded<int>(-1, [&]() -> Result<int> {
    const auto field = halyard::capi::field_of(limit);
    if (field == nullptr) {
      return halyard::make_error(halyard::Errc::invalid_argument,
                                 "limit: must be a value of hal_decode_limit",
                                 std::to_string(limit));
    }
    halyard::DecodeLimits limits = halyard::DecodeLimits::defaults();
    limits.*field = value;
    halyard::set_default_decode_limits(limits);
    return 0;
  });
}

int hal_tensor_decode_image(hal_tensor* tensor, const uint8_t* data, size_t len, int format,
                            size_t* out_width, size_t* out_height) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(halyard::capi::tensor_of(tensor));
    HALYARD_TRY(const auto file, halyard::capi::bytes_from(data, len));
    HALYARD_TRY(const auto wanted, halyard::capi::requested_format(format));
    HALYARD_RETURN_IF_ERROR(halyard::capi::decode(tensor, file, wanted, {out_width, out_height}));
    return 0;
  });
}

int hal_tensor_decode_image_file(hal_tensor* tensor, const char* path, int format,
                                 size_t* out_width, size_t* out_height) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(halyard::capi::tensor_of(tensor));
    HALYARD_TRY(const auto wanted, halyard::capi::requested_format(format));
    HALYARD_TRY(const auto file, halyard::capi::file_from(path));
    HALYARD_RETURN_IF_ERROR(halyard::capi::decode(tensor, file, wanted, {out_width, out_height}));
    return 0;
  });
}

HALYARD_HAL_0_27(hal_tensor_decode_image)
int hal_tensor_decode_image_27(hal_tensor* tensor, const uint8_t* data, size_t len,
                               size_t* out_width, size_t* out_height,
                               uint16_t* out_rotation_degrees, bool* out_flip_horizontal) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(halyard::capi::tensor_of(tensor));
    HALYARD_RETURN_IF_ERROR(halyard::capi::aligned(out_rotation_degrees, "out_rotation_degrees"));
    HALYARD_TRY(const auto file, halyard::capi::bytes_from(data, len));
    HALYARD_TRY(const auto info,
                halyard::capi::decode(tensor, file, std::nullopt, {out_width, out_height}));
    halyard::capi::write_orientation(info.orientation, out_rotation_degrees, out_flip_horizontal);
    return 0;
  });
}

HALYARD_HAL_0_27(hal_tensor_decode_image_file)
int hal_tensor_decode_image_file_27(hal_tensor* tensor, const char* path, size_t* out_width,
                                    size_t* out_height, uint16_t* out_rotation_degrees,
                                    bool* out_flip_horizontal) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(halyard::capi::tensor_of(tensor));
    HALYARD_RETURN_IF_ERROR(halyard::capi::aligned(out_rotation_degrees, "out_rotation_degrees"));
    HALYARD_TRY(const auto file, halyard::capi::file_from(path));
    HALYARD_TRY(const auto info,
                halyard::capi::decode(tensor, file, std::nullopt, {out_width, out_height}));
    halyard::capi::write_orientation(info.orientation, out_rotation_degrees, out_flip_horizontal);
    return 0;
  });
}

hal_tensor* hal_tensor_load_file(const char* path, hal_pixel_format format) {
  return guarded<hal_tensor*>(nullptr, [&] { return halyard::capi::load(path, format); });
}

int hal_tensor_save_jpeg(const hal_tensor* tensor, const char* path, int quality) {
  return guarded<int>(-1, [&] { return halyard::capi::save(tensor, path, quality); });
}
