// SPDX-License-Identifier: Apache-2.0
// Compiles heads that classify the whole image.
#include "decode/compile/compile.h"

namespace halyard::decode {
namespace {

Result<TensorAxes> classification_axes(const NamedOutput& output) {
  const auto& shape = output->shape;
  TensorAxes axes;
  for (std::size_t i = 0; i < output->axes.size(); ++i) {
    if (output->axes[i] == AxisName::batch) axes.batch = i;
    if (output->axes[i] == AxisName::num_classes) axes.feature = i;
  }
  if (output->axes.empty()) {
    if (shape.size() > 1) axes.batch = 0;
    for (std::size_t i = shape.size(); i-- > (axes.batch ? 1U : 0U);) {
      if (shape[i] != 1 || (i == shape.size() - 1 && !axes.feature)) axes.feature = i;
    }
  }
  if (!axes.feature) return wrong_output(output, "outputs: axes must name num_classes");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && i != *axes.feature && axes.batch != i)
      return wrong_output(output, "outputs: scores of an image have one axis of classes");
  }
  return axes;
}

}  // namespace

Result<HeadProgram> compile_classes(const ModelDescription& description, const Outputs& outputs) {
  const NamedOutput& output = outputs.classification;
  if (!output->parts.empty()) return no_head(description, "classes split into several tensors");
  if (!outputs.detections.empty() || outputs.boxes || outputs.scores)
    return no_head(description, "classes of the image beside boxes");
  HALYARD_TRY(const TensorAxes axes, classification_axes(output));
  HeadProgram program;
  program.name = "classification";
  program.box_units = BoxUnits::pixels;
  program.is_classifier = true;
  program.scoring.activation = output->activation;
  Level level;
  level.columns = 1;
  level.scores.tensor = add_tensor(program, output, axes);
  level.scores.count = output->shape[*axes.feature];
  program.class_count = level.scores.count;
  program.levels.push_back(std::move(level));
  return program;
}

}  // namespace halyard::decode
