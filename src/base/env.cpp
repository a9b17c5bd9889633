// SPDX-License-Identifier: Apache-2.0
// The table of environment variables and their parsing.
#include "base/env.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>  // and secure_getenv(), of Linux's C libraries
#include <sstream>

#include "base/system/fork.h"

namespace halyard {
namespace {

constexpr std::array<std::string_view, 25> names = {
    "TENSOR_FORCE_MEM",  "TENSOR_DMA_HEAP", "DISABLE_G2D",    "DISABLE_GL",
    "DISABLE_CPU",       "FORCE_BACKEND",   "FORCE_TRANSFER", "OPENGL_RENDERSURFACE",
    "PROTO_COMPUTE",     "TESTDATA_DIR",    "COLORIMETRY",    "NV_CONVERT_PATH",
    "ALLOW_SOFTWARE_GL", "OPENVINO_DIR",    "G2D_LIBRARY",    "LOG",
    "SHM_DIR",           "SHM_GROUP",       "NAMESPACE",      "SHADER_CACHE",
    "ONNXRUNTIME_DIR",   "TFLITE_LIBRARY",  "LITERT_DIR",     "ENGINE_PLUGINS",
    "CAMERA_PLUGINS"};

std::optional<std::string> read(std::string_view name) {
  for (const char* prefix : {"HALYARD_", "EDGEFIRST_"}) {
    if (name == "LOG" && prefix[0] == 'E') continue;
    const std::string full = prefix + std::string(name);
    if (const char* value = ::secure_getenv(full.c_str())) return value;
  }
  return std::nullopt;
}

std::optional<std::string> read_word(std::string_view name) {
  auto value = read(name);
  if (!value || value->empty()) return std::nullopt;
  std::transform(value->begin(), value->end(), value->begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return value;
}

// As written; an empty value counts as none.
std::optional<std::string> read_text(std::string_view name) {
  auto value = read(name);
  if (value && value->empty()) value.reset();
  return value;
}

// True if the variable is set to anything but "", "0" and "false".
bool read_flag(std::string_view name) {
  const auto value = read_word(name);
  return value && *value != "0" && *value != "false";
}

// The parts between colons, as written; empty parts are left out.
std::vector<std::string> read_list(std::string_view name) {
  std::vector<std::string> words;
  std::istringstream text(read(name).value_or(""));
  for (std::string word; std::getline(text, word, ':');) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// As the XDG Base Directory Specification has it: relative paths do not count.
std::optional<std::string> read_cache_home() {
  for (const auto& [name, tail] : {std::pair("XDG_CACHE_HOME", ""), std::pair("HOME", "/.cache")}) {
    const char* const folder = ::secure_getenv(name);
    if (folder != nullptr && folder[0] == '/') return std::string(folder) + tail;
  }
  return std::nullopt;
}

std::optional<LogLevel> level_of(std::string_view word) {
  for (auto level : {LogLevel::off, LogLevel::error, LogLevel::warn, LogLevel::info,
                     LogLevel::debug, LogLevel::trace}) {
    if (word == to_string(level)) return level;
  }
  return std::nullopt;
}

}  // namespace

Environment read_environment() {
  Environment e;
  e.tensor_force_mem = read_flag("TENSOR_FORCE_MEM");
  e.tensor_dma_heap = read_list("TENSOR_DMA_HEAP");
  e.disable_g2d = read_flag("DISABLE_G2D");
  e.disable_gl = read_flag("DISABLE_GL");
  e.disable_cpu = read_flag("DISABLE_CPU");
  e.force_backend = read_word("FORCE_BACKEND");
  e.force_transfer = read_word("FORCE_TRANSFER");
  e.opengl_rendersurface = read_flag("OPENGL_RENDERSURFACE");
  e.proto_compute = read_flag("PROTO_COMPUTE");
  e.colorimetry = read_word("COLORIMETRY");
  e.nv_convert_path = read_word("NV_CONVERT_PATH");
  e.allow_software_gl = read_flag("ALLOW_SOFTWARE_GL");
  e.shader_cache = read_text("SHADER_CACHE");
  e.cache_home = read_cache_home();
  e.openvino_dir = read_text("OPENVINO_DIR");
  e.onnxruntime_dir = read_text("ONNXRUNTIME_DIR");
  e.tflite_library = read_text("TFLITE_LIBRARY");
  e.litert_dir = read_text("LITERT_DIR");
  e.engine_plugins = read_list("ENGINE_PLUGINS");
  e.camera_plugins = read_list("CAMERA_PLUGINS");
  e.g2d_library = read_text("G2D_LIBRARY");
  e.testdata_dir = read("TESTDATA_DIR");
  e.shm_dir = read_text("SHM_DIR");
  e.shm_group = read("SHM_GROUP");
  if (e.shm_group && e.shm_group->empty()) e.shm_group.reset();
  e.namespace_name = read("NAMESPACE");
  if (e.namespace_name && e.namespace_name->empty()) e.namespace_name.reset();
  if (const auto word = read_word("LOG")) {
    e.log = level_of(*word);
    if (!e.log && !word->empty()) e.unknown_log = word;
  }
  return e;
}

const Environment& environment() {
  static std::atomic<const Environment*> once{nullptr};
  return made_once(once, [] { return new const Environment(read_environment()); });
}

std::span<const std::string_view> environment_names() noexcept {
  return names;
}

}  // namespace halyard
