// SPDX-License-Identifier: Apache-2.0
// Metadata in a model file and beside it, for the description of the model.
#pragma once

#include <string>
#include <vector>

#include "halyard/describe.h"
#include "halyard/model.h"
#include "model/runtime.h"

namespace halyard::model {

/// The texts of the archive at the end of the file, and the files beside it that describe models:
/// edgefirst.json, edgefirst.yaml, those of the model's own name, config.json,
/// preprocessor_config.json, labels.txt; each up to 4 MiB. Texts that cannot be read are omitted.
std::vector<ModelMetadata::Attachment> read_attachments(const std::string& path);

/// The dict of metadata among the embedded texts: "{'task': 'detect', ...}"; empty if there is
/// none.
Metadata metadata_of(const std::vector<ModelMetadata::Attachment>& attachments);

}  // namespace halyard::model
