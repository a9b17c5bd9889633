// SPDX-License-Identifier: Apache-2.0
// reconcile(): finds the buffer that serves all parties, from their lists of attributes, or reports
// which parties disagree and about what.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halyard/attributes.h"
#include "halyard/export.h"
#include "halyard/frame_layout.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// One party's statement that takes part in a conflict, or that determined a value.
struct Statement {
  std::string party;
  std::uint32_t process = 0;  ///< 0: not known
  std::string engine;         ///< may be empty
  std::string key;            ///< "t.row_align", "i.pitch_exact[1]"
  std::string value;          ///< "64 B"
  std::string origin;         ///< "set"; "layout": implied by a layout that the party accepts
  std::string source;         ///< where it was stated; may be empty
};

/// Statements that no buffer can satisfy together. Without any one of them this conflict does not
/// exist.
struct ConflictItem {
  std::string key;   ///< the key that the conflict is about
  std::string rule;  ///< what must hold: "exact value must be a multiple of every row alignment"
  std::string tag;   ///< the layout that was tried; empty: any layout
  std::vector<Statement> parties;
  std::string computed;                ///< "1928 mod 64 = 8"; may be empty
  std::vector<std::uint64_t> nearest;  ///< the nearest legal values
  std::string hint;                    ///< a change that would help
};

/// Why no buffer serves all parties. The order of the lists does not change it.
struct Conflict {
  std::vector<ConflictItem> items;  ///< the items of the layout that comes closest are first
  /// A JSON object: {"ok": false, "conflicts": [...]}.
  std::string to_json() const;
  /// The content of to_json() for people, line by line.
  std::string to_text() const;
};

/// Rows of a plane of an image, or of a level of a pyramid, in bytes.
struct PlaneLayout {
  std::uint64_t offset_bytes = 0;
  std::uint64_t stride_bytes = 0;
  std::uint64_t rows = 0;        ///< including rows that alignment adds; of one field if interlaced
  std::uint64_t size_bytes = 0;  ///< of all rows, fields and colour planes
  std::uint64_t plane_stride_bytes = 0;  ///< between colour planes of a planar format; else 0
};

/// What one party may do with the buffer.
struct PartyView {
  std::string party;
  CpuAccess cpu = CpuAccess::none;
  Permission permission = Permission::read;
};

/// A party that was left out, and the conflict that it caused.
struct DroppedParty {
  std::string party;
  Conflict conflict;
};

struct ReconciledState;

/// A buffer that serves all parties, not allocated yet. Immutable; copies share; thread-safe.
class Reconciled {
 public:
  bool has_tensor() const noexcept;
  bool has_image() const noexcept;
  /// The layout that was chosen; a wildcard where there is no tensor or no image.
  const LayoutTag& tensor_tag() const noexcept;
  const LayoutTag& image_tag() const noexcept;
  /// Element type, extents and strides, outermost axis first: [N,C,H,W], [N,H,W,C], [N,C/x,H,W,x].
  /// Rank 0 without a tensor.
  const Layout& layout() const noexcept;
  std::size_t tensor_offset_bytes() const noexcept;
  /// Extent of the image, 0 without an image.
  std::size_t width() const noexcept;
  std::size_t height() const noexcept;
  std::span<const PlaneLayout> planes() const noexcept;

  std::uint64_t size_bytes()
      const noexcept;  ///< bytes from the start to the end of tensor and image
  std::uint64_t allocated_bytes() const noexcept;  ///< including slack, in whole pages where needed
  std::uint64_t base_align_bytes() const noexcept;
  Heap heap() const noexcept;  ///< the kind of memory that fits best
  /// All kinds of memory that all parties accept, best first.
  std::span<const Heap> heaps() const noexcept;
  std::uint32_t count() const noexcept;  ///< number of buffers that all parties together need
  Coherency coherency() const noexcept;
  CpuPolicy policy() const noexcept;
  /// True if uncached memory was requested and the CPU caches it; synchronising keeps the bytes
  /// correct.
  bool is_policy_emulated() const noexcept;
  bool needs_sync() const noexcept;
  /// True if an engine uses the address without staying attached: the buffer must stay attached to
  /// a device for its whole life, so that synchronising reaches the caches.
  bool needs_anchor() const noexcept;
  PadFill pad_fill() const noexcept;
  std::uint8_t pad_value() const noexcept;

  /// The merged value of a key; nullopt: no party stated it.
  std::optional<AttributeValue> value(Key key, std::size_t index = 0) const noexcept;
  /// The smallest set of statements that determines the value. Empty: no party stated it.
  std::vector<Statement> explain(Key key, std::size_t index = 0) const;
  std::span<const PartyView> views() const noexcept;
  std::span<const DroppedParty> dropped() const noexcept;

  /// The layout for pools of such buffers: see TensorPoolConfig::for_frames(). Errors: unsupported
  /// (not all parties reach Heap::memfd, the memory of pools; there is neither a tensor nor an
  /// image; an alignment that is above 4096 or is not a power of two).
  Result<FrameLayout> frame_layout() const;

  /// Equal for equal results, in every process. It does not protect against forgery.
  std::array<std::uint8_t, 16> digest() const;
  /// {"ok": true, "outputs": {"t.strides": [...], ...}, "explain": {"t.row_align": ["gpu"], ...}}.
  std::string to_json() const;
  /// One line for people: "nv12 1920x1080 pitch 1920/1920 offset 0/2073600 ...".
  std::string to_text() const;

 private:
  friend struct ReconciledState;
  explicit Reconciled(std::shared_ptr<const ReconciledState> state) : state_(std::move(state)) {}
  std::shared_ptr<const ReconciledState> state_;
};

struct ReconcileOptions {
  /// Leaves out optional parties that cause a conflict, those of the lowest priority first.
  bool allow_drop = false;
  /// Whether this machine can keep a buffer attached to a device (a render node of DRM).
  bool can_anchor = true;
};

/// Finds the buffer for up to 64 parties. The order of the lists does not matter, and a list may
/// occur twice. A `conflict` that is not null receives the report of a conflict. Thread-safe.
/// Errors: unsupported (the parties disagree: the message is the report), invalid_argument (no
/// list; a party without a name; no party states what the buffer holds, its type or its extents),
/// exhausted (more than 64 parties).
Result<Reconciled> reconcile(std::span<const AttributeList* const> lists,
                             const ReconcileOptions& options = {}, Conflict* conflict = nullptr);
Result<Reconciled> reconcile(std::span<const AttributeList> lists,
                             const ReconcileOptions& options = {}, Conflict* conflict = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
