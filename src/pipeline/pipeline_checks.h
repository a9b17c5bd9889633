// SPDX-License-Identifier: Apache-2.0
// The checks of Pipeline::create().
#pragma once

#include "halyard/pipeline.h"

namespace halyard::pipeline {

/// Errors: invalid_argument; the message names the field and its limit.
Status check_options(const PipelineOptions& options);

/// Whether a network can be fed with images. Errors: unsupported.
Status check_image_input(const Engine& engine);

}  // namespace halyard::pipeline
