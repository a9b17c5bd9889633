// SPDX-License-Identifier: Apache-2.0
// Allocates memory for a result: from the first kind of heap that serves. The error explains why
// none does.
#include <unistd.h>

#include <algorithm>

#include "base/system/mapped.h"
#include "base/text/format_error.h"
#include "reconcile/buffer/allocate_negotiated.h"
#include "reconcile/buffer/negotiated_state.h"
#include "reconcile/merge/state.h"

namespace halyard {
namespace {

using Names = std::vector<std::string>;

/// A buffer that offers its memory's descriptor but cannot be mapped.
class UnmappedBuffer final : public Buffer {
 public:
  explicit UnmappedBuffer(std::shared_ptr<Buffer> memory) noexcept
      : Buffer(memory->size_bytes(), memory->memory(), memory->is_writable()),
        memory_(std::move(memory)) {}
  /// For memory that was never mapped here.
  UnmappedBuffer(Fd fd, std::size_t size_bytes, Memory memory) noexcept
      : Buffer(size_bytes, memory), fd_(std::move(fd)) {}
  ~UnmappedBuffer() override { release_attachments(); }
  int fd() const noexcept override { return memory_ ? memory_->fd() : fd_.get(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override {
    return fail(Errc::unsupported, "access: the parties agreed that no CPU maps this buffer");
  }
  void end_access(Access) noexcept override {}
  std::shared_ptr<Buffer> memory_;  ///< null if `fd_` is the memory
  Fd fd_;
};

Names given_or(const Names& given, Names otherwise) {
  return given.empty() ? otherwise : given;
}

/// Names under /dev/dma_heap; empty if the heap is not one of the kernel's.
Names kernel_heaps(Heap heap, const NegotiatedOptions& options) {
  switch (heap) {
    case Heap::udmabuf:
      return {"udmabuf"};
    case Heap::dmabuf_system:
      return given_or(options.system_heaps, {"system"});
    case Heap::dmabuf_cma:
      return given_or(options.contiguous_heaps,
                      {"linux,cma", "default_cma_region", "reserved", "cma"});
    case Heap::dmabuf_uncached:
      return given_or(options.uncached_heaps,
                      {"linux,cma-uncached", "system-uncached", "reserved-uncached"});
    case Heap::dmabuf_protected:
      return given_or(options.protected_heaps, {"protected", "secure"});
    default:
      return {};
  }
}

bool is_in_this_process(std::uint32_t process) {
  return process == 0 || process == static_cast<std::uint32_t>(::getpid());
}

class Allocation {
 public:
  Allocation(const Reconciled& result, const NegotiatedOptions& options)
      : result_(result), options_(options) {}
  Result<NegotiatedBuffer> run();

 private:
  Result<NegotiatedBuffer> from(Heap heap);
  AllocateOptions options_for(Heap heap) const;
  Result<std::shared_ptr<Buffer>> allocate_memory(const AllocateOptions& options) const;
  bool has_other_writers() const;
  Status fill_padding(Buffer& buffer) const;

  const Reconciled& result_;
  const NegotiatedOptions& options_;
};

bool Allocation::has_other_writers() const {
  const ReconciledState& state = ReconciledState::of(result_);
  for (std::size_t p = 0; p < state.parties.size() && p < state.views.size(); ++p)
    if (state.views[p].permission == Permission::read_write &&
        !is_in_this_process(state.parties[p].process))
      return true;
  return false;
}

AllocateOptions Allocation::options_for(Heap heap) const {
  AllocateOptions options;
  options.label = options_.label;
  options.align_bytes = result_.base_align_bytes();
  options.dma_heaps = kernel_heaps(heap, options_);
  options.memory = Memory::dma;
  if (heap == Heap::heap) options.memory = Memory::mem;
  if (heap == Heap::memfd) options.memory = Memory::shm;
  const auto exported = result_.value(Key::exported);
  options.sole_writer = heap == Heap::memfd && exported && exported->low != 0 &&
                        !has_other_writers() && result_.policy() != CpuPolicy::unmapped;
  // Memory that the CPU does not cache or never sees needs no attachment for cache maintenance.
  const bool is_cached_dma = heap == Heap::dmabuf_system || heap == Heap::dmabuf_cma;
  options.attached = result_.needs_anchor() && is_cached_dma;
  return options;
}

Result<std::shared_ptr<Buffer>> Allocation::allocate_memory(const AllocateOptions& options) const {
  const std::size_t size = result_.allocated_bytes();
  if (result_.policy() != CpuPolicy::unmapped || options.memory != Memory::shm)
    return halyard::allocate(size, options);
  // allocate() would map it.
  HALYARD_TRY(Fd fd, create_sealed_memory(options.label.empty() ? "halyard" : options.label, size));
  return std::shared_ptr<Buffer>(
      std::make_shared<UnmappedBuffer>(std::move(fd), size, Memory::shm));
}

Status Allocation::fill_padding(Buffer& buffer) const {
  if (result_.pad_fill() != PadFill::value || result_.policy() == CpuPolicy::unmapped) return {};
  HALYARD_TRY(const Map map, buffer.map_unclaimed(Access::write));
  std::ranges::fill(map.writable_bytes(), static_cast<std::byte>(result_.pad_value()));
  return {};
}

Result<NegotiatedBuffer> Allocation::from(Heap heap) {
  if (heap == Heap::v4l2_mmap || heap == Heap::pbo)
    return fail(Errc::unsupported, "its buffers come from their driver: give them to adopt()");
  HALYARD_TRY(const PartyView view, view_of(result_, options_.party));
  const AllocateOptions options = options_for(heap);
  HALYARD_TRY(auto memory, allocate_memory(options));
  HALYARD_RETURN_IF_ERROR(fill_padding(*memory));
  MemoryFacts facts{
      heap, Enforcement::advisory, AnchorState::none, Permission::read_write, view.cpu, view.party};
  if (heap == Heap::heap) facts.enforcement = Enforcement::none;
  if (options.sole_writer) facts.enforcement = Enforcement::hard;
  if (options.attached) facts.anchor = AnchorState::held;
  return NegotiatedBuffer::State::make(result_, std::move(memory), facts);
}

Result<NegotiatedBuffer> Allocation::run() {
  HALYARD_RETURN_IF_ERROR(view_of(result_, options_.party));
  std::string refusals;
  Errc code = Errc::unsupported;
  for (const Heap heap : result_.heaps()) {
    auto made = from(heap);
    if (made) return made;
    const Error& error = made.error();
    // An error that the user can fix, missing permission, takes precedence.
    if (refusals.empty() || error.code == Errc::permission) code = error.code;
    refusals +=
        fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", to_string(heap), error.message());
  }
  return make_error(code, "g.heaps: no kind of memory that all parties accept serves here",
                    std::move(refusals));
}

}  // namespace

std::shared_ptr<Buffer> without_maps(std::shared_ptr<Buffer> memory) {
  return std::make_shared<UnmappedBuffer>(std::move(memory));
}

Result<NegotiatedBuffer> import_unmapped(const Reconciled& result, int fd, std::size_t size_bytes,
                                         const MemoryFacts& facts) {
  HALYARD_TRY(Fd own, Fd::duplicate(fd));
  const Memory memory = facts.heap == Heap::memfd ? Memory::shm : Memory::dma;
  return NegotiatedBuffer::State::make(
      result, std::make_shared<UnmappedBuffer>(std::move(own), size_bytes, memory), facts);
}

Result<std::vector<NegotiatedBuffer>> allocate_negotiated(const Reconciled& result,
                                                          const NegotiatedOptions& options) {
  const std::uint32_t count = options.count == 0 ? result.count() : options.count;
  if (const auto limit = result.value(Key::count_max); limit && count > limit->low)
    return fail(Errc::exhausted, "count: more buffers than g.count_max allows", "{}, at most {}",
                count, limit->low);
  std::vector<NegotiatedBuffer> buffers;
  for (std::uint32_t k = 0; k < count; ++k) {
    HALYARD_TRY(NegotiatedBuffer each, Allocation(result, options).run());
    buffers.push_back(std::move(each));
  }
  return buffers;
}

}  // namespace halyard
