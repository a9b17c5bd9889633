// SPDX-License-Identifier: Apache-2.0
// Loads LiteRT's library from the folder of its Python package, whose metadata has the version: the
// library does not tell it.
#include "model/litert/litert_api.h"

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/env.h"
#include "base/system/fork.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"

namespace halyard::model::litert {
namespace {

namespace fs = std::filesystem;

constexpr char wants_package[] =
    "LiteRT cannot be loaded: HALYARD_LITERT_DIR must be the folder ai_edge_litert of its Python "
    "package";

/// The version in the name of the folder ai_edge_litert-VERSION.dist-info beside the package.
std::string version_beside(const fs::path& package) {
  constexpr std::string_view head = "ai_edge_litert-";
  constexpr std::string_view tail = ".dist-info";
  std::error_code error;
  for (fs::directory_iterator entry(package.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(head) && name.ends_with(tail))
      return name.substr(head.size(), name.size() - head.size() - tail.size());
  }
  return {};
}

void find_calls(FunctionFinder& finder, LiteRt& api) {
  finder.find(api.create_environment, "LiteRtCreateEnvironment");
  finder.find(api.create_model, "LiteRtCreateModelFromFile");
  finder.find(api.destroy_model, "LiteRtDestroyModel");
  finder.find(api.signature, "LiteRtGetModelSignature");
  finder.find(api.input_count, "LiteRtGetNumSignatureInputs");
  finder.find(api.output_count, "LiteRtGetNumSignatureOutputs");
  finder.find(api.input, "LiteRtGetSignatureInputTensorByIndex");
  finder.find(api.output, "LiteRtGetSignatureOutputTensorByIndex");
  finder.find(api.tensor_name, "LiteRtGetTensorName");
  finder.find(api.ranked_type, "LiteRtGetRankedTensorType");
  finder.find(api.quantization_kind, "LiteRtGetQuantizationTypeId");
  finder.find(api.quantization, "LiteRtGetPerTensorQuantization");
  finder.find(api.create_options, "LiteRtCreateOptions");
  finder.find(api.destroy_options, "LiteRtDestroyOptions");
  finder.find(api.set_accelerators, "LiteRtSetOptionsHardwareAccelerators");
  finder.find(api.compile, "LiteRtCreateCompiledModel");
  finder.find(api.destroy_compiled, "LiteRtDestroyCompiledModel");
  finder.find(api.set_cancellation, "LiteRtSetCompiledModelCancellationFunction");
  finder.find(api.run, "LiteRtRunCompiledModel");
  finder.find(api.wrap_memory, "LiteRtCreateTensorBufferFromHostMemory");
  finder.find(api.destroy_buffer, "LiteRtDestroyTensorBuffer");
}

}  // namespace

Result<const LiteRt*> load_litert_library() {
  static std::atomic<LiteRt*> known{nullptr};
  if (const LiteRt* const api = known.load(std::memory_order_acquire)) return api;
  const auto named = read_environment().litert_dir;
  if (!named) return fail(Errc::unsupported, wants_package);
  if (named->front() != '/')
    return fail(Errc::invalid_argument, "HALYARD_LITERT_DIR: must be an absolute path", "'{}'",
                *named);
  const fs::path folder = fs::path(*named).lexically_normal();
  const fs::path package = folder.has_filename() ? folder : folder.parent_path();
  const std::string version = version_beside(package);
  if (version.empty()) return fail(Errc::unsupported, wants_package, "'{}'", *named);
  if (version != known_version)
    return fail(Errc::version, "LiteRT must be 2.1.4: its interface differs between versions",
                "'{}' is {}", *named, version);
  threads_start();
  HALYARD_TRY(const SharedObject object,
              SharedObject::open((package / "libLiteRt.so").string(), wants_package));
  LiteRt api{};
  FunctionFinder finder(object);
  find_calls(finder, api);
  if (finder.missing() != nullptr)
    return fail(Errc::unsupported, "LiteRT's library lacks a function", "{}", finder.missing());
  if (api.create_environment(0, nullptr, &api.environment) != litert_ok)
    return fail(Errc::device, "LiteRT does not start");
  return &made_once(known, [&] { return new LiteRt(api); });
}

}  // namespace halyard::model::litert
