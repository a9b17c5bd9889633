// SPDX-License-Identifier: Apache-2.0
// BufferEngine: the requirements of a piece of hardware or a library on the buffers that it uses.
// Files of parties refer to engines by name.
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

/// What is known of a buffer before engines are asked: the merged attributes of all parties.
struct BufferRequest {
  std::optional<DType> dtype;
  std::vector<std::size_t> shape;     ///< N, C, H, W; empty: no tensor
  std::optional<PixelFormat> format;  ///< set if the parties name exactly one format
  std::vector<LayoutTag> images;      ///< all formats that the parties name, with modifiers;
                                      ///< sorted, each once
  std::size_t width = 0, height = 0;  ///< 0: no image
};

/// The interface that reconcile_engines() calls. Derive from it to add an engine. Thread-safe.
class BufferEngine {
 public:
  virtual ~BufferEngine() = default;
  /// The name in reports and files: "dla", "v4l2.capture".
  virtual std::string_view name() const noexcept = 0;
  /// Fills `list` with the engine's requirements on such a buffer. Errors: unsupported (it cannot
  /// work on such a buffer).
  virtual Status fill(const BufferRequest& request, AttributeList& list) const = 0;
  /// Examines a draft that would serve all parties, and adds further requirements to `list`, an
  /// empty list of the engine's party. The answer holds only for the draft's layout and replaces
  /// the previous answer for it. An empty answer, or the same answer again, accepts the draft.
  /// Errors: unsupported (it cannot work on this layout, whatever else is changed; the message
  /// gives the reason).
  virtual Status refine(const Reconciled& draft, AttributeList& list) const;
};

/// The built-in engines: "cpu", "cpu.simd16", "cpu.simd32", "cpu.simd64", "gl.pbo", "egl.dmabuf",
/// "nxp.g2d", "v4l2.capture", "dla", "peer.proxy". `settings`: a JSON object that replaces numbers
/// of the engine's table, for example {"pitch_align": 256} for "egl.dmabuf"; empty: none.
/// docs/negotiation.md lists the requirements and settings of each. Errors: not_found (no such
/// engine, no such driver), malformed (not a JSON object), invalid_argument (no such setting, or a
/// value of the wrong type).
Result<std::shared_ptr<const BufferEngine>> make_buffer_engine(std::string_view name,
                                                               std::string_view settings = {});

/// A party and, optionally, the engine that adds its requirements.
struct EngineParty {
  AttributeList list;
  std::shared_ptr<const BufferEngine> engine;  ///< null: only the list counts
};

/// Reads {"parties": [{"name", "engine"?, "settings"?, "optional"?, "pid"?, "keys"?,
/// "alternatives"?: [{"tag", "cost"?, "keys"?}]}]}. Errors: malformed (not such a JSON text),
/// invalid_argument, not_found (a key or an engine), exists (a key twice); the message names the
/// party.
Result<std::vector<EngineParty>> parties_from_json(std::string_view json);

/// Asks the engines of the parties and reconciles. Each engine fills a list for its party. Each
/// layout gets at most four rounds of refine(), all layouts together 256. If an engine refuses a
/// layout, asks for something impossible, or still asks for changes in the last round, the next
/// layout is tried. With ReconcileOptions::allow_drop, an optional party whose engine leaves no
/// layout is left out and not asked again. Errors: those of reconcile() and fill().
Result<Reconciled> reconcile_engines(std::span<const EngineParty> parties,
                                     const ReconcileOptions& options = {},
                                     Conflict* conflict = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
