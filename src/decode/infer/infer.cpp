// SPDX-License-Identifier: Apache-2.0
// infer_description(): uses a document if there is one, else facts and shapes.
#include <algorithm>

#include "base/text/format_error.h"
#include "decode/description/shapes.h"
#include "decode/document/document.h"
#include "decode/document/document_json.h"
#include "decode/document/document_yaml.h"
#include "decode/infer/infer_outputs.h"
#include "decode/infer/metadata.h"
#include "halyard/describe.h"

namespace halyard {
namespace {

using Sidecar = ModelMetadata::Attachment;
using decode::Facts;

bool is_yaml(std::string_view name) noexcept {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

// Name of a model or sidecar file without folders and extension.
std::string_view stem_of(std::string_view path) noexcept {
  path = path.substr(path.find_last_of('/') + 1);
  return path.substr(0, path.find_last_of('.'));
}

// 0: an embedded document; 1: a document beside the model; 2: a file with the model's name; 3: no
// document.
int preference_of(const Sidecar& attachment, const ModelMetadata& metadata) noexcept {
  const std::string_view name = attachment.name;
  if (name == "edgefirst.json" || name == "edgefirst.yaml") return attachment.is_embedded ? 0 : 1;
  const bool has_kind = name.ends_with(".json") || is_yaml(name);
  return has_kind && stem_of(name) == stem_of(metadata.file) ? 2 : 3;
}

// Whether the text describes outputs. A file with the model's name can hold anything.
bool describes_outputs(const Sidecar& attachment) {
  const auto tree = is_yaml(attachment.name) ? decode::parse_yaml(attachment.text)
                                             : decode::parse_json(attachment.text);
  return tree && (*tree)->is_object() && (*tree)->contains("outputs");
}

const Sidecar* find_document(const ModelMetadata& metadata, std::vector<std::string>& warnings) {
  for (int rank = 0; rank < 3; ++rank) {
    for (const Sidecar& attachment : metadata.attachments) {
      if (preference_of(attachment, metadata) != rank) continue;
      if (rank < 2 || describes_outputs(attachment)) return &attachment;
      warnings.push_back(attachment.name + ": describes no outputs, ignored");
    }
  }
  return nullptr;
}

// Whether the shapes are equal except for the first extent, which can be a batch.
bool shapes_fit(const std::vector<std::size_t>& described, const std::vector<std::size_t>& real) {
  if (described.size() != real.size()) return false;
  return std::equal(described.begin() + (described.size() > 1 ? 1 : 0), described.end(),
                    real.begin() + (real.size() > 1 ? 1 : 0));
}

// A described output must exist in the model.
Status check_against_metadata(const ModelMetadata& metadata, const OutputDescription& output,
                              const std::string& path, const std::string& from) {
  if (output.role == OutputRole::auxiliary || metadata.outputs.empty()) return {};
  const auto has = [&](const TensorSpec& spec) { return shapes_fit(output.shape, spec.shape); };
  if (std::any_of(metadata.outputs.begin(), metadata.outputs.end(), has)) return {};
  return fail(Errc::invalid_argument, "description: the model has no such output",
              "{} of {}: {}; the model has {}", path, from, decode::text_of(output.shape),
              decode::shapes_seen(metadata));
}

Status check_document(const ModelMetadata& metadata, const ModelDescription& description,
                      const std::string& from) {
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const OutputDescription& output = description.outputs[i];
    const std::string path = fmt::format("outputs[{}]", i);
    if (output.parts.empty())
      HALYARD_RETURN_IF_ERROR(check_against_metadata(metadata, output, path, from));
    for (std::size_t p = 0; p < output.parts.size(); ++p)
      HALYARD_RETURN_IF_ERROR(check_against_metadata(metadata, output.parts[p],
                                                     fmt::format("{}.outputs[{}]", path, p), from));
  }
  return {};
}

// Adds facts that the description lacks.
Status complete_description(const Facts& facts, ModelDescription& out,
                            const std::string& document) {
  const auto told = [&out](const char* field, const std::string& source) {
    out.origins.push_back({field, source});
  };
  if (facts.input && out.input == Size{}) {
    out.input = facts.input->value;
    told("input", facts.input->source);
  } else if (facts.input && out.input != facts.input->value) {
    return fail(Errc::invalid_argument, "input: the model and its description differ",
                "{} x {} in {}, {} x {} ({})", out.input.width, out.input.height, document,
                facts.input->value.width, facts.input->value.height, facts.input->source);
  }
  if (facts.labels && out.labels.empty()) {
    out.labels = facts.labels->value;
    told("labels", facts.labels->source);
  }
  if (facts.task && !out.task) {
    out.task = facts.task->value;
    told("task", facts.task->source);
  }
  if (facts.keypoints && !out.keypoints) {
    out.keypoints = facts.keypoints->value;
    told("kpt_shape", facts.keypoints->source);
  }
  return {};
}

}  // namespace

Result<ModelDescription> infer_description(const ModelMetadata& metadata) {
  std::vector<std::string> warnings;
  const Sidecar* document = find_document(metadata, warnings);
  const Facts facts = decode::facts_of(metadata);
  ModelDescription out;
  std::string from;
  if (document != nullptr) {
    from = fmt::format("{} {} {}", document->name, document->is_embedded ? "in" : "beside",
                       metadata.file);
    auto read = is_yaml(document->name) ? ModelDescription::from_yaml(document->text)
                                        : ModelDescription::from_json(document->text);
    if (!read) {
      const Error& error = read.error();
      return make_error(error.code, error.what,
                        from + ": " + (error.detail ? *error.detail : std::string()));
    }
    out = *std::move(read);
    HALYARD_RETURN_IF_ERROR(check_document(metadata, out, from));
    out.origins.push_back({"outputs", from});
  }
  HALYARD_RETURN_IF_ERROR(complete_description(facts, out, from));
  if (document == nullptr) HALYARD_RETURN_IF_ERROR(decode::infer_outputs(metadata, facts, out));
  HALYARD_RETURN_IF_ERROR(validate(out));
  out.warnings.insert(out.warnings.end(), warnings.begin(), warnings.end());
  out.warnings.insert(out.warnings.end(), facts.warnings.begin(), facts.warnings.end());
  return out;
}

}  // namespace halyard
