// SPDX-License-Identifier: Apache-2.0
// Collects the metadata of model files. It interprets nothing but one dict of metadata.
#include "model/file_metadata.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/text/format_error.h"
#include "base/text/python_literal.h"
#include "model/engine.h"
#include "model/onnx_file.h"
#include "model/zip_archive.h"

namespace halyard {
namespace model {
namespace {

constexpr std::size_t max_bytes = std::size_t{4} << 20;

bool read_text(const std::filesystem::path& path, std::string& out) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? std::streamoff(file.tellg()) : -1;
  if (size < 0 || std::size_t(size) > max_bytes) return false;
  out.resize(std::size_t(size));
  file.seekg(0);
  file.read(out.data(), size);
  return bool(file);
}

bool describes_models(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> known{"edgefirst.json", "edgefirst.yaml", "config.json",
                                                  "preprocessor_config.json", "labels.txt"};
  return std::find(known.begin(), known.end(), name) != known.end();
}

std::vector<std::filesystem::path> texts_beside(const std::filesystem::path& model) {
  const std::string stem = model.stem().string();
  std::vector<std::filesystem::path> out;
  for (const std::string& name :
       {std::string("edgefirst.json"), std::string("edgefirst.yaml"), stem + ".json",
        stem + ".yaml", std::string("config.json"), std::string("preprocessor_config.json"),
        std::string("labels.txt")})
    out.push_back(model.parent_path() / name);
  return out;
}

}  // namespace

std::vector<ModelMetadata::Attachment> read_attachments(const std::string& path) {
  std::vector<ModelMetadata::Attachment> out;
  for (NamedText& entry : appended_texts(path))
    out.push_back({std::move(entry.name), std::move(entry.text), true});
  for (const auto& file : texts_beside(path)) {
    std::string text;
    if (read_text(file, text)) out.push_back({file.filename().string(), std::move(text), false});
  }
  return out;
}

Metadata metadata_of(const std::vector<ModelMetadata::Attachment>& attachments) {
  for (const auto& attachment : attachments) {
    if (!attachment.is_embedded || describes_models(attachment.name)) continue;
    const auto items = split_literal(attachment.text);
    if (!items || items->empty()) continue;
    Metadata out;
    for (const LiteralItem& item : *items)
      out[item.key] = item.value;
    return out;
  }
  return {};
}

}  // namespace model

namespace {

// Adds the texts that are in or beside the file to the metadata of the model itself.
ModelMetadata with_texts(ModelMetadata out, const std::string& path) {
  out.file = std::filesystem::path(path).filename().string();
  // A field of the metadata may contain a whole file.
  for (const char* name :
       {"edgefirst.json", "edgefirst.yaml", "config.json", "preprocessor_config.json"}) {
    const auto entry = out.metadata.find(name);
    if (entry != out.metadata.end()) out.attachments.push_back({name, entry->second, true});
  }
  for (auto& attachment : model::read_attachments(path))
    out.attachments.push_back(std::move(attachment));
  return out;
}

}  // namespace

ModelMetadata metadata_of(const Engine& engine) {
  ModelMetadata out;
  const auto kind = model::file_kind(engine.path());
  if (kind == model::FileKind::onnx) out.format = ModelFormat::onnx;
  if (kind == model::FileKind::tflite) out.format = ModelFormat::tflite;
  if (kind == model::FileKind::ir) out.format = ModelFormat::openvino;
  out.inputs.assign(engine.inputs().begin(), engine.inputs().end());
  out.outputs.assign(engine.outputs().begin(), engine.outputs().end());
  out.metadata = engine.metadata();
  return with_texts(std::move(out), engine.path());
}

std::vector<std::string> files_of_model(const std::string& path) {
  const std::filesystem::path model(path);
  const auto kind = model::file_kind(path);
  std::vector<std::filesystem::path> named;
  if (kind) named = model::texts_beside(model);
  if (kind == model::FileKind::ir)
    named.push_back(std::filesystem::path(model).replace_extension(".bin"));
  if (kind == model::FileKind::onnx) {
    const auto external = model::external_files(path);
    for (std::size_t i = 0; external && i < external->size(); ++i)
      named.push_back(model.parent_path() / (*external)[i]);
  }
  named.insert(named.begin(), model);
  std::vector<std::string> out;
  for (const auto& file : named) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) out.push_back(file.string());
  }
  return out;
}

Result<ModelMetadata> metadata_of_file(const std::string& path) {
  if (model::file_kind(path) != model::FileKind::onnx) {
    return fail(Errc::unsupported, "only .onnx files are read without an inference engine", "{}",
                path);
  }
  HALYARD_TRY(model::OnnxFile file, model::read_onnx(path));
  ModelMetadata out;
  out.format = ModelFormat::onnx;
  out.inputs = std::move(file.inputs);
  out.outputs = std::move(file.outputs);
  out.metadata = std::move(file.metadata);
  return with_texts(std::move(out), path);
}

}  // namespace halyard
