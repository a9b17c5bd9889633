// SPDX-License-Identifier: Apache-2.0
// halyard val: scores detections against a ground truth in COCO's format.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "input/coco_files.h"
#include "input/val_model.h"
#include "input/val_truth.h"
#include "options/limit_options.h"
#include "options/paths.h"
#include "options/preset_options.h"
#include "output/val_tables.h"
#include "report.h"

namespace halyard::tool {
namespace {

struct ValOptions {
  std::string truth;
  std::string detections;
  bool has_masks = false;
  bool has_keypoints = false;
  bool has_rotated = false;
  bool has_classes = false;
  std::vector<double> sigmas;
  bool lists_classes = false;
  std::string json;
  std::string out;
  ModelRun model;
};

/// The kind of the option that was given, with its name, or null.
struct Asked {
  CocoKind kind = CocoKind::boxes;
  const char* option = nullptr;
  const char* what = "";
};

Asked asked(const ValOptions& options) {
  if (options.has_masks) return {CocoKind::masks, "--masks", "masks"};
  if (options.has_keypoints) return {CocoKind::keypoints, "--keypoints", "keypoints"};
  if (options.has_rotated) return {CocoKind::rotated_boxes, "--rotated", "rotated boxes"};
  if (options.has_classes) return {CocoKind::classes, "--classes", "classes of images"};
  return {};
}

int show(const ValOptions& options, std::span<const ValTable> tables) {
  if (options.json != "-")
    for (const ValTable& table : tables)
      print_table(table, options.lists_classes);
  if (options.json.empty()) return exit_ok;
  const auto written = write_tables(options.json, tables);
  return written ? exit_ok : report("--json " + options.json, written.error());
}

int val_detections(const ValOptions& options, const ValTruth& file) {
  const CocoKind kind = asked(options).kind;
  const auto truth = file.read(kind);
  if (!truth) return report("--gt " + options.truth, truth.error());
  const auto results = read_results(options.detections, *truth, kind);
  if (!results) return report("--detections " + options.detections, results.error());
  const auto table = measure(*truth, *results, kind);
  if (!table) return report("--detections " + options.detections, table.error());
  return show(options, {&*table, 1});
}

bool has_kind(const CocoTruth& truth, CocoKind kind) {
  if (kind == CocoKind::masks) return truth.has_segmentations;
  if (kind == CocoKind::keypoints) return truth.has_keypoints;
  return kind == CocoKind::rotated_boxes && truth.has_rotated_boxes;
}

/// Ground truths of the kinds to measure of a model: classes; or boxes, and what the model gives
/// beside them, if it was asked for or the ground truth has it. Reports its own errors; empty on
/// failure.
std::vector<std::pair<CocoKind, CocoTruth>> truths_for(const ValOptions& options,
                                                       const ValTruth& file, CocoKind given) {
  const Asked wanted = asked(options);
  if (wanted.option != nullptr && wanted.kind != given)
    return report(wanted.option,
                  fmt::format("{} gives no {}", options.model.detector.model, wanted.what)),
           std::vector<std::pair<CocoKind, CocoTruth>>();
  std::vector<std::pair<CocoKind, CocoTruth>> out;
  const auto add = [&](CocoKind kind) {
    auto truth = file.read(kind);
    if (!truth) return report("--gt " + options.truth, truth.error()), out.clear(), false;
    out.emplace_back(kind, *std::move(truth));
    return true;
  };
  const CocoKind first = given == CocoKind::classes ? given : CocoKind::boxes;
  if (!add(first) || given == first) return out;
  if (wanted.option != nullptr || has_kind(out[0].second, given)) add(given);
  return out;
}

int val_model(const ValOptions& options, const ValTruth& file) {
  auto model = open_preset_model(options.model);
  if (!model) return exit_failure;
  auto truths = truths_for(options, file, kind_of(*model));
  if (truths.empty()) return exit_failure;
  if (truths.back().first != CocoKind::masks) model->mask_rule.reset();
  auto results = find_objects(options.model, *model, truths[0].second);
  if (!results) return exit_failure;
  if (!options.out.empty())
    if (auto written = write_results(options.out, truths[0].second, *results, kind_of(*model));
        !written)
      return report("--out " + options.out, written.error());
  std::vector<ValTable> tables;
  for (auto& [kind, truth] : truths) {
    auto table = measure(std::move(truth), *results, kind);
    if (!table) return report("--gt " + options.truth, table.error());
    tables.push_back(*std::move(table));
  }
  return show(options, tables);
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

int val(ValOptions options) {
  const bool has_model = !options.model.detector.model.empty();
  if (has_model == !options.detections.empty())
    return report_usage("command line", "needs one of --detections and --model");
  if (const int code = check_paths(options); code != exit_ok) return code;
  const auto truth = ValTruth::open(options.truth, options.sigmas);
  if (!truth) return report("--gt " + options.truth, truth.error());
  if (truth->is_folder() && options.model.images.empty()) options.model.images = options.truth;
  return has_model ? val_model(options, *truth) : val_detections(options, *truth);
}

constexpr const char* val_examples =
    "The numbers of COCO's protocol, as pycocotools gives them; - where there is nothing to "
    "measure\n"
    "on. Compared are boxes, or instead of them\n"
    "  --masks      segmentations: polygons and runs in the ground truth, runs in the detections\n"
    "  --keypoints  by the similarity of keypoints (OKS), with the sigmas of the ground truth\n"
    "  --rotated    rotated boxes (rbox or poly), by the exact IoU\n"
    "  --classes    classes of whole images: top-1 and top-5\n"
    "A model is measured in boxes and in what it gives beside them, where the ground truth has "
    "it.\n"
    "\n"
    "A model is run by the rules of a preset, ultralytics-val unless another is named; other "
    "options\n"
    "override it. A model's classes are matched to categories by name, or, if no name is the "
    "same, by\n"
    "order.\n"
    "\n"
    "Examples:\n"
    "  halyard val --gt instances_val2017.json --detections results.json --by-class\n"
    "  halyard val --gt instances_val2017.json --model yolov8n.onnx --images val2017 --json -\n"
    "  halyard val --gt imagenet/val --model yolov8n-cls.onnx    # a folder for each class";

void add_run_options(CommandSpec& spec, ModelRun& model) {
  DetectorOptions& detector = model.detector;
  spec.option("-m,--model", &detector.model, "Run a model: .onnx, .tflite or .xml");
  spec.option("--images", &model.images, "Folder of the images that the ground truth names");
  spec.option("--labels", &detector.labels, "Class names, one a line; default: the model's own");
  add_config_option(spec, detector);
  model.preset.preset = Preset::ultralytics_val();
  add_preset_options(spec, model.preset, "ultralytics-val");
  add_engine_options(spec, detector.engine);
  spec.option("-q,--quiet", &model.is_quiet, "No progress bar");
}

void add_kind_options(CommandSpec& spec, ValOptions& options) {
  spec.option(
      "--masks", &options.has_masks,
      "Compare segmentations: of --detections instead of boxes; of a model beside them (default "
      "where it gives masks and every annotation has a segmentation)");
  spec.option("--keypoints", &options.has_keypoints,
              "The same of keypoints (default of a model: where an annotation has some)")
      .without({"--masks"});
  spec.option("--sigmas", &options.sigmas,
              "Deviations of keypoints: one for all, or one for each; default: the ground "
              "truth's, COCO's for 17 keypoints, else 1/n")
      .positive();
  spec.option("--rotated", &options.has_rotated,
              "The same of rotated boxes (default of a model: where every annotation has one)")
      .without({"--masks", "--keypoints"});
  spec.option("--classes", &options.has_classes, "Compare classes of whole images instead")
      .without({"--masks", "--keypoints", "--rotated"});
}

}  // namespace

CommandSpec val_command() {
  auto options = std::make_shared<ValOptions>();
  CommandSpec spec{"val", "Average precision against a ground truth (COCO)", val_examples};
  spec.option("--gt", &options->truth,
              "Ground truth: instances in COCO's format; or a folder with one for each class")
      .required();
  spec.option("--detections", &options->detections, "Detections: results in COCO's format");
  add_kind_options(spec, *options);
  add_run_options(spec, options->model);
  add_limit_options(spec);
  spec.option("--out", &options->out, "Write the model's detections, as --detections reads them");
  spec.option("--by-class", &options->lists_classes, "Print the AP of each category");
  spec.option("--json", &options->json, "Write the numbers as JSON; - is standard output");
  spec.action = [options] { return val(*options); };
  return spec;
}

}  // namespace halyard::tool
