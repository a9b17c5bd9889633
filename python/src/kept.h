// SPDX-License-Identifier: Apache-2.0
// Python objects that are made once and kept until the process ends.
#pragma once

#include "bindings.h"

namespace halyard::python {

/// The result of `make`, an nb::object, kept at `place`, a static variable, from the first call on.
/// Needs the interpreter's lock, which `make` may release: two threads may then both make it, and
/// one object is kept. Nobody waits. A static local variable would make other threads wait, forever
/// if its thread waits for the interpreter's lock or was lost in a fork.
template <class Make>
nb::handle kept(PyObject*& place, Make&& make) {
  if (place == nullptr) {
    nb::object made = make();
    if (place == nullptr) place = made.release().ptr();
  }
  return place;
}

/// The same for an attribute of a module.
inline nb::handle kept_attribute(PyObject*& place, const char* module, const char* name) {
  return kept(place, [&]() -> nb::object { return nb::module_::import_(module).attr(name); });
}

}  // namespace halyard::python
