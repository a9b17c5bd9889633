// SPDX-License-Identifier: Apache-2.0
// docs/shared-memory.md says what the code says: each field, each size, each number. And the
// publisher that attach_test.py attaches to.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "halyard/topic.h"
#include "ipc/helpers.h"
#include "ipc/peer.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/borrowed_arena.h"
#include "ipc/pool/loans.h"
#include "ipc/pool/pool_part.h"
#include "ipc/topic/endpoint_memory.h"
#include "ipc/topic/frame_message.h"
#include "ipc/topic/topic_service.h"
#include "test_paths.h"

namespace halyard::ipc {
namespace {

using test::value_of;
using testing::Peer;

struct Place {
  std::size_t offset = 0;
  std::size_t size = 0;
  friend bool operator==(const Place&, const Place&) = default;
  friend void PrintTo(const Place& place, std::ostream* out) {
    *out << place.size << " bytes at " << place.offset;
  }
};

// The tables of the page.
struct Page {
  std::map<std::string, std::size_t> sizes;      // by structure
  std::map<std::string, Place> fields;           // by structure.field
  std::map<std::string, std::uint64_t> numbers;  // by name
};

Page read_page() {
  const std::regex heading(R"(### (\w+), (\d+) bytes.*)");
  const std::regex field(R"(\| (\d+) \| (\d+) \| `(\w+)` \|.*)");
  const std::regex number(R"(\| `([\w.]+)` \| (0x[0-9A-F]+|\d+) \|)");
  Page page;
  std::ifstream file(HALYARD_SOURCE_DIR "/docs/shared-memory.md");
  std::string structure;
  for (std::string line; std::getline(file, line);) {
    std::smatch m;
    if (std::regex_match(line, m, heading)) {
      structure = m[1];
      page.sizes[structure] = std::stoul(m[2]);
    } else if (line.rfind("#", 0) == 0) {
      structure.clear();
    } else if (std::regex_match(line, m, field)) {
      page.fields[structure + "." + m[3].str()] = {std::stoul(m[1]), std::stoul(m[2])};
    } else if (std::regex_search(line, m, number)) {
      page.numbers[m[1]] = std::stoull(m[2], nullptr, 0);
    }
  }
  return page;
}

// What the page says of a structure, taken out of it.
class PageTest : public ::testing::Test {
 protected:
  void expect_size(const std::string& structure, std::size_t size) {
    ASSERT_TRUE(page_.sizes.count(structure)) << structure;
    EXPECT_EQ(page_.sizes[structure], size) << structure;
    page_.sizes.erase(structure);
  }
  void expect_field(const std::string& name, std::size_t offset, std::size_t size) {
    ASSERT_TRUE(page_.fields.count(name)) << name;
    EXPECT_EQ(page_.fields[name], (Place{offset, size})) << name;
    page_.fields.erase(name);
  }
  template <class Number>
  void expect_number(const std::string& name, Number value) {
    ASSERT_TRUE(page_.numbers.count(name)) << name;
    EXPECT_EQ(page_.numbers[name], static_cast<std::uint64_t>(value)) << name;
    page_.numbers.erase(name);
  }
  Page page_ = read_page();
};

#define EXPECT_FIELD(structure, field) \
  expect_field(#structure "." #field, offsetof(structure, field), sizeof(structure::field))
// EXPECT_FIELD for each of up to 64 fields: NEXT is not a macro's name before the next round.
#define ROUNDS(...) ROUNDS_16(ROUNDS_16(ROUNDS_16(ROUNDS_16(__VA_ARGS__))))
#define ROUNDS_16(...) ROUNDS_4(ROUNDS_4(ROUNDS_4(ROUNDS_4(__VA_ARGS__))))
#define ROUNDS_4(...) __VA_ARGS__
#define EXPECT_FIELDS(structure, ...) ROUNDS(EACH(structure, __VA_ARGS__))
#define EACH(structure, field, ...) \
  EXPECT_FIELD(structure, field);   \
  __VA_OPT__(NEXT PARENTHESES(structure, __VA_ARGS__))
#define NEXT() EACH
#define PARENTHESES ()

TEST_F(PageTest, has_the_structures_of_arenas) {
  expect_size("ArenaHeader", sizeof(ArenaHeader));
  EXPECT_FIELDS(ArenaHeader, magic, version, byte_order, slots, slot_alignment, max_bytes, arena_id,
                pool_id, index, reserved, slots_used, bytes_used, peak_bytes_used, bytes_reserved,
                failed_allocations, wants_room, unused, borrowers);
  expect_size("SlotRecord", sizeof(SlotRecord));
  EXPECT_FIELDS(SlotRecord, generation, offset, bytes, wants_notice);
  for (const auto& [name, place] : page_.fields)
    EXPECT_FALSE(name.rfind("ArenaHeader.", 0) == 0 || name.rfind("SlotRecord.", 0) == 0) << name;
}

TEST_F(PageTest, has_the_structures_of_endpoints) {
  expect_size("EndpointHeader", sizeof(EndpointHeader));
  EXPECT_FIELDS(EndpointHeader, magic, version, byte_order, id, layout_hash, role, message_words,
                entry_words, entries, depth, readers, reserved, head, sent_bytes, refused, copied,
                waits, wants_room);
  expect_size("ReaderRecord", sizeof(ReaderRecord));
  EXPECT_FIELDS(ReaderRecord, publisher, position, received, lost, unused);
  for (const auto& [name, place] : page_.fields) {
    EXPECT_FALSE(name.rfind("EndpointHeader.", 0) == 0 || name.rfind("ReaderRecord.", 0) == 0)
        << name;
  }
}

TEST_F(PageTest, has_the_structures_of_frames) {
  expect_size("FrameHead", sizeof(FrameHead));
  expect_field("FrameHead.owner_high", offsetof(FrameHead, owner) + offsetof(NodeId, high), 8);
  expect_field("FrameHead.owner_low", offsetof(FrameHead, owner) + offsetof(NodeId, low), 8);
  EXPECT_FIELDS(FrameHead, arena_id, descriptor, format, item_format, planes, has_quantization,
                color_space, color_transfer, color_encoding, color_range, width, flip, rotation,
                height);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string plane = "FrameHead.plane" + std::to_string(i);
    const std::size_t begin = offsetof(FrameHead, plane) + i * sizeof(FrameHead::Plane);
    expect_field(plane + "_offset", begin + offsetof(FrameHead::Plane, offset), 8);
    expect_field(plane + "_stride", begin + offsetof(FrameHead::Plane, stride), 8);
  }
  EXPECT_FIELDS(FrameHead, plane_stride, scale, zero_point, form, modifier, name);
  expect_size("TensorDescriptor", sizeof(TensorDescriptor));
  EXPECT_FIELDS(TensorDescriptor, pool_id, slot_id, generation_low, generation_high, offset, size,
                dtype_code, ndim, device_type, flags, device_id, dims, strides);
  expect_size("BufferList", sizeof(BufferList));
  EXPECT_FIELDS(BufferList, magic, count, reserved, buffers);
  for (const auto& [name, place] : page_.fields) {
    for (const char* structure : {"FrameHead.", "TensorDescriptor.", "BufferList."})
      EXPECT_NE(name.rfind(structure, 0), 0U) << name;
  }
}

TEST_F(PageTest, has_the_bodies_of_packets) {
  expect_size("EndpointFacts", sizeof(EndpointFacts));
  EXPECT_FIELDS(EndpointFacts, id, role, reserved);
  expect_size("ArenaFacts", sizeof(ArenaFacts));
  EXPECT_FIELDS(ArenaFacts, slots, pool_id, index, reserved);
  expect_size("ArenaOffer", sizeof(ArenaOffer));
  EXPECT_FIELDS(ArenaOffer, arena_id, facts);
  expect_size("BorrowerToken", sizeof(BorrowerToken));
  EXPECT_FIELDS(BorrowerToken, number);
  expect_size("BufferFacts", sizeof(BufferFacts));
  EXPECT_FIELDS(BufferFacts, id, bytes);
  expect_size("PoolMember", sizeof(PoolMember));
  EXPECT_FIELDS(PoolMember, arena_id, index, slots);
}

TEST_F(PageTest, has_the_numbers) {
  expect_number("buffers.magic", BufferList::magic_value);
  expect_number("topic.join", TopicRequest::join);
  expect_number("topic.leave", TopicRequest::leave);
  expect_number("topic.offer", TopicRequest::offer);
  expect_number("topic.look", TopicRequest::look);
  expect_number("topic.buffer", TopicRequest::buffer);
  expect_number("arena.buffer", ArenaRequest::buffer);
  expect_number("pool.look", PoolRequest::look);
  expect_number("arena.facts", ArenaRequest::facts);
  expect_number("arena.borrow", ArenaRequest::borrow);
  expect_number("arena.leave", ArenaRequest::leave);
  expect_number("pool.join", PoolRequest::join);
  expect_number("pool.leave", PoolRequest::leave);
  expect_number("code.not_found", Errc::not_found);
  expect_number("code.malformed", Errc::malformed);
  expect_number("arena.magic", ArenaHeader::magic_value);
  expect_number("endpoint.magic", EndpointHeader::magic_value);
  expect_number("byte_order", ArenaHeader::byte_order_value);
  EXPECT_EQ(ArenaHeader::byte_order_value, EndpointHeader::byte_order_value);
  expect_number("closing_bit", closing_bit);
  EXPECT_EQ(ArenaHeader::version_value, 1U);
  EXPECT_EQ(EndpointHeader::version_value, 1U);
}

// Joins topic `arguments`. "tensor N", "image N": sends one whose bytes can be told; "used": tells
// how many slots are in use, all processes counted.
TEST(Peer, DISABLED_frame_publisher) {
  auto topic = value_of(Topic<Tensor>::create(Peer::arguments()));
  Peer::tell("joined");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    if (line == "used") {
      Peer::tell(std::to_string((*topic.pool())->stats().allocated_slots));
      continue;
    }
    const auto pool = *topic.pool();
    auto handle = line.rfind("image", 0) == 0 ? pool->alloc_image(64, 48, PixelFormat::nv12)
                                              : pool->alloc({3, 40, 50}, DType::u16);
    if (!handle) {
      Peer::tell("error " + handle.error().message());
      continue;
    }
    const int number = std::stoi(line.substr(line.find(' ')));
    handle->set_name("frame " + std::to_string(number));
    const auto bytes = *handle->data_slice_mut();
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = std::byte((i * 7 + static_cast<std::size_t>(number)) % 251);
    const auto sent = topic.send(*handle);
    Peer::tell(sent ? "sent" : "error " + sent.error().message());
  }
}

}  // namespace
}  // namespace halyard::ipc
