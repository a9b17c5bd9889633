// SPDX-License-Identifier: Apache-2.0
// Engine, for other files of the extension.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "halyard/model.h"

namespace halyard::python {

/// Python's Engine. run() is called without the interpreter's lock, from several threads at once.
struct PyEngine {
  explicit PyEngine(Engine made)
      : shared(std::make_shared<Engine>(std::move(made))), value(*shared) {}
  const std::shared_ptr<Engine> shared;  ///< pipelines share it
  Engine& value;
};

inline nb::list text_list(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts)
    list.append(str_of(text));
  return list;
}

/// (width, height), or None for an unknown size.
inline nb::object size_or_none(Size size) {
  if (size == Size{}) return nb::none();
  return nb::make_tuple(size.width, size.height);
}

}  // namespace halyard::python
