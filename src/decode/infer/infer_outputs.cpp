// SPDX-License-Identifier: Apache-2.0
// Infers outputs from facts and shapes. A layout is used only if the shape allows it. If labels are
// known and no layout fits, the error reports both and nothing is guessed.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text/format_error.h"
#include "decode/description/end_to_end.h"
#include "decode/description/shapes.h"
#include "decode/infer/infer_outputs.h"
#include "decode/infer/metadata.h"

namespace halyard::decode {
namespace {

using enum AxisName;

constexpr std::size_t box_coordinates = 4;

enum class HeadLayout { plain, objectness, rows };

/// One way to interpret a tensor as a combined detection.
struct Reading {
  HeadLayout layout = HeadLayout::plain;
  bool features_first = true;
  std::size_t features = 0;
  std::size_t boxes = 0;
  std::size_t classes = 0;  ///< 0 for rows: the tensor does not show it
};

std::string spec_text(const TensorSpec& spec) {
  return fmt::format("\"{}\" [{}]", spec.name, fmt::join(spec.shape, ", "));
}

class Inference {
 public:
  Inference(const ModelMetadata& metadata, const Facts& facts, ModelDescription& out)
      : metadata_(metadata), facts_(facts), out_(out) {}

  Status run() {
    const auto& outputs = metadata_.outputs;
    if (outputs.empty()) return unknown("the model has no outputs");
    if (facts_.is_transformer) return transformer();
    const auto task = facts_.task ? std::optional(facts_.task->value) : std::nullopt;
    if (task == Task::classify) return classifier();
    if (task == Task::semantic) return semantic();
    if (task == Task::pose && !out_.keypoints)
      return unknown("a pose needs kpt_shape (" + facts_.task->source + " is pose)");
    if (task == Task::segment && outputs.size() != 2)
      return unknown("masks need two outputs (" + facts_.task->source + " is segment)");
    const auto of_rank = [&](std::size_t rank) {
      return std::count_if(outputs.begin(), outputs.end(),
                           [rank](const TensorSpec& spec) { return spec.shape.size() == rank; });
    };
    const bool is_list = of_rank(3) == 1 || (outputs.size() == 1 && of_rank(2) == 1);
    if (is_list && outputs.size() == 1) return detection(0, nullptr);
    if (is_list && outputs.size() == 2 && of_rank(4) == 1) {
      const std::size_t list = outputs[0].shape.size() == 3 ? 0 : 1;
      return detection(list, &outputs[1 - list]);
    }
    return unknown("there must be one output of rank 3, or one of rank 3 and one of rank 4");
  }

 private:
  Error unknown(std::string_view reason) const {
    return fail(Errc::unsupported, "outputs: no description, and none can be inferred",
                "{}; shapes seen: {}; describe them in a document", reason, shapes_seen(metadata_));
  }
  void origin(std::string field, std::string source) {
    out_.origins.push_back({std::move(field), std::move(source)});
  }

  OutputDescription& add(std::size_t index, OutputRole role, Family family,
                         std::vector<AxisName> axes) {
    const TensorSpec& spec = metadata_.outputs[index];
    if (out_.outputs.size() <= index) out_.outputs.resize(metadata_.outputs.size());
    OutputDescription& output = out_.outputs[index];
    output.name = spec.name;
    output.role = role;
    output.family = family;
    output.shape = spec.shape;
    output.dtype = spec.dtype;
    output.quantization = spec.quantization;
    output.axes = std::move(axes);
    return output;
  }
  void use_units(OutputDescription& output, std::size_t index) {
    if (!facts_.box_units) return;
    output.box_units = facts_.box_units->value;
    origin(fmt::format("outputs[{}].normalized", index), facts_.box_units->source);
  }

  std::size_t label_count() const { return facts_.labels ? facts_.labels->value.size() : 0; }
  std::size_t cells() const {
    std::size_t sum = 0;
    for (const std::uint32_t stride : {8U, 16U, 32U})
      sum += cells_of(out_.input, stride);
    return sum;
  }

  // Number of features that follow the scores.
  std::size_t extras(std::size_t coefficients) const {
    std::size_t count = coefficients;
    if (out_.keypoints) count += features_of(*out_.keypoints);
    if (facts_.task && facts_.task->value == Task::obb) ++count;
    return count;
  }

  // All readings that are consistent with the shape, the labels and the fact about suppression.
  std::vector<Reading> readings(const TensorSpec& spec, std::size_t coefficients) const {
    std::vector<Reading> out;
    const std::size_t more = extras(coefficients);
    const std::size_t labels = label_count();
    const std::size_t rank = spec.shape.size();
    for (const bool features_first : {true, false}) {
      const std::size_t features = spec.shape[rank - (features_first ? 2 : 1)];
      const std::size_t boxes = spec.shape[rank - (features_first ? 1 : 2)];
      const auto add_list = [&](HeadLayout layout, std::size_t base) {
        if (features <= base + more) return;
        const std::size_t classes = features - base - more;
        if (labels != 0 && classes != labels) return;
        out.push_back({layout, features_first, features, boxes, classes});
      };
      const bool is_final = facts_.is_final && facts_.is_final->value;
      const bool may_be_rows = is_final || (!facts_.is_final && boxes <= max_end_to_end_rows);
      if (may_be_rows && features == end_to_end_features + more)
        out.push_back({HeadLayout::rows, features_first, features, boxes, labels});
      if (is_final) continue;
      add_list(HeadLayout::plain, box_coordinates);
      // Heads with objectness have several anchors per cell; heads with one box per cell have none.
      if (cells() == 0 || boxes != cells()) add_list(HeadLayout::objectness, box_coordinates + 1);
    }
    return out;
  }

