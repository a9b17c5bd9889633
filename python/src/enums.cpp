// SPDX-License-Identifier: Apache-2.0
// The tables of enums.h, and the names of element types.
#include "enums.h"

#include <nanobind/stl/string.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "args.h"
#include "halyard/enumerators.h"
#include "kept.h"
#include "tensor/tensor_class.h"
#include "words.h"

namespace halyard::python {
namespace {

struct DTypeName {
  DType dtype;
  const char* name;
};
constexpr DTypeName dtype_names[] = {
    {DType::u8, "uint8"},     {DType::i8, "int8"},     {DType::u16, "uint16"},
    {DType::i16, "int16"},    {DType::u32, "uint32"},  {DType::i32, "int32"},
    {DType::u64, "uint64"},   {DType::i64, "int64"},   {DType::f16, "float16"},
    {DType::f32, "float32"},  {DType::f64, "float64"}, {DType::bf16, "bfloat16"},
    {DType::boolean, "bool"},
};
static_assert(std::size(dtype_names) == enumerators<DType>.size());
std::array<PyObject*, std::size(dtype_names)> dtype_strings{};
// numpy.dtypes, each made at its first use.
std::array<PyObject*, std::size(dtype_names)> dtype_objects{};

// The names that the table of an enumeration is made from.
struct Named {
  std::string_view name;
  std::uint8_t native;
};

template <class E>
constexpr Named named(std::string_view text, E value) {
  return {text, static_cast<std::uint8_t>(value)};
}

// The enumerator of a member: its own one in `renamed`, or that of the member's word.
std::optional<std::uint8_t> native_of(std::string_view member, std::string_view word,
                                      std::span<const Named> enumerators,
                                      std::span<const Named> renamed) {
  for (const Named& each : renamed)
    if (each.name == member) return each.native;
  for (const Named& each : enumerators)
    if (each.name == word) return each.native;
  return std::nullopt;
}

// Each member needs an enumerator, and each enumerator but unknown and `lacking` needs a member.
void fill(EnumClass& table, nb::object type, std::span<const Named> enumerators,
          std::span<const Named> renamed, std::string_view lacking) {
  table.words = nb::object(type.attr("_words")()).release().ptr();
  table.native.fill(-1);
  const nb::object words = type.attr("_word_list")();
  std::size_t index = 0;
  for (nb::handle member : type) {
    const std::string word = text_of(words[index++]);
    const auto native = native_of(text_of(member.attr("name")), word, enumerators, renamed);
    if (!native) throw std::logic_error(text_of(member) + ": there is no such enumerator");
    table.native.at(nb::cast<std::size_t>(nb::int_(member))) = *native;
    table.member.at(*native) = nb::object(nb::borrow(member)).release().ptr();
  }
  for (const Named& each : enumerators)
    if (table.member.at(each.native) == nullptr && each.name != "unknown" && each.name != lacking)
      throw std::logic_error(text_of(type) + ": no member for " + std::string(each.name));
  table.type = type.release().ptr();
}

// Fills the table of E from the Python class. `renamed` are its members that have an enumerator of
// another name.
template <class E>
void bind_enum(const char* name_of_class, std::initializer_list<Named> renamed = {},
               std::string_view lacking = {}) {
  std::vector<Named> names;
  for (const Enumerator<E>& each : enumerators<E>)
    names.push_back(named(each.name, each.value));
  fill(enum_class<E>, nb::module_::import_("halyard._enums").attr(name_of_class), names, renamed,
       lacking);
}

}  // namespace

std::uint8_t enum_value(nb::handle object, const EnumClass& in, const char* argument) {
  nb::object named;
  if (PyUnicode_Check(object.ptr())) {
    PyObject* member = PyDict_GetItemWithError(in.words, object.ptr());
    if (member == nullptr) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      // Another spelling of the name; raises for an unknown one.
      named = nb::handle(in.type).attr("_of_word")(object, argument);
      member = named.ptr();
    }
    object = member;
  }
  if (&in == &enum_class<Rotation> && PyLong_CheckExact(object.ptr()) != 0) {
    named = nb::handle(in.type).attr("_of_degrees")(object, argument);
    object = named;
  }
  if (reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) != in.type)
    raise_wrong_type(argument, nb::cast<std::string>(nb::handle(in.type).attr("_wanted")()).c_str(),
                     object);
  const long number = PyLong_AsLong(object.ptr());
  return static_cast<std::uint8_t>(in.native.at(static_cast<std::size_t>(number)));
}

