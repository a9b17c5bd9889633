// SPDX-License-Identifier: Apache-2.0
// Heads, sizes and checks of blobs.
#include "reconcile/attributes/blob.h"

#include <algorithm>

#include "base/text/format_error.h"

namespace halyard {
namespace {

struct BlobHead {
  static constexpr std::uint32_t magic_value = 0x42415248;  // "HRAB"
  static constexpr std::uint16_t major_value = 1;
  static constexpr std::uint16_t minor_value = 0;

  std::uint32_t magic = magic_value;
  std::uint16_t major = major_value;
  std::uint16_t minor = minor_value;
  std::uint32_t size_bytes = 0;  ///< of all, the head included
  std::uint32_t content = 0;
  std::array<std::uint8_t, 16> hash{};  ///< of what follows the head
};
static_assert(sizeof(BlobHead) == blob_head_bytes && offsetof(BlobHead, hash) == 16 &&
              offsetof(BlobHead, size_bytes) == blob_size_offset);

constexpr std::size_t record_head_bytes = 8;

Error corrupt(std::size_t at) {
  return fail(Errc::corrupt, "blob: every record must end inside it", "at byte {}", at);
}

}  // namespace

std::array<std::uint8_t, 16> blob_hash(std::span<const std::byte> bytes) noexcept {
  __extension__ using u128 = unsigned __int128;
  u128 hash = (u128{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
  const u128 prime = (u128{1} << 88) | 0x13b;
  const auto mix = [&](std::uint64_t word) {
    hash ^= word;
    hash *= prime;
    // The upper bits of the hash reach the lower ones, as they do when bytes are hashed.
    hash ^= hash >> 64;
  };
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    mix(word);
  }
  std::uint64_t last = 0;
  if (at != bytes.size()) std::memcpy(&last, bytes.data() + at, bytes.size() - at);
  mix(last);
  mix(bytes.size());
  std::array<std::uint8_t, 16> out{};
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<std::uint8_t>(hash >> (8 * (15 - k)));
  return out;
}

void BlobBytes::put_text(std::string_view text) {
  text = text.substr(0, 255);
  put(static_cast<std::uint8_t>(text.size()));
  put_bytes(std::as_bytes(std::span(text)));
}

std::string_view BlobValues::text() noexcept {
  const std::size_t size = get<std::uint8_t>();
  if (left_.size() < size) {
    fails_ = true;
    left_ = {};
    return {};
  }
  const std::string_view found(reinterpret_cast<const char*>(left_.data()), size);
  left_ = left_.subspan(size);
  return found;
}

Result<std::vector<std::byte>> make_blob(BlobContent content, std::span<const std::byte> records) {
  BlobHead head;
  const std::size_t size = sizeof(head) + records.size();
  if (size > attribute_blob_limit)
    return fail(Errc::exhausted, "blob: the parties' lists need too many bytes", "{}, at most {}",
                size, attribute_blob_limit);
  head.size_bytes = static_cast<std::uint32_t>(size);
  head.content = static_cast<std::uint32_t>(content);
  head.hash = blob_hash(records);
  std::vector<std::byte> blob(size);
  std::memcpy(blob.data(), &head, sizeof(head));
  std::ranges::copy(records, blob.begin() + sizeof(head));
  return blob;
}

Result<std::vector<BlobEntry>> read_blob(BlobContent content, std::span<const std::byte> blob) {
  BlobHead head;
  if (blob.size() < sizeof(head) || blob.size() > attribute_blob_limit)
    return fail(Errc::malformed, "blob: must have 32 to 65536 bytes", "{}", blob.size());
  std::memcpy(&head, blob.data(), sizeof(head));
  if (head.magic != BlobHead::magic_value)
    return fail(Errc::malformed, "blob: does not begin with the magic number");
  if (head.major != BlobHead::major_value)
    return fail(Errc::version, "blob: must have a version that this library reads",
                "{}.{}, this library reads {}", head.major, head.minor, BlobHead::major_value);
  if (head.content != static_cast<std::uint32_t>(content))
    return fail(Errc::malformed,
                content == BlobContent::lists ? "blob: has no attribute lists"
                                              : "blob: has no result of reconcile()",
                "content {}", head.content);
  if (head.size_bytes != blob.size())
    return fail(Errc::corrupt, "blob: must have the size that its head states",
                "{} bytes came, {} are stated", blob.size(), head.size_bytes);
  const auto records = blob.subspan(sizeof(head));
  if (head.hash != blob_hash(records))
    return fail(Errc::corrupt, "blob: its digest must be that of its records");
  std::vector<BlobEntry> entries;
  entries.reserve(records.size() / 24);
  for (std::size_t at = 0; at != records.size();) {
    BlobValues values(records.subspan(at));
    BlobEntry entry;
    entry.key = values.get<std::uint16_t>();
    entry.index = values.get<std::uint8_t>();
    static_cast<void>(values.get<std::uint8_t>());
    const std::size_t size = values.get<std::uint32_t>();
    if (values.fails() || size > records.size() - at - record_head_bytes)
      return corrupt(sizeof(head) + at);
    entry.value = records.subspan(at + record_head_bytes, size);
    entry.whole = records.subspan(at, record_head_bytes + size);
    entries.push_back(entry);
    at += entry.whole.size();
  }
  return entries;
}

}  // namespace halyard
