// SPDX-License-Identifier: Apache-2.0
// Arguments of Python calls as C++ values. All raise an exception that names the argument.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "array_view.h"
#include "bindings.h"
#include "halyard/geometry.h"
#include "halyard/tensor.h"

namespace halyard::python {

/// An int that is not negative, also NumPy's. Raises TypeError, OverflowError (negative, too big).
std::size_t size_from(nb::handle object, const char* argument);
/// The same, at most `most`.
std::size_t size_from(nb::handle object, const char* argument, std::size_t most);
/// An int of 32 bits.
std::int32_t int_from(nb::handle object, const char* argument);
double number_from(nb::handle object, const char* argument);

/// Extents of a tensor, from any sequence of ints or one int.
struct Shape {
  std::array<std::size_t, max_rank> extent{};
  std::size_t rank = 0;
  std::span<const std::size_t> dims() const { return {extent.data(), rank}; }
};
Shape shape_from(nb::handle object, const char* argument);

/// R, G, B, A from a sequence of 4 ints of 0..255. Raises ValueError for other lengths.
std::array<std::uint8_t, 4> color_from(nb::handle object, const char* argument);

/// A file name: str, bytes or os.PathLike.
std::string path_from(nb::handle object, const char* argument);

/// Contiguous bytes of any object with a buffer, held while this lives. Needs the interpreter's
/// lock when made and when it dies; the bytes may be read without it.
class BytesArg {
 public:
  BytesArg(nb::handle object, const char* argument);
  std::span<const std::byte> bytes() const { return view_.bytes(); }

 private:
  ArrayView view_;
};

/// A list of ints.
nb::object shape_list(std::span<const std::size_t> shape);

}  // namespace halyard::python
