// SPDX-License-Identifier: Apache-2.0
// Python's enumerations (halyard/_enums.py) and their C++ counterparts, both ways, by table. The
// tables are made from the names: Python's PlanarRgb is the enumerator planar_rgb.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bindings.h"
#include "halyard/buffer.h"
#include "halyard/colorimetry.h"
#include "halyard/compat/decode.h"
#include "halyard/compat/draw.h"
#include "halyard/format.h"
#include "halyard/geometry.h"
#include "halyard/gl.h"
#include "halyard/image.h"
#include "halyard/tile_merge.h"

namespace halyard::python {

// Enumerations that only Python has, with Python's numbers.
enum class Normalization : std::uint8_t { automatic = 0, with_sign = 1, without_sign = 2, raw = 3 };
enum class DctMethod : std::uint8_t { accurate = 0, fast = 1 };

/// One enumeration's table. bind_enums() fills it; one reference each is kept until the process
/// ends.
struct EnumClass {
  PyObject* type = nullptr;
  PyObject* words = nullptr;              ///< a dict: the usual spellings of each member
  std::array<PyObject*, 32> member{};     ///< by C++ enumerator; null: Python has none
  std::array<std::int16_t, 32> native{};  ///< by Python's number; -1: none
};

/// The table of E: one of the enumerations above, those of compat (Nms, OutputFamily,
/// DecoderVersion, DimName, ColorMode), MergeMetric, PixelFormat, Memory, Rotation, Flip, Fit,
/// ColorSpace, ColorTransfer, ColorEncoding, ColorRange, Filter, LetterboxRule.
template <class E>
inline constinit EnumClass enum_class;

/// The enumerator that `object` names: a member, or its name as str. Raises TypeError (neither),
/// InvalidArgumentError (no such name; suggests the nearest one), both naming `argument`.
std::uint8_t enum_value(nb::handle object, const EnumClass& in, const char* argument);
/// A new reference to the member; None where Python has none (unknown colorimetry).
nb::object enum_member(std::uint8_t native, const EnumClass& in);

template <class E>
E enum_from(nb::handle object, const char* argument) {
  return static_cast<E>(enum_value(object, enum_class<E>, argument));
}
template <class E>
nb::object enum_to(E value) {
  return enum_member(static_cast<std::uint8_t>(value), enum_class<E>);
}

/// A dtype from everything that numpy.dtype() takes ("float32", "f4", np.float32, float), and
/// "bfloat16" even without the package ml_dtypes. Raises InvalidArgumentError naming `argument` for
/// element types that Halyard does not have, TypeError for what NumPy does not take and for None.
DType dtype_from(nb::handle object, const char* argument);
/// "uint8", "float16", "bfloat16", "bool"...: NumPy's names.
const char* dtype_name(DType dtype) noexcept;
/// The same as a Python str, without making one.
nb::object dtype_str(DType dtype);
/// The numpy.dtype. Raises UnsupportedError for bfloat16 without the package ml_dtypes.
nb::object numpy_dtype(DType dtype);

}  // namespace halyard::python
