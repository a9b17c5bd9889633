// SPDX-License-Identifier: Apache-2.0
// DrawPrograms: the linked shader programs of a context that draw.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "draw/gl/draw_shaders.h"
#include "gl/program/program_maker.h"
#include "halyard/result.h"

namespace halyard::draw {

/// A linked program, and the locations of its uniforms: -1 for those that it does not use.
struct DrawProgram {
  std::uint32_t name = 0;
  std::array<std::int32_t, static_cast<std::size_t>(DrawUniform::count)> locations{};
  std::int32_t at(DrawUniform uniform) const noexcept {
    return locations[static_cast<std::size_t>(uniform)];
  }
};

/// Texture units. The uniform of unit i is the i-th; `spare` has none.
enum class DrawUnit : std::uint8_t { commands, shapes, table, prototypes, numbers, spare };
/// Makes the unit the active one.
void activate(DrawUnit unit);

/// Compiles each program at its first call. Made, used and destroyed on the worker's thread. The
/// results live as long as this object. Errors of all calls: device (the driver does not compile or
/// link it).
class DrawPrograms {
 public:
  /// `before`: as of gl::ProgramMaker.
  explicit DrawPrograms(std::function<Status()> before) : maker_(std::move(before)) {}
  DrawPrograms(const DrawPrograms&) = delete;
  DrawPrograms& operator=(const DrawPrograms&) = delete;
  ~DrawPrograms();

  Result<const DrawProgram*> shape(ShapeKind shape, PlaneKind plane);
  Result<const DrawProgram*> logits(ElementKind kind, bool as_compute);
  Result<const DrawProgram*> pack();

 private:
  enum class Stage : std::uint8_t { shape, logits, compute, pack };
  struct Key {
    Stage stage = Stage::shape;
    std::uint8_t first = 0;
    std::uint8_t second = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Result<const DrawProgram*> find(const Key& key);
  Result<std::uint32_t> make(const Key& key);

  gl::ProgramMaker maker_;
  std::map<Key, DrawProgram> known_;
};

/// Programs made since the start of the process. Thread-safe.
std::uint64_t made_draw_programs() noexcept;

}  // namespace halyard::draw
