// SPDX-License-Identifier: Apache-2.0
// Makes a decoder from the metadata of an engine and its model file.
#include <utility>

#include "halyard/model.h"
#include "model/engine.h"
#include "model/runtime.h"

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
  HALYARD_TRY(ModelDescription description, infer_description(metadata_of(engine)));
  return Decoder::create(std::move(description), options);
}

}  // namespace halyard
