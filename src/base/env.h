// SPDX-License-Identifier: Apache-2.0
// Environment variables. No other place of the library reads the environment.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/log.h"

namespace halyard {

/// The values in force; see docs/env.md for their meaning.
struct Environment {
  bool tensor_force_mem = false;
  std::vector<std::string> tensor_dma_heap;  ///< as written; empty: the default order
  bool disable_g2d = false;
  bool disable_gl = false;
  bool disable_cpu = false;
  std::optional<std::string> force_backend;   ///< lower case
  std::optional<std::string> force_transfer;  ///< lower case
  bool opengl_rendersurface = false;
  bool proto_compute = false;
  std::optional<std::string> colorimetry;      ///< lower case
  std::optional<std::string> nv_convert_path;  ///< lower case
  bool allow_software_gl = false;
  std::optional<std::string> shader_cache;  ///< as written, never empty
  std::optional<std::string> cache_home;    ///< the user's folder of caches, absolute
  std::optional<std::string> openvino_dir;  ///< as written, never empty
  std::optional<std::string> onnxruntime_dir;
  std::optional<std::string> tflite_library;
  std::optional<std::string> litert_dir;
  std::vector<std::string> engine_plugins;  ///< as written
  std::vector<std::string> camera_plugins;  ///< as written
  std::optional<std::string> g2d_library;   ///< as written, never empty
  std::optional<std::string> testdata_dir;
  std::optional<std::string> shm_dir;  ///< as written, never empty, as the two below
  std::optional<std::string> shm_group;
  std::optional<std::string> namespace_name;
  std::optional<LogLevel> log;
  std::optional<std::string> unknown_log;  ///< lower case; set if LOG is not the name of a level
};

/// Read at the first call. Thread-safe. A program that runs with more rights than its caller
/// (setuid, file capabilities) sees no variable.
const Environment& environment();

/// Reads the environment now, for objects that are made repeatedly, as processors are.
Environment read_environment();

/// Names of all variables, without the prefix. The prefix is HALYARD_; EDGEFIRST_ is accepted for
/// all but LOG.
std::span<const std::string_view> environment_names() noexcept;

}  // namespace halyard
