// SPDX-License-Identifier: Apache-2.0
// halyard val: scores detections against a ground truth in COCO's format.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "commands/commands.h"
#include "input/coco_files.h"
#include "input/json_document.h"
#include "input/val_model.h"
#include "options/limit_options.h"
#include "options/paths.h"
#include "options/preset_options.h"
#include "report.h"

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
  return category.name.empty() ? fmt::format("category {}", category.id) : category.name;
}

/// The scores of boxes or of masks.
struct Table {
  bool has_masks = false;
  std::size_t detections = 0;
  std::size_t left_out = 0;
  CocoScores scores;
};

Result<Table> measure(const CocoTruth& truth, const CocoResults& results, bool has_masks) {
  HALYARD_TRY(auto scores, evaluate_coco(truth, results.objects, has_masks));
  return Table{has_masks, results.objects.size(), results.left_out, std::move(scores)};
}

void print_table(const ValOptions& options, const CocoTruth& truth, const Table& table) {
  print_line(fmt::format("{}: {} images, {} annotations of {} categories, {} detections",
                         table.has_masks ? "masks" : "boxes", truth.images.size(),
                         truth.objects.size(), truth.categories.size(), table.detections));
  if (table.left_out != 0)
    print_line(fmt::format("{} detections of other categories are left out", table.left_out));
  for (const CocoMetric& metric : table.scores.summary)
    print_line(fmt::format("{:<10} {:>7}  {}", metric.name, shown(metric.value), metric.meaning));
  if (!options.lists_classes) return;
  for (std::size_t i = 0; i < truth.categories.size(); ++i)
    print_line(fmt::format("  {:<24} {:>7}", name_of(truth.categories[i]),
                           shown(table.scores.category_ap[i])));
}

using Json = nlohmann::ordered_json;

Json table_json(const CocoTruth& truth, const Table& table) {
  const auto number = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  Json document;
  document["kind"] = table.has_masks ? "masks" : "boxes";
  document["images"] = truth.images.size();
  document["annotations"] = truth.objects.size();
  document["detections"] = table.detections;
  document["left_out"] = table.left_out;
  for (const CocoMetric& metric : table.scores.summary)
    document["summary"][metric.name] = number(metric.value);
  document["categories"] = Json::array();
  for (std::size_t i = 0; i < truth.categories.size(); ++i) {
    const CocoCategory& category = truth.categories[i];
    document["categories"].push_back({{"id", category.id},
                                      {"name", category.name},
                                      {"AP", number(table.scores.category_ap[i])}});
  }
  return document;
}

/// If both boxes and masks were measured, the masks are a member of the document.
Status write_tables(const std::string& path, const CocoTruth& truth,
                    std::span<const Table> tables) {
  Json document = json_document(table_json(truth, tables[0]));
  if (tables.size() > 1) document["masks"] = table_json(truth, tables[1]);
  HALYARD_TRY(auto file, open_output(path));
  // Escapes control characters, because a terminal may show the text. The JSON keeps its meaning.
  const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace);
  HALYARD_RETURN_IF_ERROR(file.write(printable_lines(text) + "\n"));
  return file.commit();
}

int show(const ValOptions& options, const CocoTruth& truth, std::span<const Table> tables) {
  if (options.json != "-")
    for (const Table& table : tables)
      print_table(options, truth, table);
  if (options.json.empty()) return exit_ok;
  const auto written = write_tables(options.json, truth, tables);
  return written ? exit_ok : report("--json " + options.json, written.error());
}

int val_detections(const ValOptions& options) {
  const auto truth = read_truth(options.truth, options.has_masks);
  if (!truth) return report("--gt " + options.truth, truth.error());
  const auto results = read_results(options.detections, *truth, options.has_masks);
  if (!results) return report("--detections " + options.detections, results.error());
  const auto table = measure(*truth, *results, options.has_masks);
  if (!table) return report("--detections " + options.detections, table.error());
  return show(options, *truth, {&*table, 1});
}

