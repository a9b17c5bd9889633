// SPDX-License-Identifier: Apache-2.0
// The result files of `run`: JSON, COCO results, MOTChallenge, YOLO texts.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "options/paths.h"
#include "output/record.h"

namespace halyard::tool {

struct CommandSpec;

struct ResultOptions {
  std::string json;
  std::string coco;
  std::string coco_truth;  ///< source of the ids in `coco`; empty: numbers
  std::string mot;
  std::string yolo;  ///< a folder

  bool prints() const { return json == "-" || coco == "-" || mot == "-"; }
  /// Whether a file holds masks, and whether one holds their outlines.
  bool has_masks() const { return !json.empty() || !coco.empty() || !yolo.empty(); }
  bool has_outlines() const { return !yolo.empty(); }
  /// Files whose names a folder of texts must not use.
  std::vector<std::string> files() const { return {json, coco, coco_truth, mot}; }
};

void add_result_options(CommandSpec& spec, ResultOptions& options);
/// Checks for options that exclude each other; exit_ok or exit_usage.
int check(const ResultOptions& options);
/// Adds the paths of all options.
void add_to(PathCheck& paths, const ResultOptions& options);

class ResultFiles {
 public:
  struct Context {
    std::vector<std::string> labels;  ///< as many as the model's classes
    bool is_tracking = false;
    std::vector<std::string> other_files;  ///< files whose names no text file may get
  };
  /// Reports its own errors, with the option's name. Nullopt on failure.
  static std::optional<ResultFiles> create(const ResultOptions& options, const Context& context);

  struct Entry {
    std::string option;  ///< with its path, as in messages
    std::unique_ptr<RecordWriter> writer;
  };
  std::span<const Entry> entries() const noexcept { return entries_; }

 private:
  template <class Writer>
  bool add(const char* option, const std::string& path, Result<Writer> writer);
  std::vector<Entry> entries_;
};

}  // namespace halyard::tool
