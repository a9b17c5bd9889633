// SPDX-License-Identifier: Apache-2.0
// The memory policy: which kind serves which request. All of it is in this file.
#include "base/env.h"
#include "base/format_error.h"
#include "base/log_format.h"
#include "halyard/buffer.h"
#include "halyard/trace.h"
#include "tensor/buffer_kinds.h"

namespace halyard {
namespace {

Result<std::shared_ptr<Buffer>> allocate_kind(std::size_t size_bytes, Memory memory) {
  switch (memory) {
    case Memory::mem:
      return make_heap_buffer(size_bytes);
    case Memory::shm:
      return make_shm_buffer(size_bytes, {});
    case Memory::dma:
      return make_dma_buffer(size_bytes, {});
    case Memory::pbo:
      return fail(
          Errc::unsupported,
          "memory: pbo buffers come from an OpenGL processor, which this library lacks yet");
    case Memory::automatic:
      break;
  }
  return fail(Errc::invalid_argument, "memory: unknown kind", "{}", static_cast<int>(memory));
}

Result<std::shared_ptr<Buffer>> allocate_automatic(std::size_t size_bytes) {
  const bool heap_only = environment().tensor_force_mem || size_bytes == 0;
  for (const Memory kind : {Memory::dma, Memory::shm}) {
    if (heap_only || !memory_available(kind)) continue;
    auto buffer = allocate_kind(size_bytes, kind);
    if (buffer) return buffer;
    HALYARD_LOG(LogLevel::debug, "tensor", "{} declined: {}", to_string(kind),
                buffer.error().message());
  }
  return allocate_kind(size_bytes, Memory::mem);
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
                               ? allocate_automatic(size_bytes)
                               : allocate_kind(size_bytes, options.memory));
  buffer->set_cpu_access(options.cpu_access);
  return buffer;
}

Status memory_available(Memory memory) {
  const auto probe = [](Memory kind) -> Status {
    HALYARD_CHECK(allocate_kind(4096, kind));
    return {};
  };
  static const Status shm = probe(Memory::shm);
  static const Status dma = probe(Memory::dma);
  static const Status pbo = probe(Memory::pbo);
  switch (memory) {
    case Memory::shm:
      return shm;
    case Memory::dma:
      return dma;
    case Memory::pbo:
      return pbo;
    default:
      return {};
  }
}

}  // namespace halyard
