// SPDX-License-Identifier: Apache-2.0
// What the live view shows: the inputs of the command line as a source of a Pipeline.
#pragma once

#include <string>
#include <vector>

#include "halyard/pipeline.h"

namespace halyard::tool {

/// One input as PipelineSource::open() has it; several files, folders and videos as Inputs reads
/// them. Errors: those of PipelineSource::open() and Inputs::open(); invalid_argument (a camera,
/// address or topic beside other inputs).
Result<PipelineSource> open_live_input(const std::vector<std::string>& paths,
                                       const FrameSourceOptions& reading);

}  // namespace halyard::tool
