// SPDX-License-Identifier: Apache-2.0
// Description documents as JSON and as YAML: a document that parses passes validate(), keeps the
// limits, and is the same after to_json() and reading; a decoder is made from it if one fits. The
// first byte selects the language.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "halyard/decode.h"

namespace {

using halyard::ModelDescription;

// A promise that is broken stops the fuzzer.
void must(bool holds, const char* promise, const std::string& seen) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n%s\n", promise, seen.c_str());
  std::abort();
}

// Without the fields about how it was read.
ModelDescription bare(ModelDescription description) {
  description.warnings.clear();
  description.origins.clear();
  return description;
}

void check_round_trip(const ModelDescription& description) {
  const std::string document = description.to_json();
  const auto again = ModelDescription::from_json(document);
  must(again.has_value(), "a written description is read",
       again ? "" : again.error().message() + "\n" + document);
  must(again->warnings.empty(), "a written description has no unknown keys", document);
  must(bare(*again) == bare(description), "a description survives its document", document);
  must(again->to_json() == document, "a document survives its description", document);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto description =
      data[0] % 2 == 0 ? ModelDescription::from_json(text) : ModelDescription::from_yaml(text);
  if (!description) {
    must(!description.error().message().empty(), "an error has a message", "");
    return 0;
  }
  must(halyard::validate(*description).has_value(), "what is read is valid", "");
  must(description->warnings.size() <= halyard::DocumentLimits::warnings + 1, "few warnings", "");
  check_round_trip(*description);
  if (const auto kind = halyard::arrangement_of(*description))
    must(!halyard::to_string(*kind).empty(), "an arrangement has a name", "");
  const auto decoder = halyard::Decoder::create(*std::move(description));
  if (decoder) (void)decoder->explain();
  return 0;
}