  // Evidence for a reading: the version, the number of cells, more boxes than features.
  int weight(const Reading& reading) const {
    const std::string version = facts_.version ? facts_.version->value : "";
    const bool is_new = version == "yolo26" || version == "yolov10";
    int sum = 0;
    if (reading.layout == HeadLayout::rows && is_new) sum += 8;
    if (cells() != 0 && reading.layout == HeadLayout::plain && reading.boxes == cells()) sum += 8;
    if (cells() != 0 && reading.layout == HeadLayout::objectness && reading.boxes == 3 * cells())
      sum += 8;
    if (reading.layout == HeadLayout::objectness && version == "yolov5") sum += 2;
    if (reading.layout == HeadLayout::plain && version != "yolov5") sum += 2;
    // With two labels, rows of 6 can also be coordinates and two classes, one row per cell.
    const bool is_odd = label_count() != 2 || (cells() != 0 && reading.boxes != cells());
    if (reading.layout == HeadLayout::rows && !reading.features_first && is_odd) sum += 4;
    if (reading.boxes > reading.features) sum += 3;
    return sum;
  }

  Result<Reading> choose(const TensorSpec& spec, std::size_t coefficients) const {
    auto all = readings(spec, coefficients);
    if (all.empty() && facts_.labels) {
      return fail(Errc::invalid_argument, "labels: must be one per class",
                  "{} given ({}), output {} has no axis of {}, {} or {} features", label_count(),
                  facts_.labels->source, spec_text(spec),
                  box_coordinates + label_count() + extras(coefficients),
                  box_coordinates + 1 + label_count() + extras(coefficients),
                  end_to_end_features + extras(coefficients));
    }
    if (all.empty()) return unknown("too few features for a detection");
    std::stable_sort(all.begin(), all.end(),
                     [this](const Reading& a, const Reading& b) { return weight(a) > weight(b); });
    if (all.size() > 1 && weight(all[0]) == weight(all[1])) {
      return fail(Errc::unsupported, "outputs: more than one layout fits; describe them",
                  "output {}: {} features and {} boxes, or {} and {}", spec_text(spec),
                  all[0].features, all[0].boxes, all[1].features, all[1].boxes);
    }
    return all[0];
  }

  Status detection(std::size_t index, const TensorSpec* prototypes) {
    const TensorSpec& spec = metadata_.outputs[index];
    std::size_t coefficients = 0;
    bool prototypes_first = false;
    if (prototypes != nullptr) {
      prototypes_first = prototypes->shape[1] <= prototypes->shape[3];
      coefficients = prototypes->shape[prototypes_first ? 1 : 3];
    }
    HALYARD_TRY(const Reading reading, choose(spec, coefficients));
    std::vector<AxisName> axes(spec.shape.size() - 2, batch);
    axes.push_back(reading.features_first ? num_features : num_boxes);
    axes.push_back(reading.features_first ? num_boxes : num_features);
    OutputDescription& output =
        add(index, OutputRole::detection, Family::ultralytics, std::move(axes));
    finish(reading, output, index);
    if (prototypes == nullptr) return {};
    const std::size_t other = 1 - index;
    add(other, OutputRole::prototypes, Family::ultralytics,
        prototypes_first ? std::vector{batch, num_protos, height, width}
                         : std::vector{batch, height, width, num_protos});
    origin(fmt::format("outputs[{}].type", other), "its rank, 4, beside a detection");
    return {};
  }

  void finish(const Reading& reading, OutputDescription& output, std::size_t index) {
    const std::string path = fmt::format("outputs[{}]", index);
    const std::string shape = "shape of " + spec_text(metadata_.outputs[index]);
    origin(path + ".type", facts_.task ? facts_.task->source : shape);
    origin(path + ".dshape",
           fmt::format("{}: {} features, {} boxes", shape, reading.features, reading.boxes));
    use_units(output, index);
    const bool is_rotated = facts_.task && facts_.task->value == Task::obb;
    const std::string version = facts_.version ? facts_.version->value : "";
    switch (reading.layout) {
      case HeadLayout::rows:
        out_.decoder_version = "yolo26";
        output.encoding = is_rotated ? BoxEncoding::direct : BoxEncoding::corners;
        out_.nms = Nms::none;
        origin("decoder_version",
               facts_.is_final ? facts_.is_final->source : shape + ": rows of suppressed boxes");
        return;
      case HeadLayout::objectness:
        out_.decoder_version = "yolov5";
        output.score_format = ScoreFormat::obj_x_class;
        origin("decoder_version", shape + ": a feature more than coordinates and classes");
        break;
      case HeadLayout::plain:
        out_.decoder_version = version == "yolo11" ? "yolo11" : "yolov8";
        origin("decoder_version",
               version == "yolo11" ? facts_.version->source : shape + ": no objectness");
        break;
    }
    output.encoding = BoxEncoding::direct;
  }

