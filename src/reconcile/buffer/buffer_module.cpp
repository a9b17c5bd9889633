// SPDX-License-Identifier: Apache-2.0
// BufferModule: its phases, and the count of its buffers.
#include <atomic>

#include "base/local.h"
#include "base/text/format_error.h"
#include "halyard/negotiated_buffer.h"
#include "reconcile/buffer/buffer_module.h"
#include "reconcile/buffer/negotiated_state.h"

namespace halyard {

struct HALYARD_LOCAL BufferModule::Ledger {
  std::atomic<ModulePhase> phase{ModulePhase::init};
  std::atomic<std::size_t> live{0};

  /// Counts a buffer as long as it lives, which may be longer than the module does.
  static void enter(const std::shared_ptr<Ledger>& ledger, NegotiatedBuffer& buffer) {
    ledger->live.fetch_add(1, std::memory_order_relaxed);
    NegotiatedBuffer::State::of(buffer).member = std::shared_ptr<void>(
        ledger.get(), [ledger](void*) { ledger->live.fetch_sub(1, std::memory_order_relaxed); });
  }
};

Status check_phase(const BufferModule& module, std::string_view party) {
  const ModulePhase now = module.phase();
  if (now == ModulePhase::init) return {};
  const std::string who = party.empty() ? std::string() : fmt::format("party \"{}\": ", party);
  return fail(Errc::permission, "module: buffers are made before seal()", "{}the phase is {}", who,
              to_string(now));
}

std::string_view to_string(ModulePhase phase) noexcept {
  switch (phase) {
    case ModulePhase::init:
      return "init";
    case ModulePhase::run:
      return "run";
    case ModulePhase::deinit:
      break;
  }
  return "deinit";
}

BufferModule::BufferModule() : ledger_(std::make_shared<Ledger>()) {}
BufferModule::~BufferModule() = default;

Result<std::vector<NegotiatedBuffer>> BufferModule::allocate(const Reconciled& result,
                                                             const NegotiatedOptions& options) {
  HALYARD_RETURN_IF_ERROR(check_phase(*this, options.party));
  HALYARD_TRY(auto buffers, allocate_negotiated(result, options));
  for (NegotiatedBuffer& each : buffers)
    Ledger::enter(ledger_, each);
  return buffers;
}

Result<NegotiatedBuffer> BufferModule::adopt(const Reconciled& result,
                                             std::shared_ptr<Buffer> buffer,
                                             const NegotiatedOptions& options) {
  HALYARD_RETURN_IF_ERROR(check_phase(*this, options.party));
  return add([&] { return NegotiatedBuffer::adopt(result, std::move(buffer), options); });
}

Result<NegotiatedBuffer> BufferModule::add(const std::function<Result<NegotiatedBuffer>()>& make) {
  HALYARD_RETURN_IF_ERROR(check_phase(*this, {}));
  HALYARD_TRY(auto made, make());
  Ledger::enter(ledger_, made);
  return made;
}

Status BufferModule::seal() {
  ModulePhase seen = ModulePhase::init;
  if (ledger_->phase.compare_exchange_strong(seen, ModulePhase::run)) return {};
  return fail(Errc::permission, "seal: the module is not in init", "the phase is {}",
              to_string(seen));
}

Status BufferModule::begin_deinit() {
  if (ledger_->phase.exchange(ModulePhase::deinit) != ModulePhase::deinit) return {};
  return fail(Errc::permission, "begin_deinit: the module is in deinit already");
}

ModulePhase BufferModule::phase() const noexcept {
  return ledger_->phase.load(std::memory_order_acquire);
}
std::size_t BufferModule::live_buffers() const noexcept {
  return ledger_->live.load(std::memory_order_relaxed);
}

}  // namespace halyard
