// SPDX-License-Identifier: Apache-2.0
// The memory policy: which kind of memory serves which request. All of it is in this file.
#include <numeric>

#include "base/env.h"
#include "base/system/fork.h"
#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "halyard/buffer.h"
#include "halyard/trace.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

constexpr std::size_t page_bytes =
    4096;  // the smallest page size of Linux on the supported machines
constexpr std::size_t max_align_bytes = std::size_t{1} << 30;

Status check_options(Memory memory, const AllocateOptions& options) {
  if (options.align_bytes == 0 || options.align_bytes > max_align_bytes)
    return fail(Errc::invalid_argument, "align_bytes: must be 1..2^30", "{}", options.align_bytes);
  if (memory != Memory::mem && page_bytes % options.align_bytes != 0)
    return fail(Errc::unsupported, "align_bytes: must divide the page size for this memory",
                "{}, a page has {} bytes", options.align_bytes, page_bytes);
  if (options.sole_writer && memory != Memory::shm)
    return fail(Errc::unsupported, "sole_writer: only shm can keep others from writing",
                "memory {}", to_string(memory));
  if (options.attached && memory != Memory::dma)
    return fail(Errc::unsupported, "attached: only DMA-BUFs attach to devices", "memory {}",
                to_string(memory));
  return {};
}

Result<std::shared_ptr<Buffer>> allocate_kind(std::size_t size_bytes, Memory memory,
                                              const AllocateOptions& options) {
  HALYARD_RETURN_IF_ERROR(check_options(memory, options));
  switch (memory) {
    case Memory::mem:
      return make_heap_buffer(size_bytes, std::lcm(options.align_bytes, buffer_alignment));
    case Memory::shm:
      return options.sole_writer ? make_own_shm_buffer(size_bytes, options.label)
                                 : make_shm_buffer(size_bytes, options.label);
    case Memory::dma:
      return make_dma_buffer(size_bytes, options);
    case Memory::pbo:
      return make_pixel_buffer(size_bytes);
    case Memory::automatic:
      break;
  }
  return fail(Errc::invalid_argument, "memory: unknown kind", "{}", static_cast<int>(memory));
}

// A failed probe avoids an attempt for each allocation. It did not test heaps that the caller
// names.
bool worth_trying(Memory kind, const AllocateOptions& options) {
  return (kind == Memory::dma && !options.dma_heaps.empty()) || memory_available(kind);
}

Result<std::shared_ptr<Buffer>> allocate_automatic(std::size_t size_bytes,
                                                   const AllocateOptions& options) {
  const bool heap_only = environment().tensor_force_mem || size_bytes == 0;
  for (const Memory kind : {Memory::dma, Memory::shm}) {
    if (heap_only || !worth_trying(kind, options)) continue;
    auto buffer = allocate_kind(size_bytes, kind, options);
    if (buffer) return buffer;
    HALYARD_LOG(LogLevel::debug, "tensor", "{} declined: {}", to_string(kind),
                buffer.error().message());
  }
  return allocate_kind(size_bytes, Memory::mem, options);
}

// One trial allocation per kind, made at the first call. Its result is kept.
template <Memory kind>
const Status& probed() {
  static std::atomic<const Status*> once{nullptr};
  return made_once(once, [] {
    const auto buffer = allocate_kind(4096, kind, {});
    return new const Status(buffer ? Status() : Status(buffer.error()));
  });
}

}  // namespace

Result<std::shared_ptr<Buffer>> allocate(std::size_t size_bytes, Memory memory) {
  AllocateOptions options;
  options.memory = memory;
  return allocate(size_bytes, options);
}

Result<std::shared_ptr<Buffer>> allocate(std::size_t size_bytes, const AllocateOptions& options) {
  trace::Span span("tensor.alloc");
  span.arg("bytes", size_bytes).arg("memory", to_string(options.memory));
  if (size_bytes == 0 && options.memory != Memory::mem && options.memory != Memory::automatic) {
    return fail(Errc::invalid_argument, "size: 0 bytes are legal for mem only", "memory {}",
                to_string(options.memory));
  }
  HALYARD_TRY(auto buffer, options.memory == Memory::automatic
                               ? allocate_automatic(size_bytes, options)
                               : allocate_kind(size_bytes, options.memory, options));
  buffer->set_cpu_access(options.cpu_access);
  return buffer;
}

Status memory_available(Memory memory) {
  switch (memory) {
    case Memory::shm:
      return probed<Memory::shm>();
    case Memory::dma:
      return probed<Memory::dma>();
    case Memory::pbo:
      return probed<Memory::pbo>();
    case Memory::mem:
    case Memory::automatic:
      break;
  }
  return {};
}

bool automatic_tries_dma() {
  return !environment().tensor_force_mem && memory_available(Memory::dma);
}

}  // namespace halyard
