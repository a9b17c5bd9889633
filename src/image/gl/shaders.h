// SPDX-License-Identifier: Apache-2.0
// Shaders: the linked shader programs of a context, found by their text, here or in the cache that
// the user's processes share.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "gl/program/program_maker.h"
#include "halyard/result.h"
#include "image/gl/shader/shader_text.h"

namespace halyard::image {

/// The texture units of the taps and of the filtered rows of group 0, before those of group 1. The
/// units of the source's planes are 0..3.
inline constexpr std::int32_t taps_unit = 4;
inline constexpr std::int32_t filtered_unit = 5;

/// A linked shader program, and the locations of its uniforms: -1 for those that it does not use.
struct Shader {
  std::uint32_t name = 0;
  std::array<std::int32_t, static_cast<std::size_t>(Uniform::count)> locations{};
};

/// Keeps the 256 programs that were used last. Made on any thread; used and destroyed on the
/// worker's.
class Shaders {
 public:
  /// `before`: as of gl::ProgramMaker.
  explicit Shaders(std::function<Status()> before = {}) : maker_(std::move(before)) {}
  Shaders(const Shaders&) = delete;
  Shaders& operator=(const Shaders&) = delete;
  ~Shaders();

  /// The program of a fragment shader; compiles it at the first call where the cache has none. The
  /// result is valid until the next call. Errors: device (the driver does not compile or link it).
  Result<const Shader*> find(const std::string& fragment_text);

 private:
  static constexpr std::size_t max_kept = 256;
  struct Kept {
    Shader shader;
    std::uint64_t used = 0;  ///< when
  };
  void drop_oldest();

  gl::ProgramMaker maker_;
  std::unordered_map<std::string, Kept> known_;
  std::uint64_t now_ = 0;  ///< counts calls
};

}  // namespace halyard::image
