// SPDX-License-Identifier: Apache-2.0
// Reads a model through a runtime and checks what the runtime tells about it.
#include "model/load.h"

#include <utility>

#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "halyard/trace.h"
#include "model/engine.h"
#include "model/runtime.h"
#include "model/runtimes.h"

namespace halyard::model {
namespace {

Result<TensorSpec> to_spec(Port port) {
  TensorSpec spec;
  spec.name = std::move(port.name);
  if (!port.dtype)
    return fail(Errc::unsupported, "element type of the model is not supported", "'{}' is {}",
                spec.name, port.type_text);
  if (!port.shape)
    return fail(Errc::unsupported, "shape of the model is not fixed", "'{}' is {}", spec.name,
                port.shape_text);
  if (port.shape->size() > max_rank)
    return fail(Errc::unsupported, "rank of the model's tensor is above 8", "'{}' has rank {}",
                spec.name, port.shape->size());
  spec.dtype = *port.dtype;
  spec.shape = *std::move(port.shape);
  if (spec.shape.empty()) spec.shape = {1};
  auto& quantization = port.quantization;
  if (quantization && is_integer(spec.dtype) && validate(*quantization, spec.dtype, spec.shape))
    spec.quantization = std::move(quantization);
  return spec;
}

/// The runtime's error, with its subject in front of the reason.
Error about(const Error& error, const std::string& subject) {
  return make_error(error.code, error.what,
                    error.detail ? fmt::format("{}: {}", subject, *error.detail) : subject);
}

Result<std::vector<TensorSpec>> to_specs(std::vector<Port> ports) {
  std::vector<TensorSpec> specs;
  for (Port& port : ports) {
    HALYARD_TRY(auto spec, to_spec(std::move(port)));
    specs.push_back(std::move(spec));
  }
  return specs;
}

/// Whether every input has the batch that the options ask for.
Status check_batch(const std::vector<TensorSpec>& inputs, std::size_t batch) {
  for (const TensorSpec& spec : inputs)
    if (batch != 1 && spec.shape[0] != batch)
      return fail(Errc::unsupported, "batch: the leading axis of an input is fixed",
                  "'{}' takes {}, not {}", spec.name, spec.shape[0], batch);
  return {};
}

Status fill_specs(Loaded& loaded, Network& network, std::size_t batch) {
  HALYARD_RETURN_IF_ERROR(network.fix_shapes(image_size(loaded.metadata), batch));
  HALYARD_TRY(Ports ports, network.ports());
  HALYARD_TRY(loaded.inputs, to_specs(std::move(ports.inputs)));
  HALYARD_TRY(loaded.outputs, to_specs(std::move(ports.outputs)));
  for (TensorSpec& spec : loaded.inputs)
    spec.format = image_format(spec.dtype, spec.shape);
  return check_batch(loaded.inputs, batch);
}

Result<Loaded> load_with(const KnownRuntime& known, const Runtime& runtime, const std::string& path,
                         const EngineOptions& options, Metadata metadata) {
  const RuntimeOptions wanted{options.device, options.threads,  options.requests,
                              options.batch,  options.delegate, options.settings};
  auto network = runtime.read(path, file_kind(path).value_or(FileKind::other), wanted);
  if (!network) return about(network.error(), path);
  Loaded loaded;
  loaded.metadata = std::move(metadata);
  loaded.metadata.merge((*network)->metadata());
  const std::string subject = fmt::format("{}: device {}", path, options.device);
  if (auto filled = fill_specs(loaded, **network, options.batch); !filled)
    return about(filled.error(), subject);
  trace::Span span("model.compile");
  auto compiled = (*network)->compile();
  if (!compiled) return about(compiled.error(), subject);
  HALYARD_TRY(loaded.session, Session::create(*std::move(compiled), loaded.inputs, loaded.outputs,
                                              options.requests));
  loaded.name = known.name;
  loaded.runtime = fmt::format("{} {} {}", known.name, runtime.version(), options.device);
  return loaded;
}

/// The first error, with those of the other engines behind it.
Error all_of(const std::vector<std::pair<std::string, Error>>& errors) {
  Error first = errors.front().second;
  if (errors.size() == 1) return first;
  std::string detail = first.detail ? *first.detail : "";
  for (std::size_t i = 1; i < errors.size(); ++i)
    detail += fmt::format("{}{}: {}", detail.empty() ? "" : "; ", errors[i].first,
                          errors[i].second.message());
  return make_error(first.code, first.what, std::move(detail), first.os_errno);
}

}  // namespace

Result<Loaded> load(const std::string& path, const EngineOptions& options, Metadata metadata) {
  HALYARD_RETURN_IF_ERROR(check_process());
  HALYARD_TRY(const auto candidates, runtimes_for(path, extension_of(path), options));
  std::vector<std::pair<std::string, Error>> missing;
  std::vector<std::pair<std::string, Error>> refused;
  for (const KnownRuntime& known : candidates) {
    const auto runtime = known.load();
    if (!runtime) {
      missing.emplace_back(known.name, runtime.error());
      continue;
    }
    auto loaded = load_with(known, **runtime, path, options, metadata);
    if (!loaded) {
      refused.emplace_back(known.name, loaded.error());
      continue;
    }
    for (const auto& [name, error] : refused)
      HALYARD_LOG(LogLevel::warn, "model", "{} does not open it, {} does: {}", name, known.name,
                  error.message());
    return loaded;
  }
  return all_of(refused.empty() ? missing : refused);
}

}  // namespace halyard::model
