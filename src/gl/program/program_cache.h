// SPDX-License-Identifier: Apache-2.0
// ProgramCache: linked programs that earlier processes compiled, as the driver's binaries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "gl/program/binary_files.h"

namespace halyard::gl {

/// The texts of a program, by which it is found: of a vertex and a fragment shader, or of a compute
/// shader. Those of other stages are empty.
struct ProgramText {
  std::string_view vertex = {};
  std::string_view fragment = {};
  std::string_view compute = {};
};

/// Made and used on the worker's thread, for the context that is current there. A cache that cannot
/// work finds nothing and keeps nothing; that is no error. May throw std::bad_alloc.
class ProgramCache {
 public:
  /// Switched off by HALYARD_SHADER_CACHE, without a folder, or without a format of the driver.
  static ProgramCache create(const Environment& env);

  /// A linked program; 0 if none is kept, or if the driver refuses it. The caller deletes it.
  std::uint32_t find(const ProgramText& text);
  /// Call before linking a program that keep() gets.
  void prepare(std::uint32_t program) const;
  /// Keeps a linked program. After an error of the disk nothing is written any more.
  void keep(std::uint32_t program, const ProgramText& text);

 private:
  std::string key_of(const ProgramText& text) const;

  std::optional<BinaryFiles> files_;
  std::string driver_;                 ///< its names and version
  std::vector<std::int32_t> formats_;  ///< which it takes
  bool is_written_ = true;
};

/// The folder of the cache. Errors: unsupported (HALYARD_SHADER_CACHE is `off`, or neither it nor
/// XDG_CACHE_HOME nor HOME is an absolute path).
Result<std::string> shader_cache_folder(const Environment& env);

/// Programs that caches have found since the start of the process. Thread-safe.
std::uint64_t cached_programs() noexcept;

}  // namespace halyard::gl
