// SPDX-License-Identifier: Apache-2.0
// BufferEngine: what a piece of hardware or a library needs of the buffers that it works on.
// Files of parties name engines by these names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/attributes.h"
#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/reconcile.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// What is known of a buffer before engines are asked: what all parties say together.
struct BufferRequest {
  std::optional<DType> dtype;
  std::vector<std::size_t> shape;     ///< N, C, H, W; empty: no tensor
  std::optional<PixelFormat> format;  ///< where one is named, and no other
  std::vector<LayoutTag> images;      ///< all formats that are named, with modifiers; in order
  std::size_t width = 0, height = 0;  ///< 0: no image
};

/// One that reconcile_engines() asks. Derive for your own. Thread-safe.
class BufferEngine {
 public:
  virtual ~BufferEngine() = default;
  /// The name in reports and files: "dla", "v4l2.capture".
  virtual std::string_view name() const noexcept = 0;
  /// Says what the engine needs of such a buffer. Errors: unsupported (it cannot work on it).
  virtual Status fill(const BufferRequest& request, AttributeList& list) const = 0;
  /// Looks at a buffer that would serve all, and adds to `list`, an empty one of the engine's
  /// party, what it needs beyond. The answer holds for the draft's arrangement alone and takes the
  /// place of the one before; one that says the same again, or nothing at all: it is content.
  /// Errors: unsupported (it cannot work on this arrangement whatever else is changed; the text
  /// says why).
  virtual Status refine(const Reconciled& draft, AttributeList& list) const;
};

/// The built-in engines: "cpu", "cpu.simd16", "cpu.simd32", "cpu.simd64", "gl.pbo", "egl.dmabuf",
/// "nxp.g2d", "v4l2.capture", "dla", "peer.proxy". `settings`: a JSON object that replaces numbers
/// of the engine's table, for example {"pitch_align": 256} for "egl.dmabuf"; empty: none. What each
/// says, and its settings: docs/negotiation.md. Errors: not_found (no such engine, no such driver),
/// malformed (no JSON object), invalid_argument (no such setting, no number, no text).
Result<std::shared_ptr<const BufferEngine>> make_buffer_engine(std::string_view name,
                                                               std::string_view settings = {});

/// A party with the engine that speaks for it, or without one.
struct EngineParty {
  AttributeList list;
  std::shared_ptr<const BufferEngine> engine;  ///< null: the list is all
};

/// Reads {"parties": [{"name", "engine"?, "settings"?, "optional"?, "pid"?, "keys"?,
/// "alternatives"?: [{"tag", "cost"?, "keys"?}]}]}. Errors: malformed (no such JSON),
/// invalid_argument, not_found (a key or an engine), exists (a key twice); the text names the
/// party.
Result<std::vector<EngineParty>> parties_from_json(std::string_view json);

/// Asks the engines of the parties and reconciles: each engine fills a list for its party, and may
/// refine up to four times for each arrangement, 256 times in all. Where one refuses an
/// arrangement, asks for what cannot be, or is never content, the next is tried; with
/// ReconcileOptions::allow_drop an optional party whose engine leaves none is left out, and is not
/// asked any more. Errors: those of reconcile() and fill().
Result<Reconciled> reconcile_engines(std::span<const EngineParty> parties,
                                     const ReconcileOptions& options = {},
                                     Conflict* conflict = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
