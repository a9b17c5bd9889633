// SPDX-License-Identifier: Apache-2.0
// The contents of the C interface's opaque handles, and checks of the pointers that C callers pass.
#pragma once

#include <cstdint>
#include <string>

#include "halyard/c/image.h"
#include "halyard/colorimetry.h"
#include "halyard/compat/draw.h"
#include "halyard/image.h"
#include "halyard/tensor.h"

namespace halyard::capi {

/// First member of every handle: its kind. Handles of another kind, and most freed handles, are
/// refused by it.
class Tag {
 public:
  explicit Tag(std::uint32_t kind) noexcept : kind_(kind) {}
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;
  ~Tag() {
    // Volatile, because a compiler may omit a store to an object whose lifetime ends.
    *const_cast<volatile std::uint32_t*>(&kind_) = 0;
  }
  std::uint32_t kind() const noexcept { return kind_; }

 private:
  std::uint32_t kind_;
};

constexpr std::uint32_t kind_of(const char (&letters)[5]) noexcept {
  return static_cast<std::uint32_t>(letters[0]) | static_cast<std::uint32_t>(letters[1]) << 8 |
         static_cast<std::uint32_t>(letters[2]) << 16 |
         static_cast<std::uint32_t>(letters[3]) << 24;
}

}  // namespace halyard::capi

struct hal_tensor {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("tnsr");
  halyard::capi::Tag tag{kind};
  halyard::Tensor tensor;
};

struct hal_tensor_map {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("tmap");
  halyard::capi::Tag tag{kind};
  halyard::TensorMap map;
  std::size_t size_bytes = 0;  ///< counted from the first element
};

struct hal_image_processor {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("proc");
  halyard::capi::Tag tag{kind};
  halyard::Processor processor;
  halyard::compat::Painter painter = {};
};

namespace halyard::capi {

inline Error null_argument(const char* what) {
  return make_error(Errc::invalid_argument, what);
}

/// Whether the address is aligned for this type; true for NULL.
template <class T>
bool is_aligned(const T* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % alignof(T) == 0;
}

/// Checks the address of an argument that may be NULL. Errors: invalid_argument.
template <class T>
Status aligned(const T* argument, const char* name) {
  if (is_aligned(argument)) return {};
  return make_error(Errc::invalid_argument, "argument: its address is not aligned for its type",
                    name);
}

/// For functions that cannot fail: stores nothing at NULL or at a misaligned address.
template <class T>
void store(T* out, const T& value) noexcept {
  if (out != nullptr && is_aligned(out)) *out = value;
}

/// Whether the handle is not NULL and is of its type.
template <class H>
bool is_valid(const H* handle) noexcept {
  return handle != nullptr && is_aligned(handle) && handle->tag.kind() == H::kind;
}

/// The checked handle. Errors: invalid_argument (NULL, or a handle of another kind). `name` is the
/// argument's name.
template <class H>
Result<H*> checked(H* handle, const char* name) {
  if (handle == nullptr) {
    return make_error(Errc::invalid_argument, "argument: is NULL", name);
  }
  if (!is_valid(handle)) {
    return make_error(Errc::invalid_argument, "argument: is a handle of another kind, or freed",
                      name);
  }
  return handle;
}

/// The tensor of a handle. Errors: invalid_argument (null, another kind).
inline Result<const Tensor*> tensor_of(const hal_tensor* handle) {
  if (handle == nullptr) return null_argument("tensor: is NULL");
  HALYARD_TRY(const hal_tensor* const found, checked(handle, "tensor"));
  return &found->tensor;
}

/// The extents and their count, borrowed; NULL and 0 without a layout.
const std::size_t* shape_of(const Layout* layout, std::size_t* out_ndim) noexcept;

/// Converts colorimetry; numbers outside an enumeration become unknown.
Colorimetry colorimetry_from(const hal_colorimetry& c) noexcept;
hal_colorimetry colorimetry_to_c(const Colorimetry& c) noexcept;

}  // namespace halyard::capi
