// SPDX-License-Identifier: Apache-2.0
// NegotiatedBuffer: its tensors, and its calls, which BufferAccess implements.
#include "halyard/negotiated_buffer.h"

#include <algorithm>
#include <cerrno>

#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "halyard/enumerators.h"
#include "reconcile/buffer/allocate_negotiated.h"
#include "reconcile/buffer/negotiated_state.h"

namespace halyard {
namespace {

using State = NegotiatedBuffer::State;

State& state_of(void* state) noexcept {
  return *static_cast<State*>(state);
}

/// Ends a lock. The last lock of a buffer that no object holds any more also destroys the buffer.
Status end_lock(void* state, std::uint64_t ticket, BufferAccess::Whose whose) {
  bool is_last = false;
  Status ended = state_of(state).access.unlock(ticket, whose, is_last);
  if (is_last) delete static_cast<State*>(state);
  return ended;
}

bool allows(CpuAccess allowed, Access access) noexcept {
  return (static_cast<unsigned>(access) & ~static_cast<unsigned>(allowed)) == 0;
}

Result<Tensor> make_image(const Reconciled& result, const std::shared_ptr<Buffer>& buffer) {
  std::vector<Tensor::PlaneSource> sources;
  for (const PlaneLayout& plane : result.planes())
    sources.push_back({buffer, plane.offset_bytes, plane.stride_bytes, plane.plane_stride_bytes});
  return Tensor::wrap_image(sources, result.width(), result.height(), result.image_tag().format,
                            DType::u8, result.image_tag().modifier);
}

/// The heap of a buffer's memory, if all parties reach it.
Result<Heap> heap_of(const Reconciled& result, const Buffer& buffer) {
  const auto serves = [&buffer](Heap heap) {
    switch (buffer.memory()) {
      case Memory::mem:
        return heap == Heap::heap;
      case Memory::shm:
        return heap == Heap::memfd;
      case Memory::pbo:
        return heap == Heap::pbo;
      default:
        return heap != Heap::heap && heap != Heap::memfd && heap != Heap::pbo;
    }
  };
  for (const Heap each : result.heaps())
    if (serves(each)) return each;
  std::string accepted;
  for (const Heap each : result.heaps())
    accepted += fmt::format("{}{}", accepted.empty() ? "" : ", ", to_string(each));
  return fail(Errc::unsupported, "buffer: not all parties reach this kind of memory",
              "{}; they accept {}", to_string(buffer.memory()), accepted);
}

}  // namespace

std::string_view to_string(Enforcement enforcement) noexcept {
  return enumerator_name(enforcement, "unknown");
}
std::string_view to_string(AnchorState anchor) noexcept {
  return enumerator_name(anchor, "unknown");
}
std::string_view to_string(OperationState state) noexcept {
  return enumerator_name(state, "unknown");
}

Result<PartyView> view_of(const Reconciled& result, std::string_view party) {
  PartyView all{"", CpuAccess::none, Permission::read_write};
  for (const PartyView& each : result.views()) {
    if (!party.empty() && each.party == party) return each;
    all.cpu =
        static_cast<CpuAccess>(static_cast<unsigned>(all.cpu) | static_cast<unsigned>(each.cpu));
  }
  if (party.empty()) return all;
  return fail(Errc::not_found, "party: must be one of those that agreed", "\"{}\"", party);
}

BufferLock& BufferLock::operator=(BufferLock&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(ticket_, other.ticket_);
  std::swap(bytes_, other.bytes_);
  std::swap(access_, other.access_);
  return *this;
}

BufferLock::~BufferLock() {
  if (ticket_ == 0) return;
  const Status ended = end_lock(state_, ticket_, BufferAccess::Whose::any);
  if (!ended && ended.error().code == Errc::os)
    HALYARD_LOG(LogLevel::warn, "reconcile", "{}", ended.error().message());
}

// After the lock nothing keeps the buffer alive, but errors name its party.
void BufferLock::note_party() noexcept {
  const std::string_view name = state_of(state_).facts.party;
  ended_[name.copy(ended_.data(), ended_.size() - 1)] = 0;
}

Error BufferLock::is_over(const char* what) const {
  if (ended_[0] == 0) return make_error(Errc::invalid_argument, what);
  return fail(Errc::invalid_argument, what, "party \"{}\"", ended_.data());
}

Status BufferLock::unlock() {
  if (ticket_ == 0) return is_over("unlock: the lock is over already");
  note_party();
  Status ended = end_lock(state_, ticket_, BufferAccess::Whose::own);
  if (!ended && ended.error().code == Errc::permission) return ended;
  ticket_ = 0;
  bytes_ = {};
  return ended;
}

Status BufferLock::sync_range(std::size_t offset_bytes, std::size_t size_bytes) {
  if (ticket_ == 0) return is_over("sync_range: the lock is over already");
  if (size_bytes == 0 || offset_bytes > bytes_.size() || size_bytes > bytes_.size() - offset_bytes)
    return fail(Errc::invalid_argument, "sync_range: must lie in the buffer and not be empty",
                "{} bytes from {} of {}", size_bytes, offset_bytes, bytes_.size());
  return state_of(state_).access.sync(ticket_);
}

void BufferLock::keep() noexcept {
  if (ticket_ != 0) state_of(state_).access.keep(ticket_);
  ticket_ = 0;
  bytes_ = {};
}

BufferOperation& BufferOperation::operator=(BufferOperation&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(number_, other.number_);
  return *this;
}

BufferOperation::~BufferOperation() {
  fail(ECANCELED);
}

void BufferOperation::finish() noexcept {
  if (state_) state_of(state_.get()).access.end_operation(number_, OperationState::done, 0);
  state_.reset();
}

void BufferOperation::fail(std::int32_t code) noexcept {
  if (state_) state_of(state_.get()).access.end_operation(number_, OperationState::failed, code);
  state_.reset();
}

Result<NegotiatedBuffer> State::make(const Reconciled& result, std::shared_ptr<Buffer> memory,
                                     const MemoryFacts& facts) {
  const bool is_mapped = facts.cpu != CpuAccess::none && result.policy() != CpuPolicy::unmapped;
  if (!is_mapped) memory = without_maps(std::move(memory));
  memory->set_cpu_access(facts.cpu);
  Map kept;
  const bool needs_no_sync = facts.heap == Heap::heap || facts.heap == Heap::memfd;
  if (is_mapped && needs_no_sync) {
    // The map is kept for all locks, so it does not count as an access of its own.
    memory->set_cpu_access(CpuAccess::read_write);
    HALYARD_TRY(kept,
                memory->map_unclaimed(memory->is_writable() ? Access::read_write : Access::read));
    memory->set_cpu_access(facts.cpu);
  }
  std::shared_ptr<State> state(
      new State(result.policy(), std::move(memory), std::move(kept), facts), [](State* ending) {
        if (ending->access.nobody_holds_it()) delete ending;
      });
  if (result.has_tensor()) {
    HALYARD_TRY(state->tensor,
                Tensor::wrap(state->buffer, result.layout(), result.tensor_offset_bytes()));
  }
  if (result.has_image()) {
    HALYARD_TRY(state->image, make_image(result, state->buffer));
  }
  return NegotiatedBuffer(std::move(state), result);
}

NegotiatedBuffer State::with_result(const NegotiatedBuffer& buffer, const Reconciled& result) {
  return NegotiatedBuffer(buffer.state_, result);
}

Result<NegotiatedBuffer> NegotiatedBuffer::adopt(const Reconciled& result,
                                                 std::shared_ptr<Buffer> buffer,
                                                 const NegotiatedOptions& options) {
  if (!buffer) return fail(Errc::invalid_argument, "buffer: must not be null");
  if (buffer->size_bytes() < result.allocated_bytes())
    return fail(Errc::invalid_argument, "buffer: must have the bytes that the result needs",
                "{}, not {}", buffer->size_bytes(), result.allocated_bytes());
  HALYARD_TRY(const PartyView view, view_of(result, options.party));
  HALYARD_TRY(const Heap heap, heap_of(result, *buffer));
  MemoryFacts facts{heap,     Enforcement::none, AnchorState::none, view.permission,
                    view.cpu, view.party};
  if (!buffer->is_writable()) facts.permission = Permission::read;
  if (buffer->fd() >= 0) facts.enforcement = Enforcement::advisory;
  if (result.needs_anchor()) facts.anchor = AnchorState::owner;
  return State::make(result, std::move(buffer), facts);
}

const std::shared_ptr<Buffer>& NegotiatedBuffer::buffer() const noexcept {
  return state_->buffer;
}
Heap NegotiatedBuffer::heap() const noexcept {
  return state_->facts.heap;
}
Permission NegotiatedBuffer::permission() const noexcept {
  return state_->facts.permission;
}
CpuAccess NegotiatedBuffer::cpu() const noexcept {
  return state_->facts.cpu;
}
Enforcement NegotiatedBuffer::enforcement() const noexcept {
  return state_->facts.enforcement;
}
AnchorState NegotiatedBuffer::anchor() const noexcept {
  return state_->facts.anchor;
}

Result<Tensor> NegotiatedBuffer::tensor() const {
  if (state_->tensor) return *state_->tensor;
  return fail(Errc::unsupported, "tensor: the parties agreed on no tensor");
}
Result<Tensor> NegotiatedBuffer::image() const {
  if (state_->image) return *state_->image;
  return fail(Errc::unsupported, "image: the parties agreed on no image");
}

Result<BufferLock> NegotiatedBuffer::lock(Access access, std::chrono::nanoseconds timeout) {
  const MemoryFacts& facts = state_->facts;
  if (state_->policy == CpuPolicy::unmapped)
    return fail(Errc::unsupported, "lock: g.policy is unmapped: the CPU never maps the buffer");
  if (!allows(facts.cpu, access))
    return fail(Errc::permission, "lock: g.cpu of the party allows less", "{} asked, {} allowed",
                to_string(static_cast<CpuAccess>(access)), to_string(facts.cpu));
  if (can_write(access) && facts.permission == Permission::read)
    return fail(Errc::permission, "lock: g.perm of the party is read");
  // Built in place, since locking takes only some nanoseconds.
  Result<BufferLock> made(std::in_place);
  BufferAccess::Grant grant;
  HALYARD_RETURN_IF_ERROR(state_->access.lock(access, timeout, grant));
  made->state_ = state_.get();
  made->ticket_ = grant.ticket;
  made->bytes_ = grant.bytes;
  made->access_ = access;
  return made;
}

Status NegotiatedBuffer::unlock() {
  return state_->access.unlock_own();  // never the last: this object holds the buffer too
}

Result<BufferOperation> NegotiatedBuffer::submit() {
  HALYARD_TRY(const std::uint64_t number, state_->access.submit(Fd()));
  return BufferOperation(state_, number);
}

Status NegotiatedBuffer::submit(Fd fence) {
  if (!fence) return fail(Errc::invalid_argument, "fence: must be an open descriptor");
  HALYARD_RETURN_IF_ERROR(state_->access.submit(std::move(fence)));
  return {};
}

Result<OperationStatus> NegotiatedBuffer::status(std::chrono::nanoseconds timeout) const {
  return state_->access.status(timeout);
}

}  // namespace halyard