int val_model(const ValOptions& options) {
  const auto truth = read_truth(options.truth, false);
  if (!truth) return report("--gt " + options.truth, truth.error());
  auto model = open_preset_model(options.model);
  if (!model) return exit_failure;
  if (options.has_masks && !gives_masks(*model))
    return report("--masks", options.model.detector.model + " gives no masks");
  const bool has_masks = options.has_masks || (gives_masks(*model) && truth->has_segmentations);
  CocoTruth masks;
  if (has_masks) {
    auto read = read_truth(options.truth, true);
    if (!read) return report("--gt " + options.truth, read.error());
    masks = *std::move(read);
  } else {
    model->mask_rule.reset();
  }
  auto results = find_objects(options.model, *model, *truth);
  if (!results) return exit_failure;
  if (!options.out.empty())
    if (auto written = write_results(options.out, *truth, *results); !written)
      return report("--out " + options.out, written.error());
  std::vector<Table> tables;
  for (const bool of_masks : {false, true}) {
    if (of_masks && !has_masks) continue;
    auto table = measure(of_masks ? masks : *truth, *results, of_masks);
    if (!table) return report("--gt " + options.truth, table.error());
    tables.push_back(*std::move(table));
  }
  return show(options, *truth, tables);
}

int check_paths(const ValOptions& options) {
  const DetectorOptions& detector = options.model.detector;
  return PathCheck()
      .stream_input("--gt", options.truth)
      .stream_input("--detections", options.detections)
      .model("--model", detector.model)
      .input("--labels", detector.labels)
      .input("--config", detector.config)
      .input_tree("--images", options.model.images)
      .stream_output("--out", options.out)
      .stream_output("--json", options.json)
      .run();
}

int val(const ValOptions& options) {
  const bool has_model = !options.model.detector.model.empty();
  if (has_model == !options.detections.empty())
    return report_usage("command line", "needs one of --detections and --model");
  if (const int code = check_paths(options); code != exit_ok) return code;
  return has_model ? val_model(options) : val_detections(options);
}

constexpr const char* val_examples =
    "Twelve numbers of COCO's protocol, as pycocotools gives them; - where there is nothing to\n"
    "measure on. --masks compares segmentations instead of boxes: polygons and runs in the ground\n"
    "truth, runs in the detections, whose own area decides whether they are small.\n"
    "\n"
    "A model is run by the rules of a preset, ultralytics-val unless another is named; other "
    "options\n"
    "override it. A model's classes are matched to categories by name, or, if no name is the "
    "same, by\n"
    "order.\n"
    "\n"
    "Examples:\n"
    "  halyard val --gt instances_val2017.json --detections results.json --by-class\n"
    "  halyard val --gt instances_val2017.json --model yolov8n.onnx --images val2017 --json -";

void add_model_options(CLI::App& sub, ModelRun& model) {
  DetectorOptions& detector = model.detector;
  sub.add_option("-m,--model", detector.model, "Run a model: .onnx, .tflite or .xml");
  sub.add_option("--images", model.images, "Folder of the images that the ground truth names");
  sub.add_option("--labels", detector.labels, "Class names, one a line; default: the model's own");
  add_config_option(sub, detector);
  model.preset.preset = Preset::ultralytics_val();
  add_preset_options(sub, model.preset, "ultralytics-val");
  add_engine_options(sub, detector.engine);
  sub.add_flag("-q,--quiet", model.is_quiet, "No progress bar");
}

}  // namespace

void add_val(CLI::App& app, Action& action) {
  auto options = std::make_shared<ValOptions>();
  CLI::App* sub = app.add_subcommand("val", "Average precision against a ground truth (COCO)");
  sub->footer(val_examples);
  sub->add_option("--gt", options->truth, "Ground truth: instances in COCO's format")->required();
  sub->add_option("--detections", options->detections, "Detections: results in COCO's format");
  sub->add_flag(
      "--masks", options->has_masks,
      "Compare segmentations: of --detections instead of boxes; of a model beside them (default "
      "where it gives masks and every annotation has a segmentation)");
  add_model_options(*sub, options->model);
  add_limit_options(*sub);
  sub->add_option("--out", options->out,
                  "Write the model's detections, as --detections reads them");
  sub->add_flag("--by-class", options->lists_classes, "Print the AP of each category");
  sub->add_option("--json", options->json, "Write the numbers as JSON; - is standard output");
  sub->callback([&action, options] { action = [options] { return val(*options); }; });
}

}  // namespace halyard::tool
