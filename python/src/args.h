// SPDX-License-Identifier: Apache-2.0
// Arguments of Python calls as C++ values. All raise an exception that names the argument.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings.h"
#include "halyard/geometry.h"
#include "halyard/palette.h"
#include "halyard/tensor.h"
#include "tensor/array_view.h"

namespace halyard::python {

/// An int >= 0, also NumPy's. Raises TypeError, OverflowError (negative, too big).
std::size_t size_from(nb::handle object, const char* argument);
/// The same, at most `maximum`.
std::size_t size_from(nb::handle object, const char* argument, std::size_t maximum);
/// A str as UTF-8. Raises TypeError, and UnicodeEncodeError for lone surrogates.
std::string text_from(nb::handle object, const char* argument);
bool truth_from(nb::handle object);
/// An int of 32 bits.
std::int32_t int_from(nb::handle object, const char* argument);
double number_from(nb::handle object, const char* argument);

/// The items of an argument, one by one: any iterable except text and bytes. Nothing is read ahead,
/// so a long or endless iterable is refused at the first item too many.
class Items {
 public:
  /// Raises TypeError: "argument: must be `wanted`, not ...".
  Items(nb::handle object, const char* argument, const char* wanted);
  /// The next item; not valid behind the last one. Raises what the iterable raises.
  nb::object next();

 private:
  nb::object iterator_;
};

/// Calls use(item) for each item, at most `maximum` of them. Returns their count, `maximum` + 1 if
/// there are more. `wanted` as of Items.
template <class F>
std::size_t for_each_item(nb::handle object, const char* argument, const char* wanted,
                          std::size_t maximum, F&& use) {
  Items items(object, argument, wanted);
  std::size_t count = 0;
  for (nb::object item = items.next(); item.is_valid(); item = items.next()) {
    if (count == maximum) return maximum + 1;
    use(item, count++);
  }
  return count;
}
/// The count of for_each_item() for messages: "3", or "more than 8".
std::string count_text(std::size_t count, std::size_t maximum);

/// Exactly out.size() numbers. Raises TypeError, and InvalidArgumentError for another count.
void floats_from(nb::handle values, const char* argument, std::span<float> out);
/// At most `maximum` numbers. Raises as floats_from().
std::vector<float> float_list_from(nb::handle values, const char* argument, std::size_t maximum);
std::vector<std::int32_t> int_list_from(nb::handle values, const char* argument,
                                        std::size_t maximum);

template <std::size_t N>
struct ArgName {
  constexpr ArgName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};
/// Numeric parameters of bound functions: stored as objects, and converted where they are used, so
/// that an exception of the object's own __float__ or __index__ reaches the program.
template <ArgName name>
struct FloatArg {
  nb::handle object;
  operator float() const { return static_cast<float>(number_from(object, name.text)); }
};
template <ArgName name>
struct IntArg {
  nb::handle object;
  operator std::int32_t() const { return int_from(object, name.text); }
};
template <ArgName name>
struct SizeArg {
  nb::handle object;
  operator std::size_t() const { return size_from(object, name.text); }
};

/// Extents of a tensor, from any sequence of ints or one int.
struct Shape {
  std::array<std::size_t, max_rank> extent{};
  std::size_t rank = 0;
  std::span<const std::size_t> dims() const { return {extent.data(), rank}; }
};
Shape shape_from(nb::handle object, const char* argument);

/// R, G, B, A from a sequence of 4 ints of 0..255. Raises ValueError for other lengths.
std::array<std::uint8_t, 4> color_from(nb::handle object, const char* argument);

/// The same as a colour.
Color drawn_color_from(nb::handle object, const char* argument);

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

/// Extents and strides as Python has them.
nb::object shape_list(std::span<const std::size_t> shape);
nb::object shape_tuple(std::span<const std::size_t> shape);
nb::object stride_tuple(std::span<const std::ptrdiff_t> strides);

}  // namespace halyard::python

namespace nanobind::detail {

template <class Arg>
struct HandleCaster {
  NB_TYPE_CASTER(Arg, const_name("object"))
  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    value.object = source;
    return true;
  }
};
template <halyard::python::ArgName name>
struct type_caster<halyard::python::FloatArg<name>>
    : HandleCaster<halyard::python::FloatArg<name>> {
  static constexpr auto Name = const_name("float");
};
template <halyard::python::ArgName name>
struct type_caster<halyard::python::IntArg<name>> : HandleCaster<halyard::python::IntArg<name>> {
  static constexpr auto Name = const_name("int");
};
template <halyard::python::ArgName name>
struct type_caster<halyard::python::SizeArg<name>> : HandleCaster<halyard::python::SizeArg<name>> {
  static constexpr auto Name = const_name("int");
};

}  // namespace nanobind::detail
