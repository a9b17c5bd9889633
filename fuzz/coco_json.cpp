// SPDX-License-Identifier: Apache-2.0
// Files of COCO: refused as malformed, or objects that refer to what is there, with masks as large
// as their pictures. The first byte chooses boxes or masks; behind 0x1E stand results.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "coco_data.h"
#include "fuzz/source.h"

namespace {

using namespace halyard;
using fuzz::expect;

/// A file of this text, until the next one.
const std::string& file_of(std::string_view text) {
  static std::FILE* const holder = std::tmpfile();
  static const int fd = ::fileno(holder);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  expect(::ftruncate(fd, 0) == 0);
  expect(::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  return path;
}

void check(const tool::CocoTruth& truth, const std::vector<tool::CocoObject>& objects,
           bool has_masks) {
  for (const tool::CocoObject& object : objects) {
    expect(object.image < truth.images.size() && object.category < truth.categories.size());
    expect(object.box.width >= 0 && object.box.height >= 0);
    if (!has_masks) continue;
    expect(object.mask.size == truth.images[object.image].size);
    expect(rle_area(object.mask).has_value() && rle_bounds(object.mask).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool has_masks = data[0] % 2 != 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto middle = text.find('\x1e');
  const auto truth = tool::read_truth(file_of(text.substr(0, middle)), has_masks);
  if (!truth) {
    expect(truth.error().code == Errc::malformed && !truth.error().message().empty());
    return 0;
  }
  check(*truth, truth->objects, has_masks);
  if (middle == std::string_view::npos) return 0;
  const auto results = tool::read_results(file_of(text.substr(middle + 1)), *truth, has_masks);
  if (results)
    check(*truth, results->objects, has_masks);
  else
    expect(results.error().code == Errc::malformed && !results.error().message().empty());
  return 0;
}
