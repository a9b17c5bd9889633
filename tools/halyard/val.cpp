// SPDX-License-Identifier: Apache-2.0
// halyard val: how good detections are against a ground truth in COCO's format.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "coco_eval.h"
#include "commands.h"
#include "output_file.h"
#include "report.h"
#include "val_model.h"
#include "values.h"

namespace halyard::tool {
namespace {

struct ValOptions {
  std::string truth;
  std::string detections;
  bool has_masks = false;
  bool lists_classes = false;
  std::string json;
  std::string out;
  ModelRun model;
};

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "-";
}

std::string name_of(const CocoCategory& category) {
  return category.name.empty() ? fmt::format("category {}", category.id) : printable(category.name);
}

void print_scores(const ValOptions& options, const CocoTruth& truth, const CocoResults& results,
                  const CocoScores& scores) {
  print_line(fmt::format("{}: {} images, {} annotations of {} categories, {} detections",
                         options.has_masks ? "masks" : "boxes", truth.images.size(),
                         truth.objects.size(), truth.categories.size(), results.objects.size()));
  if (results.left_out != 0)
    print_line(fmt::format("{} detections of other categories are left out", results.left_out));
  for (const CocoMetric& metric : scores.summary)
    print_line(fmt::format("{:<10} {:>7}  {}", metric.name, shown(metric.value), metric.meaning));
  if (!options.lists_classes) return;
  for (std::size_t i = 0; i < truth.categories.size(); ++i)
    print_line(
        fmt::format("  {:<24} {:>7}", name_of(truth.categories[i]), shown(scores.category_ap[i])));
}

Status write_scores(const ValOptions& options, const CocoTruth& truth, const CocoResults& results,
                    const CocoScores& scores) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  Json document;
  document["kind"] = options.has_masks ? "masks" : "boxes";
  document["images"] = truth.images.size();
  document["annotations"] = truth.objects.size();
  document["detections"] = results.objects.size();
  document["left_out"] = results.left_out;
  for (const CocoMetric& metric : scores.summary)
    document["summary"][metric.name] = number(metric.value);
  document["categories"] = Json::array();
  for (std::size_t i = 0; i < truth.categories.size(); ++i) {
    const CocoCategory& category = truth.categories[i];
    document["categories"].push_back(
        {{"id", category.id}, {"name", category.name}, {"AP", number(scores.category_ap[i])}});
  }
  HALYARD_TRY(auto file, OutputFile::create(options.json));
  HALYARD_CHECK(file.write(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return file.commit();
}

int val(const ValOptions& options) {
  const bool has_model = !options.model.detector.model.empty();
  if (has_model == !options.detections.empty())
    return report_usage("command line", "needs one of --detections and --model");
  if (has_model && options.has_masks)
    return report_usage("--masks", "needs --detections: models are run for boxes");
  const auto truth = read_truth(options.truth, options.has_masks);
  if (!truth) return report("--gt " + options.truth, truth.error());
  CocoResults results;
  if (has_model) {
    auto found = find_objects(options.model, *truth);
    if (!found) return exit_failure;
    results = *std::move(found);
    if (!options.out.empty())
      if (auto written = write_results(options.out, *truth, results); !written)
        return report("--out " + options.out, written.error());
  } else {
    auto read = read_results(options.detections, *truth, options.has_masks);
    if (!read) return report("--detections " + options.detections, read.error());
    results = *std::move(read);
  }
  const CocoScores scores = evaluate_coco(*truth, results.objects, options.has_masks);
  if (options.json != "-") print_scores(options, *truth, results, scores);
  if (options.json.empty()) return exit_ok;
  const auto written = write_scores(options, *truth, results, scores);
  return written ? exit_ok : report("--json " + options.json, written.error());
}

constexpr const char* val_examples =
    "Twelve numbers of COCO's protocol, as pycocotools gives them; - where there is nothing to\n"
    "measure on. --masks compares segmentations instead of boxes: polygons and runs in the ground\n"
    "truth, runs in the detections, whose own area says whether they are small.\n"
    "\n"
    "A model's classes are matched to categories by name, or, where no name is the same, by "
    "order.\n"
    "\n"
    "Examples:\n"
    "  halyard val --gt instances_val2017.json --detections results.json --by-class\n"
    "  halyard val --gt instances_val2017.json --model yolov8n.onnx --images val2017 --json -";

void add_model_options(CLI::App& sub, ModelRun& model) {
  DetectorOptions& detector = model.detector;
  // What trainers validate with.
  detector.letterbox = LetterboxRule::ultralytics_val;
  detector.is_rgb_first = true;
  detector.decode.score_threshold = 0.001F;
  detector.decode.iou_threshold = 0.7F;
  sub.add_option("-m,--model", detector.model, "Run a model: .onnx, .tflite or .xml");
  sub.add_option("--images", model.images, "Folder of the images that the ground truth names");
  sub.add_option("--labels", detector.labels, "Class names, one a line; default: the model's own");
  sub.add_option("--config", detector.config, "Description of the outputs (.json, .yaml)");
  sub.add_option("--score", detector.decode.score_threshold, "Least score of a detection")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  sub.add_option("--iou", detector.decode.iou_threshold, "Most overlap of two of a class")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_parsed(sub, "--letterbox", detector.letterbox, parse_letterbox_rule,
             "hal, ultralytics or ultralytics-val",
             "Rule of the letterbox: hal, ultralytics, ultralytics-val (default)");
  sub.add_option("--threads", detector.engine.threads, "Inference threads; 0: the engine's choice")
      ->check(CLI::Range(0, 1024));
  sub.add_flag("-q,--quiet", model.is_quiet, "No progress bar");
}

}  // namespace

void add_val(CLI::App& app, Action& action) {
  auto options = std::make_shared<ValOptions>();
  CLI::App* sub = app.add_subcommand("val", "Average precision against a ground truth (COCO)");
  sub->footer(val_examples);
  sub->add_option("--gt", options->truth, "Ground truth: instances in COCO's format")->required();
  sub->add_option("--detections", options->detections, "Detections: results in COCO's format");
  sub->add_flag("--masks", options->has_masks, "Compare segmentations, not boxes");
  add_model_options(*sub, options->model);
  sub->add_option("--out", options->out,
                  "Write the model's detections, as --detections reads them");
  sub->add_flag("--by-class", options->lists_classes, "Print the AP of each category");
  sub->add_option("--json", options->json, "Write the numbers as JSON; - is standard output");
  sub->callback([&action, options] { action = [options] { return val(*options); }; });
}

}  // namespace halyard::tool
