// SPDX-License-Identifier: Apache-2.0
// Blobs of attribute lists and of results, with correct digests over any records. A blob that is
// accepted must be accepted again with the same content, and describe a buffer that contains
// everything. With a descriptor it makes buffers inside its memory. The first byte selects the
// kind.
#include "halyard/attribute_blob.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "base/system/mapped.h"
#include "halyard/buffer_exchange.h"
#include "reconcile/attributes/blob.h"

namespace {

using namespace halyard;

void expect(bool promise) {
  if (!promise) std::abort();
}

template <class T>
void expect_text(const Result<T>& result) {
  expect(result.has_value() || !result.error().message().empty());
}

void check_lists(std::span<const std::byte> blob) {
  const auto lists = decode_lists(blob);
  expect_text(lists);
  if (!lists) return;
  const auto once = encode_lists(*lists);
  // Names that were cut when they came may make it larger than what is accepted.
  if (!once) return expect_text(once);
  const auto again = decode_lists(*once);
  expect(again.has_value() && encode_lists(*again).value() == *once);
  if (lists->size() <= 8) expect_text(reconcile(*lists));
}

constexpr std::size_t memory_bytes = std::size_t{1} << 20;

/// Tries all kinds of memory that a blob may name, with a memfd.
void check_import(std::span<const std::byte> blob) {
  static const Fd memory = create_sealed_memory("fuzz", memory_bytes).value();
  const int fd = memory.get();
  const auto buffer = import_buffer(blob, std::span(&fd, 1));
  expect_text(buffer);
  if (!buffer) return;
  expect(buffer->heap() == Heap::memfd);
  expect(buffer->attributes().allocated_bytes() <= memory_bytes);
  auto again = *buffer;
  const auto lock = again.lock(Access::read, std::chrono::nanoseconds(0));
  expect(!lock || lock->bytes().size() >= buffer->attributes().allocated_bytes());
}

/// The blob with memory of a kind, which may match or not.
std::vector<std::byte> with_memory(std::span<const std::byte> blob, std::uint8_t kind) {
  BlobBytes records;
  records.put_bytes(blob.subspan(blob_head_bytes));
  records.record(static_cast<std::uint16_t>(BlobRecord::buffer), 0, [&] {
    records.put(static_cast<std::uint8_t>(kind % heap_count));
    records.put(static_cast<std::uint8_t>(kind >> 7));
    records.put(std::uint16_t{0});
    records.put(std::uint64_t{memory_bytes});
  });
  return make_blob(BlobContent::result, records.get()).value_or(std::vector<std::byte>());
}

void check_result(std::span<const std::byte> blob) {
  check_import(blob);
  const auto result = decode_result(blob);
  expect_text(result);
  if (!result) return;
  expect(result->size_bytes() <= result->allocated_bytes());
  for (const PlaneLayout& plane : result->planes())
    expect(plane.offset_bytes + plane.size_bytes <= result->size_bytes());
  expect(result->views().size() == 1 && !result->to_json().empty() && !result->to_text().empty());
  const auto sent_on = encode_result(*result, result->views()[0].party);
  expect_text(sent_on);
}

/// A result's blob has the digest of the agreement, which no fuzzer can guess.
std::vector<std::byte> agreeing(const std::vector<std::byte>& records) {
  const auto lists = make_blob(BlobContent::lists, records);
  if (!lists) return {};
  const auto parties = decode_lists(*lists);
  if (!parties || parties->empty() || parties->size() > 8) return {};
  const auto result = reconcile(*parties);
  if (!result) return {};
  return encode_result(*result, parties->front().party()).value_or(std::vector<std::byte>());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > attribute_blob_limit) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::vector<std::byte> records(bytes.begin(), bytes.end());
  const unsigned kind = data[0] % 4;
  if (kind == 3) {
    const std::vector<std::byte> blob = agreeing(records);
    if (blob.empty()) return 0;
    check_result(blob);
    check_import(with_memory(blob, data[0] / 4));
    return 0;
  }
  if (kind == 2) {  // with any head
    check_lists(bytes);
    check_result(bytes);
    return 0;
  }
  const auto blob = make_blob(kind == 0 ? BlobContent::lists : BlobContent::result, records);
  if (!blob) return 0;
  kind == 0 ? check_lists(*blob) : check_result(*blob);
  return 0;
}
