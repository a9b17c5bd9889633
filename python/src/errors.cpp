// SPDX-License-Identifier: Apache-2.0
// Errors of the library as Python exceptions. All are RuntimeErrors, as programs written for
// EdgeFirst HAL expect; each is also a subclass of the exception that Python programs catch.
#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bindings.h"
#include "enums.h"
#include "fork_mutex.h"
#include "halyard/enumerators.h"

namespace halyard::python {
namespace {

// The classes of halyard/_errors.py by Errc; one reference each is kept until the process ends.
std::array<PyObject*, enumerators<Errc>.size()> classes{};

void set_error(Errc code, const std::string& message, int os_errno) {
  PyObject* type = classes[static_cast<std::size_t>(code) % classes.size()];
  const std::string_view name = to_string(code);
  const nb::object raised = nb::handle(type)(str_of(message), str_of(name), os_errno);
  PyErr_SetObject(type, raised.ptr());
}

[[noreturn]] void raise_as(Errc code, const std::string& message, int os_errno) {
  set_error(code, message, os_errno);
  throw nb::python_error();
}

struct Phrase {
  std::string_view of_cpp;
  std::string_view of_python;
};
constexpr Phrase phrases[] = {{"(with_format)", "by set_format()"},
                              {"options.quality", "quality"},
                              {"options.compression", "compression"},
                              {"options.format", "format"}};

// A text of the library with Python's names. Keys of negotiations have the same names in Python.
std::string python_words(std::string text) {
  if (text.find("party \"") != std::string::npos) return text;
  for (const Phrase& phrase : phrases)
    if (const auto at = text.find(phrase.of_cpp); at != std::string::npos)
      text.replace(at, phrase.of_cpp.size(), phrase.of_python);
  // Whole words only, and none in quotes or names of files.
  constexpr std::string_view before = " ([", behind = " )],;:";
  for (std::size_t at = text.find_first_not_of(before); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(behind, at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    for (const auto& each : enumerators<DType>)
      if (word == to_string(each.value)) {
        text.replace(at, word.size(), dtype_name(each.value));
        break;
      }
    at = text.find_first_of(before, at);
    if (at != std::string::npos) at = text.find_first_not_of(before, at);
  }
  return text;
}

std::string wrong_type_text(const char* argument, const char* wanted, nb::handle got) {
  return std::string(argument) + ": must be " + wanted + ", not " +
         text_of(got.type().attr("__name__"));
}

void set_error(PyObject* type, const char* text) {
  PyErr_SetObject(type, str_of(text).ptr());
}

// C++ exceptions that reach Python: memory as MemoryError, values that nanobind cannot convert as
// TypeError, others as RuntimeError, whatever bytes their text has.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const HeldInParent&) {
    set_error(Errc::busy, "fork: another thread was using the object when this process began", 0);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::length_error&) {
    PyErr_NoMemory();  // of a container: more than memory can hold
  } catch (const nb::cast_error&) {
    set_error(PyExc_TypeError, "a value of the wrong type was given");
  } catch (const std::exception& error) {
    set_error(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

nb::str str_of(std::string_view text) {
  PyObject* made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (made == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

std::string text_of(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (!bytes.is_valid() || PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0)
    throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

void forget_error(nb::handle kinds) {
  if (PyErr_ExceptionMatches(kinds.ptr()) == 0) throw nb::python_error();
  PyErr_Clear();
}

bool has_attribute(nb::handle object, const char* name) {
  PyObject* value = PyObject_GetAttrString(object.ptr(), name);
  if (value == nullptr) forget_error(PyExc_AttributeError);
  Py_XDECREF(value);
  return value != nullptr;
}

void raise(const Error& error) {
  raise_as(error.code, python_words(error.message()), error.os_errno);
}

void raise(Errc code, const std::string& message) {
  raise_as(code, message, 0);
}

void raise_wrong_type(const char* argument, const char* wanted, nb::handle got) {
  set_error(PyExc_TypeError, wrong_type_text(argument, wanted, got).c_str());
  throw nb::python_error();
}

void replace_type_error(const char* argument, const char* wanted, nb::handle got) {
  nb::python_error cause;
  if (!cause.matches(PyExc_TypeError)) throw cause;
  const std::string text = wrong_type_text(argument, wanted, got);
  nb::raise_from(cause, PyExc_TypeError, "%s", text.c_str());
}

void raise_not_made(nb::handle self) {
  PyErr_Format(PyExc_TypeError, "%s: __init__() has not been called",
               nb::type_name(self.type()).c_str());
  throw nb::python_error();
}

PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*) noexcept {
  PyErr_Format(PyExc_TypeError, "%R: objects of this class cannot be made by a program",
               reinterpret_cast<PyObject*>(type));
  return nullptr;
}

PyType_Slot made_by_calls[] = {{Py_tp_new, reinterpret_cast<void*>(&refuse_new)}, {0, nullptr}};

void bind_errors(nb::module_&) {
  nb::register_exception_translator(&translate);
  const nb::module_ errors = nb::module_::import_("halyard._errors");
  const nb::object by_code = errors.attr("BY_CODE");
  for (const auto& [name, code] : enumerators<Errc>)
    classes[static_cast<std::size_t>(code)] = nb::object(by_code[str_of(name)]).release().ptr();
}

}  // namespace halyard::python
