// SPDX-License-Identifier: Apache-2.0
// The table of defaults in docs/selection.md against the options of C++ and of compat.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "halyard/compat/decode.h"
#include "halyard/decode.h"
#include "test_paths.h"

namespace halyard {
namespace {

struct Row {
  double score = 0;
  double overlap = 0;
  std::size_t best = 0;
  std::size_t cap = 0;
};

// The rows of the page that begin with `name`.
Row row_of(const std::string& name) {
  std::ifstream page(std::string(HALYARD_SOURCE_DIR) + "/docs/selection.md");
  for (std::string line; std::getline(page, line);) {
    if (line.find("| `" + name + "`") != 0 && line.find(", `" + name + "` |") == std::string::npos)
      continue;
    std::vector<std::string> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, '|');)
      cells.push_back(cell);
    if (cells.size() == 7)
      return {std::stod(cells[2]), std::stod(cells[3]), std::stoul(cells[5]), std::stoul(cells[6])};
  }
  ADD_FAILURE() << "docs/selection.md has no row for " << name;
  return {};
}

template <class Options>
void expect_row(const std::string& name, const Options& options, std::size_t cap) {
  SCOPED_TRACE(name);
  const Row row = row_of(name);
  EXPECT_FLOAT_EQ(options.score_threshold, static_cast<float>(row.score));
  EXPECT_FLOAT_EQ(options.iou_threshold, static_cast<float>(row.overlap));
  EXPECT_EQ(options.pre_nms_top_k, row.best);
  EXPECT_EQ(cap, row.cap);
}

TEST(Defaults, are_those_of_the_page) {
  for (const auto& [name, options] : std::map<std::string, DecodeOptions>{
           {"DecodeOptions{}", {}},
           {"DecodeOptions::ultralytics()", DecodeOptions::ultralytics()},
           {"DecodeOptions::ultralytics_val()", DecodeOptions::ultralytics_val()},
           {"DecodeOptions::hal()", DecodeOptions::hal()}})
    expect_row(name, options, options.max_detections);
  const compat::DecoderOptions compat;
  expect_row("compat::DecoderOptions{}", compat, compat.max_det);
}

TEST(Defaults, of_ultralytics_begin_above_the_number) {
  EXPECT_GT(DecodeOptions::ultralytics().score_threshold, 0.25F);
  EXPECT_GT(DecodeOptions::ultralytics_val().score_threshold, 0.001F);
}

}  // namespace
}  // namespace halyard
