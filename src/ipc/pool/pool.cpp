// SPDX-License-Identifier: Apache-2.0
// The public interface of pools: checks arguments and makes tensors of slots.
#include "halyard/pool.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>

#include "base/system/fork.h"
#include "base/system/random.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "ipc/pool/borrowed_arena.h"
#include "ipc/pool/pool_part.h"

namespace halyard {

using ipc::PoolPart;
using ipc::SlotBuffer;

struct TensorPool::State {
  std::shared_ptr<PoolPart> part;
};

namespace {

struct Pools {
  RankedMutex<LockRank::open_pools> mutex;
  std::map<std::uint32_t, std::weak_ptr<TensorPool>> pools;
  RankedMutex<LockRank::default_pool> default_mutex;
  std::shared_ptr<TensorPool> default_pool;
};
constinit PerProcess<Pools> process_pools;

constexpr std::uint32_t max_slot =
    0xFFFFFF;  // the lower bits of a slot_id; the upper 8 bits are the part's index
constexpr std::size_t one = 1;

// Checks a shape for alloc(). An empty shape is one element.
Status check_shape(std::span<const std::size_t> shape) {
  if (shape.size() > max_rank) {
    return fail(Errc::invalid_argument, "shape: must have at most 8 dimensions", "{}",
                shape.size());
  }
  const auto zero = std::find(shape.begin(), shape.end(), 0U);
  if (zero != shape.end()) {
    return fail(Errc::invalid_argument, "shape: extents must be 1 or more", "extent {} is 0",
                zero - shape.begin());
  }
  return {};
}

Result<Layout> layout_for(std::span<const std::size_t> shape, DType dtype) {
  HALYARD_RETURN_IF_ERROR(check_shape(shape));
  return Layout::contiguous(dtype, shape.empty() ? std::span(&one, 1) : shape);
}

Status check_device(Device device) {
  if (device.is_cpu()) return {};
  return fail(Errc::unsupported, "device: must be cpu, pools have only CPU memory", "{}",
              to_string(device));
}

}  // namespace

std::string TensorPoolStats::summary() const {
  return fmt::format("pool {}: {}/{} slots, {}/{} bytes used ({:.1f} %), {} reserved, {} processes",
                     pool_id, allocated_slots, max_slots, used_bytes, pool_size,
                     data_utilization() * 100, reserved_bytes, processes);
}

TensorPool::TensorPool(std::unique_ptr<State> state) : state_(std::move(state)) {}
TensorPool::~TensorPool() = default;

Result<std::shared_ptr<TensorPool>> TensorPool::find(std::uint32_t id,
                                                     const TensorPoolConfig* wanted) {
  Pools& known = process_pools.get();
  const std::lock_guard lock(known.mutex);
  // Checks the limits, even if the pool is open here.
  HALYARD_TRY(auto part, PoolPart::get(id, wanted));
  if (auto pool = known.pools[id].lock(); pool && pool->state_->part == part) return pool;
  // Each topic has a pool of its own: entries of ended pools must not accumulate.
  std::erase_if(known.pools, [](const auto& entry) { return entry.second.expired(); });
  auto state = std::make_unique<State>();
  state->part = std::move(part);
  std::shared_ptr<TensorPool> pool(new TensorPool(std::move(state)));
  known.pools[id] = pool;
  return pool;
}

std::shared_ptr<TensorPool> TensorPool::opened(std::uint32_t id) {
  Pools& known = process_pools.get();
  const std::lock_guard lock(known.mutex);
  const auto found = known.pools.find(id);
  return found != known.pools.end() ? found->second.lock() : nullptr;
}

Result<std::shared_ptr<TensorPool>> TensorPool::create(std::uint32_t id,
                                                       const TensorPoolConfig& config) {
  return find(id, &config);
}

Result<std::shared_ptr<TensorPool>> TensorPool::open(std::uint32_t id) {
  return find(id, nullptr);
}

std::uint32_t TensorPool::pool_id() const noexcept {
  return state_->part->identity().pool_id;
}
const TensorPoolConfig& TensorPool::config() const noexcept {
  return state_->part->config();
}
bool TensorPool::is_owner() const noexcept {
  return state_->part->made_pool();
}

[[gnu::hot]] Result<TensorHandle> TensorPool::alloc(std::span<const std::size_t> shape, DType dtype,
                                                    Device device) {
  HALYARD_RETURN_IF_ERROR(check_device(device));
  const auto layout = layout_for(shape, dtype);
  if (!layout) return layout.error();
  auto slot = state_->part->allocate(layout->size_bytes());
  if (!slot) return std::move(slot).error();
  return TensorHandle::over(*std::move(slot), *layout, device);
}

Result<TensorHandle> TensorPool::alloc_for(std::span<const std::size_t> shape, DType dtype,
                                           Device device, std::chrono::nanoseconds timeout) {
  HALYARD_RETURN_IF_ERROR(check_device(device));
  HALYARD_TRY(const Layout layout, layout_for(shape, dtype));
  HALYARD_TRY(auto slot, state_->part->allocate_for(layout.size_bytes(), timeout));
  return TensorHandle::over(std::move(slot), layout, device);
}

Result<TensorHandle> TensorPool::attach(const TensorDescriptor& descriptor) {
  if (descriptor.pool_id != pool_id()) {
    return fail(Errc::invalid_argument, "descriptor: belongs to another pool", "{}, this is {}",
                descriptor.pool_id, pool_id());
  }
  HALYARD_RETURN_IF_ERROR(descriptor.layout());
  const std::uint32_t index = descriptor.slot_id >> 24U;
  const std::uint32_t slot = descriptor.slot_id & max_slot;
  const PoolPart& part = *state_->part;
  std::shared_ptr<SlotBuffer> buffer;
  if (index == part.identity().index) {
    HALYARD_TRY(buffer, state_->part->attach(slot, descriptor.generation()));
  } else {
    const auto owner = part.service().owner_of(index);
    if (!owner) {
      return fail(Errc::not_found, "descriptor: the process that has the tensor is gone", "part {}",
                  index);
    }
    const Deadline deadline{ipc::answer_timeout};
    HALYARD_TRY(auto arena,
                ipc::BorrowedArena::get(part.node(), owner->first, owner->second, deadline));
    HALYARD_TRY(buffer, arena->borrow(slot, descriptor.generation()));
  }
  HALYARD_TRY(Tensor tensor, ipc::tensor_at(std::move(buffer), descriptor));
  return TensorHandle(std::move(tensor), Device::cpu());
}

Result<TensorDescriptor> TensorPool::alloc_slot(std::span<const std::size_t> shape, DType dtype) {
  HALYARD_RETURN_IF_ERROR(check_shape(shape));
  HALYARD_RETURN_IF_ERROR(Layout::check_size(dtype, shape.empty() ? std::span(&one, 1) : shape));
  std::uint64_t bytes = size_of(dtype);
  for (const std::size_t extent : shape)
    bytes *= extent;
  const auto leased = state_->part->service().arena().allocate(bytes);
  if (!leased) return leased.error();
  // Built in place: a copy would read words that were stored a moment ago, which takes longer than
  // all the rest.
  const ipc::Arena::Lease& lease = *leased;
  const ipc::SlotHome::Identity& home = state_->part->identity();
  Result<TensorDescriptor> made(std::in_place);
  TensorDescriptor& descriptor = *made;
  descriptor.pool_id = home.pool_id;
  descriptor.slot_id = home.index << 24U | lease.slot;
  descriptor.set_generation(lease.generation);
  descriptor.offset = lease.offset;
  descriptor.size = bytes;
  descriptor.set_dtype(dtype);
  descriptor.ndim = static_cast<std::uint8_t>(shape.size());
  descriptor.flags = TensorDescriptor::contiguous_flag;
  std::uint64_t stride = size_of(dtype);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    descriptor.dims[axis] = shape[axis];
    descriptor.strides[axis] = stride;
    stride *= shape[axis];
  }
  return made;
}

