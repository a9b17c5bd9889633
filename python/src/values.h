// SPDX-License-Identifier: Apache-2.0
// Value classes of the package: Region, Rect, Quantization, Colorimetry, ImageInfo.
#pragma once

#include <optional>

#include "bindings.h"
#include "halyard/codec.h"
#include "halyard/colorimetry.h"
#include "halyard/geometry.h"
#include "halyard/quantization.h"

namespace halyard::python {

/// Python's ImageInfo: the content of a header, and the orientation of the decoded pixels.
struct ImageInfo {
  std::size_t width = 0;
  std::size_t height = 0;
  PixelFormat format = PixelFormat::rgb;
  std::size_t row_stride = 0;
  Orientation orientation;
  int bit_depth = 8;
  bool is_progressive = false;
};

/// A Region, or any sequence of x, y, width, height; raises naming `argument`.
Region region_from(nb::handle object, const char* argument);
/// An ImageInfo, a Flip and a Rotation, None or "raw": none; raises naming `argument`.
Orientation orientation_from(nb::handle object, const char* argument);
/// A Flip and a Rotation.
nb::object orientation_result(Orientation orientation);
/// A Colorimetry object, or None: all unknown.
Colorimetry colorimetry_from(nb::handle object, const char* argument);
/// None when every axis is unknown.
nb::object colorimetry_result(const Colorimetry& colorimetry);

}  // namespace halyard::python
