// SPDX-License-Identifier: Apache-2.0
// This process's part of a pool: the arena that it allocates from, and its membership.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/local.h"
#include "halyard/pool.h"
#include "halyard/result.h"
#include "ipc/node/node.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/pool_service.h"
#include "ipc/pool/slot_buffer.h"

namespace halyard::ipc {

/// The limits in the text of a pool's entry. Errors: corrupt.
Result<TensorPoolConfig> read_pool(const std::string& text);

/// Thread-safe. Lives as long as any tensor in it.
class HALYARD_LOCAL PoolPart final : public SlotHome,
                                     public std::enable_shared_from_this<PoolPart> {
 public:
  /// This process's part of pool `id`; makes it if there is none. The pool's limits must equal
  /// `wanted`; null accepts any limits. Errors: those of TensorPool::create() and open().
  static Result<std::shared_ptr<PoolPart>> get(std::uint32_t id, const TensorPoolConfig* wanted);
  /// This process's part with this arena. Errors: not_found.
  static Result<std::shared_ptr<PoolPart>> find(std::uint64_t arena_id);
  ~PoolPart() override;

  Result<std::shared_ptr<SlotBuffer>> allocate(std::size_t bytes);
  Result<std::shared_ptr<SlotBuffer>> allocate_for(std::size_t bytes,
                                                   std::chrono::nanoseconds timeout);
  /// Adds a reference to this very tenant. Errors: not_found, malformed (no such slot).
  Result<std::shared_ptr<SlotBuffer>> attach(std::uint32_t slot, std::uint64_t generation);

  void let_go(std::uint32_t slot) noexcept override {
    service_->arena().release(slot);
    service_->collect_sent_buffers();
  }
  std::uint64_t references(std::uint32_t slot) const noexcept override {
    return service_->arena().references(slot);
  }

  const TensorPoolConfig& config() const noexcept { return config_; }
  bool made_pool() const noexcept { return made_pool_; }
  PoolService& service() const noexcept { return *service_; }
  const std::shared_ptr<Node>& node() const noexcept { return node_; }
  bool is_of_this_process() const noexcept { return process_ == fork_generation(); }

 private:
  PoolPart(std::shared_ptr<Node> node, const Identity& identity, const TensorPoolConfig& config);
  static Result<std::shared_ptr<PoolPart>> enter(std::uint32_t id, const TensorPoolConfig* wanted);
  /// Makes a part that no other process knows yet.
  static Result<std::shared_ptr<PoolPart>> make(const std::shared_ptr<Node>& node, std::uint32_t id,
                                                std::uint32_t index,
                                                const TensorPoolConfig& config);
  /// Adds this process to the pool's members and answers requests about the part.
  Status become_member(const RegistryEntry& entry);
  Status join(const std::vector<std::string>& members, const Deadline& deadline);
  std::string pool_key() const;

  std::shared_ptr<Node> node_;
  TensorPoolConfig config_;
  std::uint32_t process_ = fork_generation();
  bool made_pool_ = false;
  std::string member_;  ///< the name of its file in the registry
  std::shared_ptr<PoolService> service_;
};

}  // namespace halyard::ipc
