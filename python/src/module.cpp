// SPDX-License-Identifier: Apache-2.0
// The extension module halyard._core: what the files of this folder bind.
#include "bindings.h"
#include "halyard/version.h"

NB_MODULE(_core, m) {
  namespace py = halyard::python;
  // Objects that outlive the interpreter are ordinary: views held by globals, other threads.
  nanobind::set_leak_warnings(false);
  m.attr("__version__") = halyard::version();
  // Classes and functions show the package as their module: users find them there.
  const nanobind::object own_name = m.attr("__name__");
  m.attr("__name__") = "halyard";
  py::bind_errors(m);
  py::bind_enums(m);
  py::bind_buffers(m);
  py::bind_values(m);
  py::bind_tensor_map(m);
  py::bind_tensor(m);
  py::bind_codec(m);
  py::bind_placement(m);
  py::bind_processor(m);
  py::bind_system(m);
  py::bind_trace(m);
  py::bind_tracks(m);
  py::bind_outputs(m);
  py::bind_decoder(m);
  py::bind_tiles(m);
  py::bind_drawing(m);
  m.attr("__name__") = own_name;
}
