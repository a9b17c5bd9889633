// SPDX-License-Identifier: Apache-2.0
// Adds one option for each field of DecodeLimits.
#include "options/limit_options.h"

#include <fmt/format.h>

#include <cstddef>

#include "halyard/codec.h"
#include "options/command_spec.h"

namespace halyard::tool {
namespace {

struct LimitOption {
  const char* name;
  std::size_t DecodeLimits::*field;
  const char* meaning;
};

constexpr LimitOption limit_options[] = {
    {"--max-width", &DecodeLimits::max_width, "Columns of an image or frame"},
    {"--max-height", &DecodeLimits::max_height, "Rows"},
    {"--max-pixels", &DecodeLimits::max_pixels, "Columns times rows"},
    {"--max-bytes", &DecodeLimits::max_bytes,
     "Decoded bytes, with what decoding holds beside them"},
    {"--max-expansion", &DecodeLimits::max_expansion,
     "Decoded bytes for each byte of the file, above --expansion-floor"},
    {"--expansion-floor", &DecodeLimits::expansion_floor,
     "Decoded bytes up to which --max-expansion does not count"},
    {"--max-scans", &DecodeLimits::max_scans, "Scans of a JPEG"},
    {"--max-scan-passes", &DecodeLimits::max_scan_passes,
     "Visits of each block of a JPEG by its scans, on average"},
};

}  // namespace

void add_limit_options(CommandSpec& spec) {
  const DecodeLimits usual = DecodeLimits::defaults();
  for (const LimitOption& option : limit_options) {
    const auto set = [field = option.field](std::size_t value) {
      DecodeLimits limits = DecodeLimits::defaults();
      limits.*field = value;
      set_default_decode_limits(limits);
    };
    OptionSpec& added = spec.option(option.name, set, option.meaning);
    added.group = "Limits of images and videos";
    added.usual = fmt::format("{}", usual.*option.field);
  }
}

}  // namespace halyard::tool
