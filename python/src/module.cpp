// SPDX-License-Identifier: Apache-2.0
// The extension module halyard._core: what the files of this folder bind.
#include "bindings.h"
#include "halyard/version.h"

NB_MODULE(_core, m) {
  namespace py = halyard::python;
  m.attr("__version__") = halyard::version();
  py::bind_errors(m);
  py::bind_enums(m);
  py::bind_trace(m);
}