Status TensorPool::check_own(const TensorDescriptor& descriptor) const {
  const ipc::SlotHome::Identity& home = state_->part->identity();
  if (descriptor.pool_id != home.pool_id) {
    return fail(Errc::invalid_argument, "descriptor: belongs to another pool", "{}, this is {}",
                descriptor.pool_id, home.pool_id);
  }
  if (descriptor.slot_id >> 24U != home.index)
    return fail(Errc::invalid_argument, "descriptor: belongs to another process, attach() it");
  if ((descriptor.slot_id & max_slot) >= config().max_slots)
    return fail(Errc::malformed, "descriptor: no such slot", "{}", descriptor.slot_id & max_slot);
  return {};
}

Status TensorPool::retain(const TensorDescriptor& descriptor) {
  HALYARD_RETURN_IF_ERROR(check_own(descriptor));
  ipc::Arena& arena = state_->part->service().arena();
  if (arena.retain_tenant(descriptor.slot_id & max_slot, descriptor.generation())) return {};
  return fail(Errc::not_found, "descriptor: its tensor is gone");
}

Status TensorPool::release(const TensorDescriptor& descriptor) {
  HALYARD_RETURN_IF_ERROR(check_own(descriptor));
  ipc::Arena& arena = state_->part->service().arena();
  if (arena.release_tenant(descriptor.slot_id & max_slot, descriptor.generation())) return {};
  return fail(Errc::not_found, "descriptor: its tensor is gone, it was released once too often");
}

Result<std::span<std::byte>> TensorPool::bytes(const TensorDescriptor& descriptor) {
  HALYARD_RETURN_IF_ERROR(check_own(descriptor));
  const ipc::Arena& arena = state_->part->service().arena();
  const std::uint32_t slot = descriptor.slot_id & max_slot;
  if (arena.generation(slot) != descriptor.generation())
    return fail(Errc::not_found, "descriptor: its tensor is gone");
  const ipc::Arena::Lease lease = arena.lease(slot);
  const std::uint64_t begin = descriptor.offset - lease.offset;
  if (descriptor.offset < lease.offset || begin > lease.bytes.size() ||
      descriptor.size > lease.bytes.size() - begin)
    return fail(Errc::corrupt, "descriptor: exceeds its slot");
  return lease.bytes.subspan(begin, descriptor.size);
}

