// SPDX-License-Identifier: Apache-2.0
// Presets: the outputs of known families of networks, as published.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text/cut_text.h"
#include "base/text/format_error.h"
#include "decode/description/end_to_end.h"
#include "decode/description/shapes.h"
#include "halyard/describe.h"

namespace halyard {
namespace {

using enum AxisName;
using Role = OutputRole;

constexpr std::array<std::string_view, 29> family_names{
    "yolov5",      "yolov5-seg",   "yolov5-pose", "yolov5-obb",      "yolov5-cls",    "yolov8",
    "yolov8-seg",  "yolov8-pose",  "yolov8-obb",  "yolov8-cls",      "yolo11",        "yolo11-seg",
    "yolo11-pose", "yolo11-obb",   "yolo11-cls",  "yolo26",          "yolo26-seg",    "yolo26-pose",
    "yolo26-obb",  "yolo26-cls",   "modelpack",   "modelpack-split", "modelpack-seg", "ssd",
    "nanodet",     "nanodet-plus", "rt-detr",     "segformer",       "deeplabv3"};

constexpr std::size_t prototypes = 32;
constexpr std::size_t anchors_of_a_cell = 3;

// The description that is built. It supplies defaults for options that the caller did not set.
struct Plan {
  std::string_view family;
  PresetOptions options;
  ModelDescription model;

