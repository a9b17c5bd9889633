// SPDX-License-Identifier: Apache-2.0
// What the live view shows: the inputs of the command line as a source of a Pipeline.
#pragma once

#include <string>
#include <vector>

#include "halyard/pipeline.h"

namespace halyard::tool {

/// A camera, an address or a topic as PipelineSource::open() has it; files, folders and videos at
/// their own speed, one after the other, and again from the first if `repeats`. A file that takes
/// longer than its time is stretched. Errors: those of PipelineSource::open() and Inputs::open();
/// invalid_argument (a camera, address or topic beside other inputs).
Result<PipelineSource> open_live_input(const std::vector<std::string>& paths,
                                       const FrameSourceOptions& reading, bool repeats);

/// An address without the user and password that it may have.
std::string shown_name(const std::string& input);

}  // namespace halyard::tool
