// SPDX-License-Identifier: Apache-2.0
// Recycler: keeps a reference to each buffer it hands out. A buffer that only the recycler holds is
// free.
#include "halyard/recycler.h"

#include <algorithm>
#include <list>
#include <unordered_map>
#include <utility>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "halyard/trace.h"
#include "tensor/image_storage.h"

namespace halyard {
namespace {

struct RecycleKey {
  std::size_t size_bytes;
  Memory memory;  // as requested
  bool operator==(const RecycleKey&) const = default;
};

struct KeyHash {
  std::size_t operator()(const RecycleKey& key) const noexcept {
    return std::hash<std::size_t>{}(key.size_bytes) ^ (static_cast<std::size_t>(key.memory) << 56U);
  }
};

struct IdleBuffer {
  std::shared_ptr<Buffer> buffer;
  std::uint64_t seen_busy;  // value of State::clock
};

// In the order of seen_busy, so the entry that has been idle longest is first. A buffer does not
// report when it becomes idle; the last time it was seen in use is the best estimate.
using Entries = std::list<IdleBuffer>;

// Entries that one allocation checks. If more are in use, an idle one may be missed at first. Later
// calls check other entries, so only a few more buffers stay in circulation.
constexpr std::size_t max_looks = 64;

bool is_shared(Memory memory) noexcept {
  return memory == Memory::shm || memory == Memory::dma;
}

// Returns a second reference if the list's own is the only one. The first count may be outdated, so
// only the count after the copy decides: the copy comes after the last user's release.
std::shared_ptr<Buffer> take_if_idle(const std::shared_ptr<Buffer>& kept) noexcept {
  if (kept.use_count() != 1) return nullptr;
  std::shared_ptr<Buffer> taken = kept;
  return kept.use_count() == 2 ? taken : nullptr;
}

}  // namespace

struct HALYARD_LOCAL Recycler::State {
  explicit State(const RecyclerOptions& o) : options(o) {}

  std::shared_ptr<Buffer> take(const RecycleKey& key);
  void keep(const RecycleKey& key, const std::shared_ptr<Buffer>& buffer);
  bool is_over_limit();
  void evict_beyond(std::size_t max_idle_bytes, Entries& released);
  std::size_t sort_out_busy();
  Entries* longest_idle();