Status TensorPool::validate(const TensorDescriptor& descriptor) {
  HALYARD_RETURN_IF_ERROR(attach(descriptor));
  return {};
}

TensorPoolStats TensorPool::stats() {
  PoolPart& part = *state_->part;
  const ipc::Arena::Stats mine = part.service().arena().stats();
  const TensorPoolConfig& limits = part.config();
  TensorPoolStats stats;
  stats.pool_id = pool_id();
  stats.max_slots = limits.max_slots;
  stats.pool_size = limits.pool_size;
  stats.allocated_slots = mine.slots_used;
  stats.processes = 1;
  stats.total_refcount = mine.references;
  stats.used_bytes = mine.bytes_used;
  stats.reserved_bytes = mine.bytes_reserved;
  stats.peak_used_bytes = mine.peak_bytes_used;
  stats.failed_allocations = mine.failed_allocations;
  part.service().each_neighbour([&](const auto& neighbour) {
    const ipc::ArenaHeader& header = neighbour.header();
    const auto read = [](const ipc::SharedWord& word) {
      return word.load(std::memory_order_relaxed);
    };
    ++stats.processes;
    stats.allocated_slots += static_cast<std::uint32_t>(
        std::min<std::uint64_t>(read(header.slots_used), limits.max_slots));
    stats.total_refcount += std::min<std::uint64_t>(read(header.slots_used), limits.max_slots);
    stats.used_bytes += std::min(read(header.bytes_used), limits.pool_size);
    stats.reserved_bytes += std::min(read(header.bytes_reserved), limits.pool_size);
    stats.peak_used_bytes += std::min(read(header.peak_bytes_used), limits.pool_size);
    stats.failed_allocations += read(header.failed_allocations);
  });
  stats.free_bytes = stats.pool_size - std::min(stats.pool_size, stats.used_bytes);
  return stats;
}

Result<TensorHandle> TensorPool::alloc_image(std::size_t width, std::size_t height,
                                             PixelFormat format, DType dtype,
                                             std::size_t stride_bytes) {
  const auto from_pool = [this](std::size_t size_bytes) -> Result<std::shared_ptr<Buffer>> {
    HALYARD_TRY(auto slot, state_->part->allocate(size_bytes));
    return std::shared_ptr<Buffer>(std::move(slot));
  };
  ImageOptions options;
  options.dtype = dtype;
  options.memory = Memory::shm;
  options.stride_bytes = stride_bytes;
  HALYARD_TRY(Tensor tensor, Tensor::create_image_in(from_pool, width, height, format, options));
  return TensorHandle(std::move(tensor), Device::cpu());
}

Result<TensorPoolConfig> TensorPoolConfig::for_frames(const FrameLayout& frame,
                                                      std::uint32_t count) {
  HALYARD_RETURN_IF_ERROR(frame.check());
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 62;
  const std::uint64_t unit = frame.align_bytes;
  const std::uint64_t each = (frame.size_bytes + unit - 1) / unit * unit;
  if (count == 0 || count > 1'048'576 || each > max_bytes / count)
    return fail(Errc::invalid_argument, "count: must be 1..1048576, all bytes at most 2^62",
                "{} frames of {} bytes", count, each);
  TensorPoolConfig config;
  config.pool_size = each * count;
  config.max_slots = count;
  config.slot_alignment = frame.align_bytes;
  config.frame = frame;
  return config;
}

Result<TensorHandle> TensorPool::alloc_frame(std::chrono::nanoseconds timeout) {
  const std::optional<FrameLayout>& frame = config().frame;
  if (!frame) return fail(Errc::unsupported, "pool: was not made for frames", "pool {}", pool_id());
  HALYARD_TRY(auto slot, timeout.count() == 0
                             ? state_->part->allocate(frame->size_bytes)
                             : state_->part->allocate_for(frame->size_bytes, timeout));
  if (frame->fill) std::ranges::fill(slot->bytes(), static_cast<std::byte>(*frame->fill));
  HALYARD_TRY(Tensor tensor, frame->over(std::move(slot)));
  return TensorHandle(std::move(tensor), Device::cpu());
}

Result<std::shared_ptr<TensorPool>> default_pool() {
  Pools& known = process_pools.get();
  const std::lock_guard lock(known.default_mutex);
  while (!known.default_pool) {
    HALYARD_TRY(const auto id, random_value<std::uint32_t>());
    // Numbers that people choose are small: the top bit avoids them.
    HALYARD_TRY(auto pool, TensorPool::create(id | 0x8000'0000U));
    if (pool->is_owner()) known.default_pool = std::move(pool);
  }
  return known.default_pool;
}

}  // namespace halyard
