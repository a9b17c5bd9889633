// SPDX-License-Identifier: Apache-2.0
// What the live view shows: the inputs and the model of the command line, as parts of a Pipeline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halyard/pipeline.h"
#include "input/detector.h"

namespace halyard::tool {

/// A camera, an address or a topic as PipelineSource::open() has it; files, folders and videos at
/// their own speed, one after the other, and again from the first if `repeats`. A file that takes
/// longer than its time is stretched. Errors: those of PipelineSource::open() and Inputs::open();
/// invalid_argument (a camera, address or topic beside other inputs).
Result<PipelineSource> open_live_input(const std::vector<std::string>& paths,
                                       const FrameSourceOptions& reading, bool repeats);

/// An address without the user and password that it may have.
std::string shown_name(const std::string& input);

/// Opens the model with its labels and its description. Reports its own errors, with the option's
/// name. Nullopt on failure.
std::optional<PipelineModel> open_live_model(const DetectorOptions& options);

/// Whether the head gives masks.
bool gives_masks(const Decoder& decoder);

}  // namespace halyard::tool
