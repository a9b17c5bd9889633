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

}  // namespace

void raise(const Error& error) {
  PyObject* type = classes[static_cast<std::size_t>(error.code) % classes.size()];
  const std::string message = error.message();
  nb::object raised = nb::handle(type)(message, std::string(to_string(error.code)), error.os_errno);
  PyErr_SetObject(type, raised.ptr());
  throw nb::python_error();
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
