// SPDX-License-Identifier: Apache-2.0
// Checks values that C callers pass and converts them to those of the C++ interface.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capi/handles.h"
#include "halyard/drm.h"
#include "halyard/enumerators.h"
#include "halyard/format.h"
#include "halyard/geometry.h"

namespace halyard::capi {

/// Whether E has an enumerator of that value. C's enumerators have the values of those of the C++
/// interface (tests/capi/enumerators_test.cpp), so E is either one.
template <class E>
constexpr bool has_enumerator(int value) noexcept {
  constexpr int first = static_cast<int>(enumerators<E>.front().value);
  constexpr int last = static_cast<int>(enumerators<E>.back().value);
  static_assert(last - first + 1 == static_cast<int>(enumerators<E>.size()), "without gaps");
  return value >= first && value <= last;
}

/// The enumerator of that value. Errors: invalid_argument with `what`.
template <class E>
Result<E> enumerator(int value, const char* what) {
  if (!has_enumerator<E>(value))
    return make_error(Errc::invalid_argument, what, std::to_string(value));
  return static_cast<E>(value);
}

inline Result<DType> dtype_from(int value) {
  return enumerator<DType>(value, "dtype: must be a value of hal_dtype");
}

inline Result<PixelFormat> format_from(int value) {
  return enumerator<PixelFormat>(value, "format: must be a value of hal_pixel_format");
}

inline Result<CpuAccess> cpu_access_from(int value) {
  return enumerator<CpuAccess>(value, "access: must be a value of HalCpuAccess");
}

inline Result<Compression> compression_from(int value) {
  return enumerator<Compression>(value, "compression: must be a value of HalCompression");
}

inline Result<Rotation> rotation_from(int value) {
  return enumerator<Rotation>(value, "rotation: must be a value of hal_rotation");
}

inline Result<Flip> flip_from(int value) {
  return enumerator<Flip>(value, "flip: must be a value of hal_flip");
}

inline Result<Memory> memory_from(int value) {
  if (value == HAL_TENSOR_MEMORY_AUTO) return Memory::automatic;
  return enumerator<Memory>(value, "memory: must be a value of hal_tensor_memory");
}

/// C has two of the ways to fit.
inline Result<Fit> fit_from(int value, const char* what) {
  if (value == HAL_FIT_STRETCH || value == HAL_FIT_LETTERBOX) return static_cast<Fit>(value);
  return make_error(Errc::invalid_argument, what, std::to_string(value));
}

inline Result<std::span<const std::size_t>> shape_from(const std::size_t* shape, std::size_t ndim) {
  if (shape == nullptr) return null_argument("shape: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(shape, "shape"));
  if (ndim < 1 || ndim > max_rank) {
    return make_error(Errc::invalid_argument, "ndim: must be 1..8", std::to_string(ndim));
  }
  return std::span(shape, ndim);
}

/// A coordinate or size in pixels, which the C++ interface stores in 32 bits.
inline Result<std::int32_t> pixels_from(std::size_t value, const char* name) {
  if (value > 0x7FFFFFFF) {
    return make_error(Errc::invalid_argument, "pixels: must be at most 2^31 - 1",
                      std::string(name) + ' ' + std::to_string(value));
  }
  return static_cast<std::int32_t>(value);
}

inline Result<Region> region_from(std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height) {
  Region region;
  HALYARD_TRY(region.x, pixels_from(x, "x"));
  HALYARD_TRY(region.y, pixels_from(y, "y"));
  HALYARD_TRY(region.width, pixels_from(width, "width"));
  HALYARD_TRY(region.height, pixels_from(height, "height"));
  return region;
}

/// Whether a text is UTF-8, without overlong forms and surrogates.
bool is_utf8(std::string_view text) noexcept;

/// A path that a caller passed. Errors: invalid_argument (NULL, empty, not UTF-8).
Result<std::string> path_from(const char* path);

/// A copy that the caller releases with free().
inline char* duplicated(const char* text) {
  char* copy = ::strdup(text);
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

/// `result`, with another code if it has failed: for functions that document a single errno.
template <class T>
Result<T> failing_as(Errc code, Result<T> result) {
  if (result) return result;
  Error error = std::move(result).error();
  error.code = code;
  return error;
}

}  // namespace halyard::capi