  Status classifier() {
    if (metadata_.outputs.size() != 1) return unknown("a classifier must have one output");
    const TensorSpec& spec = metadata_.outputs[0];
    if (spec.shape.empty()) return unknown("a classifier's output must have an axis of classes");
    const std::size_t labels = label_count();
    const auto classes =
        static_cast<std::size_t>(*std::max_element(spec.shape.begin(), spec.shape.end()));
    if (labels != 0 && classes != labels) {
      return fail(Errc::invalid_argument, "labels: must be one per class",
                  "{} given ({}), output {}", labels, facts_.labels->source, spec_text(spec));
    }
    OutputDescription& output = add(0, OutputRole::classification, Family::ultralytics, {});
    origin("outputs[0].type", facts_.task->source);
    if (facts_.activation) {
      output.activation = facts_.activation->value;
      origin("outputs[0].activation_required", facts_.activation->source);
    } else {
      output.applied = Activation::softmax;
    }
    return {};
  }

  // Scores [batch, classes, h, w] or [batch, h, w, classes], or integer classes [batch, h, w].
  Status semantic() {
    if (metadata_.outputs.size() != 1) return unknown("semantic segmentation must have one output");
    const TensorSpec& spec = metadata_.outputs[0];
    origin("outputs[0].type", facts_.task->source);
    if (spec.shape.size() == 3 && is_integer(spec.dtype)) {
      add(0, OutputRole::class_map, Family::semantic, {batch, height, width});
      return {};
    }
    if (spec.shape.size() != 4) return unknown("scores of pixels must have rank 4");
    const std::size_t labels = label_count();
    const bool first = labels != 0 ? spec.shape[1] == labels : spec.shape[1] < spec.shape[3];
    const bool last = labels != 0 ? spec.shape[3] == labels : spec.shape[3] < spec.shape[1];
    if (first == last) {
      if (labels == 0) return unknown("classes can be axis 1 or axis 3; labels would decide");
      return fail(Errc::invalid_argument, "labels: must be one per class",
                  "{} given ({}), output {}", labels, facts_.labels->source, spec_text(spec));
    }
    add(0, OutputRole::segmentation, Family::semantic,
        first ? std::vector{batch, num_classes, height, width}
              : std::vector{batch, height, width, num_classes});
    origin("outputs[0].dshape",
           facts_.labels ? facts_.labels->source : "shape of " + spec_text(spec));
    return {};
  }

  // Heads like DETR: logits [batch, queries, classes] and pred_boxes [batch, queries, 4].
  Status transformer() {
    if (facts_.has_no_object) return unknown("a class \"no object\" is not decoded");
    std::optional<std::size_t> boxes;
    std::optional<std::size_t> scores;
    for (std::size_t i = 0; i < metadata_.outputs.size(); ++i) {
      const std::string& name = metadata_.outputs[i].name;
      if (metadata_.outputs[i].shape.size() != 3) continue;
      if (name.find("pred_boxes") != std::string::npos) boxes = i;
      if (name.find("logits") != std::string::npos) scores = i;
    }
    if (!boxes || !scores) return unknown("outputs pred_boxes and logits of rank 3 are needed");
    const TensorSpec& spec = metadata_.outputs[*scores];
    if (label_count() != 0 && spec.shape[2] != label_count()) {
      return fail(Errc::invalid_argument, "labels: must be one per class",
                  "{} given ({}), output {}", label_count(), facts_.labels->source,
                  spec_text(spec));
    }
    out_.outputs.resize(metadata_.outputs.size());
    for (std::size_t i = 0; i < out_.outputs.size(); ++i)
      add(i, OutputRole::auxiliary, Family::detr, {});
    OutputDescription& coordinates =
        add(*boxes, OutputRole::boxes, Family::detr, {batch, num_boxes, box_coords});
    coordinates.box_units = BoxUnits::fraction;
    origin(fmt::format("outputs[{}].normalized", *boxes), "definition of pred_boxes");
    add(*scores, OutputRole::scores, Family::detr, {batch, num_boxes, num_classes}).activation =
        facts_.activation->value;
    origin(fmt::format("outputs[{}].activation_required", *scores), facts_.activation->source);
    out_.nms = Nms::none;
    return {};
  }

  const ModelMetadata& metadata_;
  const Facts& facts_;
  ModelDescription& out_;
};

}  // namespace

std::string shapes_seen(const ModelMetadata& metadata) {
  std::string out;
  for (const TensorSpec& spec : metadata.outputs)
    out += (out.empty() ? "" : ", ") + spec_text(spec);
  return out.empty() ? "none" : out;
}

Status infer_outputs(const ModelMetadata& metadata, const Facts& facts, ModelDescription& out) {
  return Inference(metadata, facts, out).run();
}

}  // namespace halyard::decode
