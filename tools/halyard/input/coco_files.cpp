// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a file as text.
#include "input/coco_files.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "input/input_file.h"

namespace halyard::tool {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 30;

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<CocoTruth> read_truth(const std::string& path, bool has_masks) {
  HALYARD_TRY(const auto bytes, read_path(path, max_bytes));
  return parse_coco_truth(text_of(bytes), has_masks);
}

Result<CocoResults> read_results(const std::string& path, const CocoTruth& truth, bool has_masks) {
  HALYARD_TRY(const auto bytes, read_path(path, max_bytes));
  return parse_coco_results(text_of(bytes), truth, has_masks);
}

}  // namespace halyard::tool
