// SPDX-License-Identifier: Apache-2.0
// Calls whose arguments do not fit raise TypeError in Python's wording. nanobind lists the
// signatures instead. Here each of its functions is entered through our call, which looks at the
// exception of a failed call. A successful call costs one more jump.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.h"
#include "kept.h"

namespace halyard::python {
namespace {

using Call = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);

// nanobind has several ways to call a function, by its number of arguments and their options.
constexpr std::size_t max_ways = 12;
std::array<Call, max_ways> ways{};

// The place where nanobind's functions store how they are called: after the head of the object.
Call& way_of(nb::handle function) {
  return *reinterpret_cast<Call*>(reinterpret_cast<char*>(function.ptr()) + sizeof(PyVarObject));
}

bool is_of_signatures(std::string_view text) {
  return text.find("(): incompatible function arguments.") != text.npos;
}

// The text about the argument that does not fit; empty: keep nanobind's text.
std::string text_of_call(nb::handle function, PyObject* const* args, std::size_t count,
                         PyObject* names) {
  static PyObject* place = nullptr;
  const nb::handle explain = kept_attribute(place, "halyard._calls", "explain");
  nb::list positional;
  for (std::size_t i = 0; i < count; ++i)
    positional.append(nb::handle(args[i]));
  nb::dict keywords;
  for (std::size_t i = 0; names != nullptr && i < nb::len(names); ++i)
    keywords[nb::handle(names)[i]] = nb::handle(args[count + i]);
  const nb::object text = explain(function, positional, keywords);
  return text.is_none() ? std::string() : text_of(text);
}

// Takes and sets Python's exceptions: an exception of the explanation itself is dropped.
void reword(PyObject* function, PyObject* const* args, std::size_t count,
            PyObject* names) noexcept {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return;
  try {
    nb::python_error refused;  // takes the exception
    std::string text;
    if (is_of_signatures(text_of(refused.value()))) {
      try {
        text = text_of_call(function, args, count, names);
      } catch (nb::python_error&) {
      }
    }
    if (text.empty()) {
      refused.restore();
    } else {
      PyErr_SetString(PyExc_TypeError, text.c_str());
    }
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
}

template <std::size_t way>
PyObject* call(PyObject* function, PyObject* const* args, std::size_t flags, PyObject* names) {
  PyObject* const result = ways[way](function, args, flags, names);
  // The highest bits tell what may be done with args[-1], and that `self` needs no check.
  if (result == nullptr) [[unlikely]]
    reword(function, args, flags << 2U >> 2U, names);
  return result;
}

template <std::size_t... way>
constexpr std::array<Call, sizeof...(way)> calls_of(std::index_sequence<way...>) {
  return {&call<way>...};
}
constexpr auto calls = calls_of(std::make_index_sequence<max_ways>());

void enter_through_ours(nb::handle function) {
  Call& way = way_of(function);
  // The type's slot for this place, read as a number. Another version of nanobind may store
  // something else there: its own text is kept then.
  const nb::object said = nb::getattr(function, "__vectorcalloffset__", nb::none());
  if (!nb::isinstance<nb::int_>(said) ||
      nb::cast<std::intptr_t>(said) != reinterpret_cast<std::intptr_t>(way))
    return;
  for (std::size_t i = 0; i < max_ways; ++i) {
    if (way == calls[i]) return;
    if (ways[i] != nullptr && ways[i] != way) continue;
    ways[i] = way;
    way = calls[i];
    return;
  }
}

bool is_function(nb::handle object) {
  const std::string name = text_of(object.type().attr("__name__"));
  return name == "nb_func" || name == "nb_method";
}

void look_at(nb::handle object) {
  if (is_function(object)) return enter_through_ours(object);
  if (PyObject_TypeCheck(object.ptr(), &PyProperty_Type) == 0) return;
  if (const nb::object setter = object.attr("fset"); is_function(setter))
    enter_through_ours(setter);
}

}  // namespace

void reword_wrong_calls(nb::module_& m) {
  for (const nb::handle object : nb::list(nb::dict(m.attr("__dict__")).values())) {
    look_at(object);
    if (PyType_Check(object.ptr()) == 0) continue;
    const nb::object members = object.attr("__dict__").attr("values")();
    for (const nb::handle member : nb::list(members))
      look_at(member);
  }
}

}  // namespace halyard::python
