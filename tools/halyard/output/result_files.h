// SPDX-License-Identifier: Apache-2.0
// The files that `run` writes what it finds to: JSON, COCO's results, MOTChallenge, YOLO's texts.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "options/paths.h"
#include "output/record.h"

// The parser's header costs every source that sees it seconds.
namespace CLI {
class App;
}

namespace halyard::tool {

struct ResultOptions {
  std::string json;
  std::string coco;
  std::string coco_truth;  ///< where the ids of coco come from; empty: numbers
  std::string mot;
  std::string yolo;  ///< a folder

  bool prints() const { return json == "-" || coco == "-" || mot == "-"; }
  /// Whether a file holds masks, and whether one holds their outlines.
  bool has_masks() const { return !json.empty() || !coco.empty() || !yolo.empty(); }
  bool has_outlines() const { return !yolo.empty(); }
  /// What a folder of texts must not take the names of.
  std::vector<std::string> files() const { return {json, coco, coco_truth, mot}; }
};

void add_result_options(CLI::App& app, ResultOptions& options);
/// What does not go together; exit_ok or exit_usage.
int check(const ResultOptions& options);
/// Adds all of them.
void add_to(PathCheck& paths, const ResultOptions& options);

class ResultFiles {
 public:
  struct Context {
    std::vector<std::string> labels;  ///< as many as the model has classes
    bool is_tracking = false;
    std::vector<std::string> other_files;  ///< no text takes the name of one of these
  };
  /// Reports its error itself, naming the option. Nothing on failure.
  static std::optional<ResultFiles> create(const ResultOptions& options, const Context& context);

  struct Entry {
    std::string option;  ///< with its path, as messages have it
    std::unique_ptr<RecordWriter> writer;
  };
  std::span<const Entry> entries() const noexcept { return entries_; }

 private:
  template <class Writer>
  bool add(const char* option, const std::string& path, Result<Writer> writer);
  std::vector<Entry> entries_;
};

}  // namespace halyard::tool
