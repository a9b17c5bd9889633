// SPDX-License-Identifier: Apache-2.0
// Creates one writer for each option.
#include "output/result_files.h"
#include "options/command_spec.h"

#include <utility>

#include "output/coco_writer.h"
#include "output/text_writers.h"
#include "report.h"

namespace halyard::tool {

void add_result_options(CommandSpec& spec, ResultOptions& options) {
  spec.option("--json", &options.json, "Detections of all frames; - is standard output");
  spec.option("--coco", &options.coco,
              "The same as a results file of COCO, which halyard val --detections reads");
  spec.option("--coco-gt", &options.coco_truth,
              "Ground truth whose ids --coco takes: images by file name, categories by class "
              "name; default: the frame's number, and the class's, from 1 on");
  spec.option("--mot", &options.mot,
              "The same as lines of MOTChallenge, which halyard track --mot reads; with --track "
              "those of tracks");
  spec.option("--yolo", &options.yolo,
              "The same as a folder of YOLO texts, one a frame: class, box, score, track");
}

int check(const ResultOptions& options) {
  if (!options.coco_truth.empty() && options.coco.empty())
    return report_usage("--coco-gt", "is for --coco");
  if (options.yolo == "-") return report_usage("--yolo -", "must name a folder; ./- is one too");
  return exit_ok;
}

void add_to(PathCheck& paths, const ResultOptions& options) {
  paths.input("--coco-gt", options.coco_truth)
      .stream_output("--json", options.json)
      .stream_output("--coco", options.coco)
      .stream_output("--mot", options.mot)
      .text_folder("--yolo", options.yolo);
}

template <class Writer>
bool ResultFiles::add(const char* option, const std::string& path, Result<Writer> writer) {
  const std::string name = std::string(option) + " " + path;
  if (!writer) return report(name, writer.error()), false;
  entries_.push_back({name, std::make_unique<Writer>(*std::move(writer))});
  return true;
}

std::optional<ResultFiles> ResultFiles::create(const ResultOptions& options,
                                               const Context& context) {
  ResultFiles files;
  CocoIds ids;
  if (!options.coco_truth.empty()) {
    auto read = CocoIds::from_truth(options.coco_truth, context.labels);
    if (!read) return report("--coco-gt " + options.coco_truth, read.error()), std::nullopt;
    ids = *std::move(read);
  }
  const bool is_open =
      (options.json.empty() ||
       files.add("--json", options.json, JsonWriter::create(options.json, context.labels))) &&
      (options.coco.empty() ||
       files.add("--coco", options.coco, CocoWriter::create(options.coco, std::move(ids)))) &&
      (options.mot.empty() ||
       files.add("--mot", options.mot, MotWriter::create(options.mot, context.is_tracking))) &&
      (options.yolo.empty() ||
       files.add("--yolo", options.yolo, YoloWriter::create(options.yolo, context.other_files)));
  if (!is_open) return std::nullopt;
  return files;
}

}  // namespace halyard::tool
