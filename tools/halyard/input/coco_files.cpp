// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a file as text.
#include "input/coco_files.h"

#include <cstddef>

#include "input/input_file.h"

namespace halyard::tool {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 30;

}  // namespace

Result<std::string> read_document(const std::string& path) {
  HALYARD_TRY(const auto bytes, read_path(path, max_bytes));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<CocoTruth> read_truth(const std::string& path, CocoKind kind) {
  HALYARD_TRY(const std::string text, read_document(path));
  return parse_coco_truth(text, kind);
}

Result<CocoResults> read_results(const std::string& path, const CocoTruth& truth, CocoKind kind) {
  HALYARD_TRY(const std::string text, read_document(path));
  return parse_coco_results(text, truth, kind);
}

}  // namespace halyard::tool
