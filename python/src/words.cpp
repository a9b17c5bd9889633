// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include "kept.h"

namespace halyard::python {

namespace {

std::string refusal(const char* argument, nb::handle word, const char* kind,
                    std::span<const std::string_view> words) {
  static PyObject* place = nullptr;
  const nb::handle text_for = kept_attribute(place, "halyard._words", "refusal");
  nb::list known;
  for (const std::string_view each : words)
    known.append(str_of(each));
  const nb::object text = text_for(str_of(argument), word, str_of(kind), known);
  return text_of(text);
}

}  // namespace

void raise_unknown_word(const char* argument, nb::handle word, const char* kind,
                        std::span<const std::string_view> words) {
  raise(Errc::invalid_argument, refusal(argument, word, kind, words));
}

}  // namespace halyard::python
