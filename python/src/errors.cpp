// SPDX-License-Identifier: Apache-2.0
// Errors of the library as Python exceptions. All are RuntimeErrors, as programs written for
// EdgeFirst HAL expect; each is also of the kind that a Python programmer would look for.
#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <string_view>

#include "bindings.h"

namespace halyard::python {
namespace {

// The classes live in halyard/_errors.py; one reference each is kept until the process ends.
std::array<PyObject*, 16> classes{};

[[noreturn]] void raise_as(Errc code, const std::string& message, int os_errno) {
  PyObject* type = classes[static_cast<std::size_t>(code) % classes.size()];
  const std::string_view name = to_string(code);
  nb::object raised = nb::handle(type)(nb::str(message.data(), message.size()),
                                       nb::str(name.data(), name.size()), os_errno);
  PyErr_SetObject(type, raised.ptr());
  throw nb::python_error();
}

}  // namespace

void raise(const Error& error) {
  raise_as(error.code, error.message(), error.os_errno);
}

void raise(Errc code, const std::string& message) {
  raise_as(code, message, 0);
}

void raise_wrong_type(const char* argument, const char* wanted, nb::handle got) {
  const nb::str type = nb::borrow<nb::str>(got.type().attr("__name__"));
  throw nb::type_error(
      (std::string(argument) + ": must be " + wanted + ", not " + type.c_str()).c_str());
}

void bind_errors(nb::module_&) {
  const nb::module_ errors = nb::module_::import_("halyard._errors");
  const nb::object by_code = errors.attr("BY_CODE");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto name = to_string(static_cast<Errc>(i));
    classes[i] = nb::object(by_code[nb::str(name.data(), name.size())]).release().ptr();
  }
}

}  // namespace halyard::python
