// SPDX-License-Identifier: Apache-2.0
// Bins of free extents: the first level is the power of two of the size, the second level divides
// it into sixteen. A search rounds up to the next bin, whose extents are all large enough.
#include "ipc/pool/extents.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"

namespace halyard::ipc {

Extents::Extents(std::uint64_t granule, std::uint32_t max_taken) : granule_(granule) {
  HALYARD_ASSERT(std::has_single_bit(granule));
  for (auto& heads : heads_)
    heads.fill(none);
  // At most one free extent lies between two taken ones, and one at each end.
  const std::size_t count = std::size_t{max_taken} * 2 + 1;
  nodes_.resize(count);
  for (std::size_t i = count; i-- > 0;)
    drop_node(static_cast<std::uint32_t>(i));
}

void Extents::grow(std::uint64_t bytes) noexcept {
  const std::uint64_t size = bytes / granule_;
  HALYARD_ASSERT(size * granule_ == bytes && size > 0);
  join_given();
  if (last_ != none && nodes_[last_].is_free) {
    unlink(last_);
    nodes_[last_].size += size;
  } else {
    const std::uint32_t node = new_node();
    nodes_[node] = {.offset = total_granules_, .size = size, .before = last_};
    if (last_ != none) nodes_[last_].after = node;
    last_ = node;
  }
  nodes_[last_].is_free = true;
  link(last_);
  total_granules_ += size;
}

Extents::Bin Extents::bin_of(std::uint64_t size) noexcept {
  if (size < second_count) return {0, static_cast<unsigned>(size)};
  const auto log = static_cast<unsigned>(std::bit_width(size)) - 1;
  return {log - second_bits + 1,
          static_cast<unsigned>(size >> (log - second_bits)) & (second_count - 1)};
}

std::uint32_t Extents::find(std::uint64_t size) const noexcept {
  std::uint64_t rounded = size;
  if (size >= second_count) {
    const auto log = static_cast<unsigned>(std::bit_width(size)) - 1;
    rounded += (std::uint64_t{1} << (log - second_bits)) - 1;
  }
  const Bin bin = bin_of(rounded);
  std::uint32_t second = has_second_[bin.first] & (~std::uint32_t{0} << bin.second);
  unsigned first = bin.first;
  if (second == 0) {
    const std::uint64_t higher = has_first_ & (~std::uint64_t{1} << bin.first);
    if (higher != 0) {
      first = static_cast<unsigned>(std::countr_zero(higher));
      second = has_second_[first];
    }
  }
  if (second != 0) return heads_[first][static_cast<unsigned>(std::countr_zero(second))];
  // The bin of the size itself may hold extents that are large enough.
  std::uint32_t node = first_of(bin_of(size));
  while (node != none && nodes_[node].size < size)
    node = nodes_[node].later;
  return node;
}

[[gnu::hot]] std::optional<Extents::Extent> Extents::take(std::uint64_t bytes) noexcept {
  if (bytes > free_bytes()) return std::nullopt;
  const std::uint64_t size = std::max<std::uint64_t>((bytes + granule_ - 1) / granule_, 1);
  std::uint32_t found = given_;
  if (found != none && nodes_[found].size == size) {
    given_ = none;
    free_granules_ -= size;
  } else {
    join_given();
    found = find(size);
    if (found == none) return std::nullopt;
    unlink(found);
    split(found, size);
  }
  ++taken_;
  const Node& node = nodes_[found];
  return Extent{found, node.offset * granule_, node.size * granule_};
}

[[gnu::hot]] void Extents::give(std::uint32_t id) noexcept {
  HALYARD_ASSERT(id < nodes_.size() && id != given_ && !nodes_[id].is_free && nodes_[id].size != 0);
  join_given();
  --taken_;
  given_ = id;
  free_granules_ += nodes_[id].size;
}

void Extents::join_given() noexcept {
  if (given_ == none) return;
  std::uint32_t node = std::exchange(given_, none);
  free_granules_ -= nodes_[node].size;  // link() adds them again
  const std::uint32_t before = nodes_[node].before;
  if (before != none && nodes_[before].is_free) {
    unlink(before);
    join_with_next(before);
    node = before;
  }
  const std::uint32_t after = nodes_[node].after;
  if (after != none && nodes_[after].is_free) {
    unlink(after);
    join_with_next(node);
  }
  nodes_[node].is_free = true;
  link(node);
}

std::uint64_t Extents::largest_free_bytes() noexcept {
  join_given();
  if (has_first_ == 0) return 0;
  const auto first = static_cast<unsigned>(std::bit_width(has_first_)) - 1;
  const auto second = static_cast<unsigned>(std::bit_width(has_second_[first])) - 1;
  std::uint64_t largest = 0;
  for (std::uint32_t node = heads_[first][second]; node != none; node = nodes_[node].later)
    largest = std::max(largest, nodes_[node].size);
  return largest * granule_;
}

[[gnu::hot]] void Extents::link(std::uint32_t node) noexcept {
  const Bin bin = bin_of(nodes_[node].size);
  const std::uint32_t head = first_of(bin);
  nodes_[node].earlier = none;
  nodes_[node].later = head;
  if (head != none) nodes_[head].earlier = node;
  heads_[bin.first][bin.second] = node;
  has_first_ |= std::uint64_t{1} << bin.first;
  has_second_[bin.first] |= 1U << bin.second;
  free_granules_ += nodes_[node].size;
}

[[gnu::hot]] void Extents::unlink(std::uint32_t node) noexcept {
  Node& gone = nodes_[node];
  gone.is_free = false;
  free_granules_ -= gone.size;
  if (gone.later != none) nodes_[gone.later].earlier = gone.earlier;
  if (gone.earlier != none) {
    nodes_[gone.earlier].later = gone.later;
    return;
  }
  const Bin bin = bin_of(gone.size);
  heads_[bin.first][bin.second] = gone.later;
  if (gone.later != none) return;
  has_second_[bin.first] &= ~(1U << bin.second);
  if (has_second_[bin.first] == 0) has_first_ &= ~(std::uint64_t{1} << bin.first);
}

std::uint32_t Extents::new_node() noexcept {
  const std::uint32_t node = unused_;
  if (node != none) unused_ = nodes_[node].later;
  return node;
}

void Extents::drop_node(std::uint32_t node) noexcept {
  nodes_[node] = {.later = unused_};
  unused_ = node;
}

// Cuts the rest off a node that is in no bin. If no node is left for the rest, the node keeps it.
void Extents::split(std::uint32_t node, std::uint64_t size) noexcept {
  if (nodes_[node].size == size) return;
  const std::uint32_t rest = new_node();
  if (rest == none) return;
  Node& front = nodes_[node];
  nodes_[rest] = {.offset = front.offset + size,
                  .size = front.size - size,
                  .before = node,
                  .after = front.after,
                  .is_free = true};
  if (front.after != none) nodes_[front.after].before = rest;
  if (last_ == node) last_ = rest;
  front.after = rest;
  front.size = size;
  link(rest);
}

void Extents::join_with_next(std::uint32_t node) noexcept {
  const std::uint32_t next = nodes_[node].after;
  nodes_[node].size += nodes_[next].size;
  nodes_[node].after = nodes_[next].after;
  if (nodes_[node].after != none) nodes_[nodes_[node].after].before = node;
  if (last_ == next) last_ = node;
  drop_node(next);
}

}  // namespace halyard::ipc