nb::object enum_member(std::uint8_t native, const EnumClass& in) {
  PyObject* member = native < in.member.size() ? in.member[native] : nullptr;
  return member == nullptr ? nb::none() : nb::borrow(member);
}

const char* dtype_name(DType dtype) noexcept {
  return dtype_names[static_cast<std::size_t>(dtype)].name;
}

nb::object dtype_str(DType dtype) {
  return nb::borrow(dtype_strings[static_cast<std::size_t>(dtype)]);
}

nb::object numpy_dtype(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return nb::borrow(kept(dtype_objects[index], [&]() -> nb::object {
    const nb::object name = dtype == DType::bf16 ? bfloat16_type() : dtype_str(dtype);
    return nb::module_::import_("numpy").attr("dtype")(name);
  }));
}

namespace {

std::optional<DType> dtype_of_name(std::string_view name) {
  for (const DTypeName& row : dtype_names)
    if (name == row.name) return row.dtype;
  return std::nullopt;
}

[[noreturn]] void raise_no_dtype(nb::handle object, const char* argument) {
  std::vector<std::string_view> names;
  for (const DTypeName& row : dtype_names)
    names.emplace_back(row.name);
  raise_unknown_word(argument, object, "element type", names);
}

// Converts by numpy.dtype(). NumPy is loaded only here.
DType dtype_of_numpy(nb::handle object, const char* argument) {
  nb::object dtype;
  try {
    dtype = nb::module_::import_("numpy").attr("dtype")(object);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    if (PyUnicode_Check(object.ptr()) != 0) raise_no_dtype(object, argument);
    const std::string text = std::string(argument) +
                             ": must be an element type, as numpy.dtype() "
                             "takes it, not " +
                             text_of(object.type().attr("__name__"));
    nb::raise_from(error, PyExc_TypeError, "%s", text.c_str());
  }
  const nb::object native = dtype.attr("isnative");
  if (!truth_from(native))
    raise(Errc::unsupported, std::string(argument) + ": must be in native byte order");
  const nb::object name = dtype.attr("name");
  if (const auto known = dtype_of_name(text_of(name))) return *known;
  raise_no_dtype(PyUnicode_Check(object.ptr()) != 0 ? object : nb::handle(name), argument);
}

}  // namespace

DType dtype_from(nb::handle object, const char* argument) {
  for (std::size_t i = 0; i < dtype_strings.size(); ++i)
    if (object.ptr() == dtype_strings[i] || object.ptr() == dtype_objects[i])
      return dtype_names[i].dtype;
  if (object.is_none()) raise_wrong_type(argument, "an element type", object);
  if (PyUnicode_Check(object.ptr()) != 0)
    if (const auto known = dtype_of_name(text_of(object))) return *known;
  return dtype_of_numpy(object, argument);
}

void bind_enums(nb::module_&) {
  bind_enum<PixelFormat>("PixelFormat");
  bind_enum<Memory>("TensorMemory");
  bind_enum<Normalization>("Normalization", {named("DEFAULT", Normalization::automatic),
                                             named("SIGNED", Normalization::with_sign),
                                             named("UNSIGNED", Normalization::without_sign)});
  bind_enum<Rotation>("Rotation",
                      {named("Clockwise90", Rotation::cw90), named("Rotate180", Rotation::cw180),
                       named("CounterClockwise90", Rotation::cw270)});
  bind_enum<Flip>("Flip");
  bind_enum<ColorBy>("ColorMode", {named("Class", ColorBy::label)});
  bind_enum<GlDisplayKind>("EglDisplayKind", {named("PlatformDevice", GlDisplayKind::device),
                                              named("Default", GlDisplayKind::standard)});
  bind_enum<compat::Nms>("Nms", {named("Auto", compat::Nms::automatic)}, "none");
  bind_enum<compat::OutputFamily>("DecoderType");
  bind_enum<compat::DecoderVersion>("DecoderVersion");
  bind_enum<compat::DimName>("DimName");
  bind_enum<Fit>("Fit");
  bind_enum<MergeMetric>("MatchMetric");
  bind_enum<ColorSpace>("ColorSpace");
  bind_enum<ColorTransfer>("ColorTransfer");
  bind_enum<ColorEncoding>("ColorEncoding");
  bind_enum<ColorRange>("ColorRange");
  bind_enum<DctMethod>("DctMethod");
  bind_enum<Filter>("Filter");
  bind_enum<LetterboxRule>("LetterboxRule");
  for (std::size_t i = 0; i < dtype_strings.size(); ++i)
    dtype_strings[i] = PyUnicode_InternFromString(dtype_names[i].name);
}

}  // namespace halyard::python