  std::size_t classes(std::size_t usual) const {
    if (!model.labels.empty()) return model.labels.size();
    return options.classes != 0 ? options.classes : usual;
  }
  /// Uses the labels of a data set if the caller gave neither labels nor a count.
  void use_labels(std::string_view data_set) {
    if (model.labels.empty() && options.classes == 0) model.labels = labels_of(data_set);
  }
  std::size_t cells(std::initializer_list<std::uint32_t> strides) const {
    std::size_t sum = 0;
    for (const std::uint32_t stride : strides)
      sum += decode::cells_of(model.input, stride);
    return sum;
  }
  std::size_t boxes(std::size_t usual) const { return options.boxes != 0 ? options.boxes : usual; }
  Size map(std::int32_t shrunk) const {
    if (options.map != Size{}) return options.map;
    return {(model.input.width + shrunk - 1) / shrunk, (model.input.height + shrunk - 1) / shrunk};
  }
  OutputDescription& add(Role role, Family of, std::vector<std::pair<AxisName, std::size_t>> axes) {
    OutputDescription& out = model.outputs.emplace_back();
    out.role = role;
    out.family = of;
    for (const auto& [name, extent] : axes) {
      out.axes.push_back(name);
      out.shape.push_back(extent);
    }
    return out;
  }
};

constexpr std::size_t unsigned_extent(std::int32_t value) {
  return static_cast<std::size_t>(std::max(value, 0));
}

void classify_preset(Plan& plan) {
  plan.model.task = Task::classify;
  plan.add(Role::classification, Family::ultralytics,
           {{batch, 1}, {num_classes, plan.classes(1000)}})
      .applied = Activation::softmax;
}

// Sets the task of a YOLO. Returns the number of features that follow the scores.
std::size_t add_task(Plan& plan, Task task) {
  plan.model.task = task;
  switch (task) {
    case Task::segment:
      plan.use_labels("coco");
      return prototypes;
    case Task::pose:
      plan.model.keypoints = plan.options.keypoints.value_or(KeypointShape{17, 3});
      if (plan.model.labels.empty() && plan.options.classes == 0) plan.model.labels = {"person"};
      return decode::features_of(*plan.model.keypoints);
    case Task::obb:
      plan.use_labels("dota");
      return 1;
    default:
      plan.use_labels("coco");
      return 0;
  }
}

void yolo(Plan& plan, std::string_view version, Task task) {
  plan.model.decoder_version = version;
  if (task == Task::classify) return classify_preset(plan);
  const std::size_t extras = add_task(plan, task);
  const std::size_t classes = plan.classes(80);
  const std::size_t cells = plan.cells({8, 16, 32});
  if (version == "yolo26") {
    plan.model.nms = Nms::none;
    plan.add(Role::detection, Family::ultralytics,
             {{batch, 1},
              {num_boxes, plan.boxes(decode::max_end_to_end_rows)},
              {num_features, 6 + extras}});
  } else if (version == "yolov5") {
    plan.add(Role::detection, Family::ultralytics,
             {{batch, 1},
              {num_boxes, plan.boxes(cells * anchors_of_a_cell)},
              {num_features, 5 + classes + extras}})
        .score_format = ScoreFormat::obj_x_class;
  } else {
    plan.add(Role::detection, Family::ultralytics,
             {{batch, 1}, {num_features, 4 + classes + extras}, {num_boxes, plan.boxes(cells)}});
  }
  OutputDescription& detection = plan.model.outputs.back();
  detection.box_units = plan.options.box_units.value_or(BoxUnits::pixels);
  // Rows of suppressed boxes hold corners, except for rotated boxes.
  const bool has_corners = version == "yolo26" && task != Task::obb;
  detection.encoding = has_corners ? BoxEncoding::corners : BoxEncoding::direct;
  if (task != Task::segment) return;
  const Size map = plan.map(4);
  plan.add(Role::prototypes, Family::ultralytics,
           {{batch, 1},
            {num_protos, prototypes},
            {height, unsigned_extent(map.height)},
            {width, unsigned_extent(map.width)}});
}

void modelpack_preset(Plan& plan) {
  plan.model.nms = Nms::class_agnostic;
  const std::size_t boxes = plan.boxes(plan.cells({16, 32}) * anchors_of_a_cell);
  OutputDescription& coordinates =
      plan.add(Role::boxes, Family::modelpack,
               {{batch, 1}, {num_boxes, boxes}, {padding, 1}, {box_coords, 4}});
  coordinates.encoding = BoxEncoding::corners;
  coordinates.box_units = plan.options.box_units.value_or(BoxUnits::fraction);
  plan.add(Role::scores, Family::modelpack,
           {{batch, 1}, {num_boxes, boxes}, {num_classes, plan.classes(80)}});
}

Status modelpack_split(Plan& plan) {
  constexpr std::array<std::uint32_t, 2> strides{16, 32};
  if (plan.options.anchors.size() != strides.size()) {
    return fail(Errc::invalid_argument,
                "anchors: modelpack-split needs two levels, strides 16 and 32", "{} levels",
                plan.options.anchors.size());
  }
  plan.model.nms = Nms::class_agnostic;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const auto& anchors = plan.options.anchors[i];
    if (anchors.empty())
      return fail(Errc::invalid_argument, "anchors: every level needs at least one", "level {}", i);
    const auto cells = [stride = strides[i]](std::int32_t side) {
      return (unsigned_extent(side) + stride - 1) / stride;
    };
    OutputDescription& grid =
        plan.add(Role::detection, Family::modelpack,
                 {{batch, 1},
                  {height, cells(plan.model.input.height)},
                  {width, cells(plan.model.input.width)},
                  {num_anchors_x_features, anchors.size() * (5 + plan.classes(80))}});
    grid.encoding = BoxEncoding::anchor;
    grid.anchors = anchors;
    grid.stride = Stride{strides[i], strides[i]};
  }
  return {};
}

void segmentation(Plan& plan, Family family, std::int32_t shrunk, std::size_t classes) {
  if (family == Family::semantic) plan.model.task = Task::semantic;
  const Size map = plan.map(shrunk);
  const std::pair channels{num_classes, plan.classes(classes)};
  const std::pair rows{height, unsigned_extent(map.height)};
  const std::pair columns{width, unsigned_extent(map.width)};
  if (family == Family::modelpack)
    plan.add(Role::segmentation, family, {{batch, 1}, rows, columns, channels});
  else
    plan.add(Role::segmentation, family, {{batch, 1}, channels, rows, columns});
}

void ssd(Plan& plan) {
  const std::size_t boxes = plan.boxes(1917);  // MobileNet at 300 x 300
  OutputDescription& offsets =
      plan.add(Role::boxes, Family::ssd, {{batch, 1}, {num_boxes, boxes}, {box_coords, 4}});
  offsets.encoding = BoxEncoding::prior;
  offsets.box_units = plan.options.box_units.value_or(BoxUnits::fraction);
  plan.add(Role::scores, Family::ssd,
           {{batch, 1}, {num_boxes, boxes}, {num_classes, plan.classes(90) + 1}})
      .activation = Activation::softmax;
  plan.add(Role::priors, Family::ssd, {{num_boxes, boxes}, {box_coords, 4}});
}

void nanodet(Plan& plan, std::vector<std::uint32_t> strides) {
  constexpr std::size_t bins = 8;
  plan.use_labels("coco");
  std::size_t boxes = 0;
  for (const std::uint32_t stride : strides)
    boxes += decode::cells_of(plan.model.input, stride);
  OutputDescription& out = plan.add(
      Role::detection, Family::nanodet,
      {{batch, 1}, {num_boxes, plan.boxes(boxes)}, {num_features, plan.classes(80) + 4 * bins}});
  out.encoding = BoxEncoding::dfl;
  out.applied = Activation::sigmoid;
  out.strides = std::move(strides);
}

void rt_detr(Plan& plan) {
  plan.use_labels("coco");
  plan.model.nms = Nms::none;
  plan.add(Role::detection, Family::detr,
           {{batch, 1},
            {num_boxes, plan.boxes(decode::max_end_to_end_rows)},
            {num_features, 4 + plan.classes(80)}})
      .box_units = plan.options.box_units.value_or(BoxUnits::fraction);
}

std::optional<Task> family_task(std::string_view family) {
  const auto dash = family.find('-');
  if (dash == std::string_view::npos) return Task::detect;
  const std::string_view word = family.substr(dash + 1);
  if (word == "seg") return Task::segment;
  if (word == "pose") return Task::pose;
  if (word == "obb") return Task::obb;
  if (word == "cls") return Task::classify;
  return std::nullopt;
}

Size usual_input(std::string_view family) {
  if (family.ends_with("-cls")) return {224, 224};
  if (family == "ssd") return {300, 300};
  if (family == "nanodet") return {320, 320};
  if (family == "nanodet-plus") return {416, 416};
  if (family == "segformer" || family == "deeplabv3") return {512, 512};
  return family.ends_with("-obb") ? Size{1024, 1024} : Size{640, 640};
}

Status fill(Plan& plan) {
  const std::string_view family = plan.family;
  if (family.starts_with("yolo")) {
    yolo(plan, family.substr(0, family.find('-')), *family_task(family));
    return {};
  }
  if (family == "modelpack-split") return modelpack_split(plan);
  if (family == "modelpack") modelpack_preset(plan);
  if (family == "modelpack-seg") segmentation(plan, Family::modelpack, 1, 2);
  if (family == "ssd") ssd(plan);
  if (family == "nanodet") nanodet(plan, {8, 16, 32});
  if (family == "nanodet-plus") nanodet(plan, {8, 16, 32, 64});
  if (family == "rt-detr") rt_detr(plan);
  if (family == "segformer") segmentation(plan, Family::semantic, 4, 150);
  if (family == "deeplabv3") segmentation(plan, Family::semantic, 1, 21);
  return {};
}

}  // namespace

