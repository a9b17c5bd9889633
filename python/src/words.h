// SPDX-License-Identifier: Apache-2.0
// Arguments that are one of a few words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "args.h"
#include "halyard/enumerators.h"

namespace halyard::python {

/// Raises InvalidArgumentError: "argument: 'word' is not a known `kind`; did you mean 'nearest'?
/// (all)".
[[noreturn]] void raise_unknown_word(const char* argument, nb::handle word, const char* kind,
                                     std::span<const std::string_view> words);

/// A word and its value.
template <class T>
using Word = Enumerator<T>;

/// The value of the str. Raises TypeError, and raise_unknown_word().
template <class T>
T word_from(nb::handle object, const char* argument, const char* kind,
            std::span<const Word<T>> words) {
  const std::string given = text_from(object, argument);
  std::vector<std::string_view> known;
  for (const Word<T>& word : words) {
    if (given == word.name) return word.value;
    known.push_back(word.name);
  }
  raise_unknown_word(argument, object, kind, known);
}
template <class T, std::size_t count>
T word_from(nb::handle object, const char* argument, const char* kind,
            const Word<T> (&words)[count]) {
  return word_from(object, argument, kind, std::span<const Word<T>>(words));
}
/// The enumerator of that name.
template <class E>
E word_from(nb::handle object, const char* argument, const char* kind) {
  return word_from(object, argument, kind, std::span<const Word<E>>(enumerators<E>));
}

}  // namespace halyard::python