  const RecyclerOptions options;
  mutable RankedForkMutex<LockRank::leaf> mutex;  // lost after fork(): each buffer is a new one
  std::unordered_map<RecycleKey, Entries, KeyHash> kept;
  std::uint64_t clock = 0;  // counts checks of the entries
  std::size_t kept_bytes = 0;
  std::size_t calls_to_next_look = 0;
  std::uint64_t fresh = 0;
  std::uint64_t recycled = 0;
};

// Returns an idle entry's buffer. Entries in use move to the back, so that the longest idle are
// first.
std::shared_ptr<Buffer> Recycler::State::take(const RecycleKey& key) {
  const auto found = kept.find(key);
  if (found == kept.end()) return nullptr;
  Entries& entries = found->second;
  ++clock;
  for (std::size_t left = std::min(entries.size(), max_looks); left > 0; --left) {
    auto buffer = take_if_idle(entries.front().buffer);
    entries.front().seen_busy = clock;
    entries.splice(entries.end(), entries, entries.begin());
    if (buffer) return buffer;
  }
  return nullptr;
}

void Recycler::State::keep(const RecycleKey& key, const std::shared_ptr<Buffer>& buffer) {
  kept[key].push_back({buffer, ++clock});
  kept_bytes += key.size_bytes;
}

// Moves busy entries to the back. Returns how many are in use.
std::size_t Recycler::State::sort_out_busy() {
  std::size_t in_use = 0;
  ++clock;
  for (auto& [key, entries] : kept) {
    Entries busy;
    for (auto it = entries.begin(); it != entries.end();) {
      const auto entry = it++;
      if (entry->buffer.use_count() == 1) continue;
      entry->seen_busy = clock;
      busy.splice(busy.end(), entries, entry);
    }
    in_use += busy.size();
    entries.splice(entries.end(), busy);
  }
  return in_use;
}

// Whether idle bytes may be above the limit. An exact answer needs a check of all entries, so with
// many in use it is not given at every call.
bool Recycler::State::is_over_limit() {
  if (kept_bytes <= options.max_idle_bytes) return false;
  if (calls_to_next_look == 0) return true;
  --calls_to_next_look;
  return false;
}

// The list whose first entry has been idle longest; null if none is idle.
Entries* Recycler::State::longest_idle() {
  Entries* oldest = nullptr;
  for (auto& [key, entries] : kept) {
    if (entries.empty() || entries.front().seen_busy == clock) continue;
    if (oldest == nullptr || entries.front().seen_busy < oldest->front().seen_busy)
      oldest = &entries;
  }
  return oldest;
}

// Moves idle entries to `released`, which is destroyed without the lock: destructors may call back.
void Recycler::State::evict_beyond(std::size_t max_idle_bytes, Entries& released) {
  calls_to_next_look = sort_out_busy() / 16;
  std::size_t idle_bytes = 0;
  for (const auto& [key, entries] : kept) {
    for (const IdleBuffer& entry : entries) {
      if (entry.seen_busy == clock) break;
      idle_bytes += key.size_bytes;
    }
  }
  while (idle_bytes > max_idle_bytes) {
    Entries* const from = longest_idle();
    const std::size_t size = from->front().buffer->size_bytes();
    released.splice(released.end(), *from, from->begin());
    idle_bytes -= size;
    kept_bytes -= size;
  }
  std::erase_if(kept, [](const auto& item) { return item.second.empty(); });
}

Recycler::Recycler(const RecyclerOptions& options) : state_(std::make_unique<State>(options)) {}

Recycler::~Recycler() = default;

Result<std::shared_ptr<Buffer>> Recycler::allocate(std::size_t size_bytes, Memory memory) {
  const RecycleKey key{size_bytes, memory};
  Entries released;
  {
    const RankedForkLock lock(state_->mutex);
    if (!lock) return halyard::allocate(size_bytes, memory);
    auto buffer = state_->take(key);
    if (state_->is_over_limit()) state_->evict_beyond(state_->options.max_idle_bytes, released);
    if (buffer) {
      ++state_->recycled;
      buffer->set_cpu_access(CpuAccess::read_write);
      return buffer;
    }
  }
  HALYARD_TRY(auto buffer, halyard::allocate(size_bytes, memory));
  const RankedForkLock lock(state_->mutex);
  if (!lock) return buffer;
  ++state_->fresh;
  // Buffers without bytes would never count towards the limit.
  const bool may_return = !is_shared(buffer->memory()) || state_->options.shared_kinds;
  if (may_return && size_bytes != 0) state_->keep(key, buffer);
  return buffer;
}

Result<Tensor> Recycler::create_image(std::size_t width, std::size_t height, PixelFormat format,
                                      DType dtype, Memory memory) {
  trace::Span span("tensor.recycle_image");
  ImageOptions options;
  options.dtype = dtype;
  options.memory = memory;
  HALYARD_TRY(const ImageStorage storage, image_storage(width, height, format, options));
  HALYARD_TRY(auto buffer, allocate(storage.size_bytes, memory));
  const Tensor::PlaneSource whole{std::move(buffer), 0, storage.stride_bytes};
  return Tensor::wrap_image({&whole, 1}, width, height, format, dtype);
}

Result<Tensor> Recycler::copy(const Tensor& from, Memory memory) {
  HALYARD_TRY(const Layout layout, Layout::contiguous(from.dtype(), from.shape()));
  HALYARD_TRY(auto buffer, allocate(layout.size_bytes(), memory));
  HALYARD_TRY(Tensor out, Tensor::wrap(std::move(buffer), layout));
  HALYARD_RETURN_IF_ERROR(halyard::copy(from, out));
  return out;
}

Recycler::Stats Recycler::stats() const {
  const RankedForkLock lock(state_->mutex);
  if (!lock) return {};
  Stats stats{state_->fresh, state_->recycled, 0, 0};
  for (const auto& [key, entries] : state_->kept) {
    for (const IdleBuffer& entry : entries) {
      if (entry.buffer.use_count() != 1) continue;
      ++stats.idle_buffers;
      stats.idle_bytes += key.size_bytes;
    }
  }
  return stats;
}

void Recycler::trim() {
  Entries released;
  const RankedForkLock lock(state_->mutex);
  if (lock) state_->evict_beyond(0, released);
}

}  // namespace halyard
