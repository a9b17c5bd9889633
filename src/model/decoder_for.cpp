// SPDX-License-Identifier: Apache-2.0
// From an engine's specs and metadata to a decoder. What the file does not say is not guessed here.
#include <utility>

#include "halyard/model.h"
#include "model/session.h"

namespace halyard {

BoxUnits box_units(const Engine& engine) {
  const auto& metadata = engine.metadata();
  if (const auto entry = metadata.find("box_units"); entry != metadata.end()) {
    if (entry->second == "fraction") return BoxUnits::fraction;
    if (entry->second == "pixels") return BoxUnits::pixels;
  }
  const bool is_tflite = model::file_kind(engine.path()) == model::FileKind::tflite;
  return is_tflite ? BoxUnits::fraction : BoxUnits::pixels;
}

Result<Decoder> decoder_for(const Engine& engine, DecodeOptions options) {
  ModelDescription description;
  description.input = engine.input_size();
  description.labels = engine.labels();
  for (const TensorSpec& spec : engine.outputs()) {
    OutputDescription& output = description.outputs.emplace_back();
    output.name = spec.name;
    output.shape = spec.shape;
    output.quantization = spec.quantization;
    output.box_units = box_units(engine);
  }
  return Decoder::create(std::move(description), options);
}

}  // namespace halyard
