// SPDX-License-Identifier: Apache-2.0
// Borrowed shapes, and colorimetry between C and C++.
#include "capi/handles.h"

#include "capi/arguments.h"

namespace halyard::capi {
namespace {

template <class E>
E axis_from(int value) noexcept {
  return has_enumerator<E>(value) ? static_cast<E>(value) : E::unknown;
}

}  // namespace

const std::size_t* shape_of(const Layout* layout, std::size_t* out_ndim) noexcept {
  store<std::size_t>(out_ndim, layout != nullptr ? layout->rank : 0);
  return layout != nullptr ? layout->shape.data() : nullptr;
}

Colorimetry colorimetry_from(const hal_colorimetry& c) noexcept {
  return {axis_from<ColorSpace>(c.space), axis_from<ColorTransfer>(c.transfer),
          axis_from<ColorEncoding>(c.encoding), axis_from<ColorRange>(c.range)};
}

hal_colorimetry colorimetry_to_c(const Colorimetry& c) noexcept {
  return {static_cast<int>(c.space), static_cast<int>(c.transfer), static_cast<int>(c.encoding),
          static_cast<int>(c.range)};
}

}  // namespace halyard::capi