std::span<const std::string_view> model_families() noexcept {
  return family_names;
}

Result<ModelDescription> describe_model(std::string_view family, const PresetOptions& options) {
  if (std::find(family_names.begin(), family_names.end(), family) == family_names.end()) {
    return fail(Errc::unsupported, "family: no preset of that name", "\"{}\"; there are {}",
                cut_text(family, 60), fmt::join(family_names, ", "));
  }
  constexpr std::int32_t maximum = 65536;  // for both sides; keeps products far from overflow
  const Size input = options.input == Size{} ? usual_input(family) : options.input;
  if (input.width < 1 || input.height < 1 || input.width > maximum || input.height > maximum) {
    return fail(Errc::invalid_argument, "input: sides must be 1..65536", "{} x {}", input.width,
                input.height);
  }
  if (!options.labels.empty() && options.classes != 0 && options.classes != options.labels.size()) {
    return fail(Errc::invalid_argument, "classes: must be the number of labels",
                "{} classes, {} labels", options.classes, options.labels.size());
  }
  constexpr std::size_t max_extent = 2147483647;
  if (options.boxes > max_extent || options.classes > max_extent / 2) {
    return fail(Errc::invalid_argument, "boxes, classes: must be at most 2147483647 and 1073741823",
                "{} boxes, {} classes", options.boxes, options.classes);
  }
  Plan plan{family, options, {}};
  plan.model.input = input;
  plan.model.labels = options.labels;
  HALYARD_RETURN_IF_ERROR(fill(plan));
  HALYARD_RETURN_IF_ERROR(validate(plan.model));
  return std::move(plan.model);
}

}  // namespace halyard
