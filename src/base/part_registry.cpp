// SPDX-License-Identifier: Apache-2.0
// A fixed table of atomics. A slot's stamp changes with every step. A reader that sees the same
// stamp before and after it reads the name has read the name of one file.
#include "base/part_registry.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "halyard/output_file.h"

namespace halyard {
namespace {

constexpr std::size_t slot_count = 64;
constexpr std::size_t name_bytes = 256;  // NAME_MAX and the terminating zero
constexpr int max_rounds = 1000;         // of one millisecond each

// The two low bits of a stamp.
enum Step : std::uint32_t { unused = 0, filling = 1, creating = 2, created = 3 };
constexpr std::uint32_t step_mask = 3;

struct Slot {
  std::atomic<std::uint32_t> stamp{unused};
  std::atomic<int> folder{-1};
  std::atomic<pid_t> maker{0};
  std::atomic<pid_t> thread{0};
  std::array<std::atomic<char>, name_bytes> name{};
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<char>::is_always_lock_free);

// Static storage, no destructor: a signal may come at any time of the process's life.
constinit std::array<Slot, slot_count> slots{};
constinit std::atomic<pid_t> ending_process{0};

// Only the thread that uses the slot may leave a step other than `unused`.
void step_to(Slot& slot, Step step) noexcept {
  const std::uint32_t old = slot.stamp.load(std::memory_order_relaxed);
  slot.stamp.store((old & ~step_mask) + (step == unused ? step_mask + 1 : 0) + step);
}

// Returns whether another thread may still make the file, so that a further round is needed. The
// thread that the handler has interrupted does not make a file any more.
bool remove_part(Slot& slot) noexcept {
  const std::uint32_t before = slot.stamp.load();
  const auto step = static_cast<Step>(before & step_mask);
  // A thread that is filling a slot checks is_process_ending() before it makes the file.
  if (step == unused || step == filling) return false;
  std::array<char, name_bytes> name{};
  for (std::size_t i = 0; i < name_bytes; ++i)
    name[i] = slot.name[i].load(std::memory_order_relaxed);
  const int folder = slot.folder.load(std::memory_order_relaxed);
  const pid_t maker = slot.maker.load(std::memory_order_relaxed);
  const pid_t thread = slot.thread.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if ((slot.stamp.load() & ~step_mask) != (before & ~step_mask)) return true;
  if (maker != ::getpid()) return false;
  ::unlinkat(folder, name.data(), 0);
  return step == creating && thread != ::gettid();
}

}  // namespace

void PartSlot::enter(int folder, std::string_view name) noexcept {
  leave();
  if (name.size() >= name_bytes) return;
  for (std::size_t i = 0; i < slot_count; ++i) {
    Slot& slot = slots[i];
    std::uint32_t old = slot.stamp.load();
    if ((old & step_mask) != unused) continue;
    if (!slot.stamp.compare_exchange_strong(old, old + filling)) continue;
    slot.folder.store(folder, std::memory_order_relaxed);
    slot.maker.store(::getpid(), std::memory_order_relaxed);
    slot.thread.store(::gettid(), std::memory_order_relaxed);
    for (std::size_t n = 0; n <= name.size(); ++n)
      slot.name[n].store(n < name.size() ? name[n] : '\0', std::memory_order_relaxed);
    step_to(slot, creating);
    index_ = static_cast<int>(i);
    return;
  }
}

void PartSlot::confirm() noexcept {
  if (index_ >= 0) step_to(slots[static_cast<std::size_t>(index_)], created);
}

void PartSlot::leave() noexcept {
  if (index_ >= 0) step_to(slots[static_cast<std::size_t>(index_)], unused);
  index_ = -1;
}

bool is_process_ending() noexcept {
  // Compared by process: a child of an ending process may continue.
  return ending_process.load() == ::getpid();
}

void remove_part_files() noexcept {
  const int kept_errno = errno;
  ending_process.store(::getpid());
  for (int round = 0; round < max_rounds; ++round) {
    bool again = false;
    for (Slot& slot : slots)
      again = remove_part(slot) || again;
    if (!again) break;
    ::poll(nullptr, 0, 1);
  }
  errno = kept_errno;
}

}  // namespace halyard
