// SPDX-License-Identifier: Apache-2.0
// The extension module halyard._core: calls the binding functions of this folder.
#include "bindings.h"
#include "halyard/version.h"

namespace py = halyard::python;

namespace {

// Each after those whose types it uses.
void bind_tensors(nanobind::module_& m) {
  py::bind_errors(m);
  py::bind_enums(m);
  py::bind_interpreter(m);
  py::bind_values(m);
  py::bind_tensor_map(m);
  py::bind_cuda_map(m);
  py::bind_tensor(m);
  py::bind_tensor_names(m);
}

void bind_sharing(nanobind::module_& m) {
  py::bind_pools(m);
  py::bind_tensor_handle(m);
  py::bind_image_message(m);
  py::bind_point_cloud(m);
  py::bind_depth_image(m);
  py::bind_topics(m);
  py::bind_wait_set(m);
  py::bind_attribute_list(m);
}

void bind_work(nanobind::module_& m) {
  py::bind_limits(m);
  py::bind_codec(m);
  py::bind_placement(m);
  py::bind_processor(m);
  py::bind_system(m);
  py::bind_trace(m);
  py::bind_tracks(m);
  py::bind_tracker(m);
  py::bind_exports(m);
  py::bind_outputs(m);
  py::bind_decoder(m);
  py::bind_engine(m);
  py::bind_describe(m);
  py::bind_evaluate(m);
  py::bind_tiles(m);
  py::bind_drawing(m);
  py::bind_overlay(m);
  py::bind_frames(m);
  py::bind_cameras(m);
  py::bind_video_codecs(m);
  py::bind_pipeline(m);
}

}  // namespace

NB_MODULE(_core, m) {
  // Objects that outlive the interpreter are normal: views held by globals, other threads.
  nanobind::set_leak_warnings(false);
  m.attr("__version__") = halyard::version();
  // Classes and functions have the package as their module: users find them there.
  const nanobind::object own_name = m.attr("__name__");
  m.attr("__name__") = "halyard";
  bind_tensors(m);
  bind_sharing(m);
  bind_work(m);
  py::reword_wrong_calls(m);
  m.attr("__name__") = own_name;
}

namespace {

// The main interpreter's number is 0.
bool is_main_interpreter() {
  return PyInterpreterState_GetID(PyInterpreterState_Get()) == 0;
}

// nanobind and this module keep objects of one interpreter in variables of the process, so a
// second interpreter is refused before either touches it.
int refuse_other_interpreters(PyObject*) {
  if (is_main_interpreter()) return 0;
  PyErr_SetString(PyExc_ImportError,
                  "halyard: can be imported by the main interpreter only, not by a subinterpreter");
  return -1;
}

// nanobind counts the modules that it has made; a refused one must not be counted.
void free_module(void* module) {
  if (is_main_interpreter()) nanobind::detail::nb_module_free(module);
}

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(&refuse_other_interpreters)},
    {Py_mod_exec, reinterpret_cast<void*>(&nanobind__core_exec)},
    NB_MODULE_SLOTS_2,
};
// Wraps the function that NB_MODULE() has made, when the file is loaded.
[[maybe_unused]] const bool is_prepared = [] {
  nanobind__core_module.m_slots = module_slots;
  nanobind__core_module.m_free = &free_module;
  return true;
}();

}  // namespace
