// SPDX-License-Identifier: Apache-2.0
// docs/shared-memory.md says what the code says: each field, each size, each number. And the
// publisher that attach_test.py attaches to.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <utility>

#include "halyard/topic.h"
#include "ipc/peer.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/borrowed_arena.h"
#include "ipc/pool/loans.h"
#include "ipc/pool/pool_part.h"
#include "ipc/topic/endpoint_memory.h"
#include "ipc/topic/frame_message.h"
#include "ipc/topic/topic_service.h"

namespace halyard::ipc {
namespace {

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
  void expect_number(const std::string& name, std::uint64_t value) {
    ASSERT_TRUE(page_.numbers.count(name)) << name;
    EXPECT_EQ(page_.numbers[name], value) << name;
    page_.numbers.erase(name);
  }
  Page page_ = read_page();
};

#define EXPECT_FIELD(structure, field) \
  expect_field(#structure "." #field, offsetof(structure, field), sizeof(structure::field))

TEST_F(PageTest, has_the_structures_of_arenas) {
  expect_size("ArenaHeader", sizeof(ArenaHeader));
  EXPECT_FIELD(ArenaHeader, magic);
  EXPECT_FIELD(ArenaHeader, version);
  EXPECT_FIELD(ArenaHeader, byte_order);
  EXPECT_FIELD(ArenaHeader, slots);
  EXPECT_FIELD(ArenaHeader, slot_alignment);
  EXPECT_FIELD(ArenaHeader, max_bytes);
  EXPECT_FIELD(ArenaHeader, arena_id);
  EXPECT_FIELD(ArenaHeader, pool_id);
  EXPECT_FIELD(ArenaHeader, index);
  EXPECT_FIELD(ArenaHeader, reserved);
  EXPECT_FIELD(ArenaHeader, slots_used);
  EXPECT_FIELD(ArenaHeader, bytes_used);
  EXPECT_FIELD(ArenaHeader, peak_bytes_used);
  EXPECT_FIELD(ArenaHeader, bytes_reserved);
  EXPECT_FIELD(ArenaHeader, failed_allocations);
  EXPECT_FIELD(ArenaHeader, wants_room);
  EXPECT_FIELD(ArenaHeader, unused);
  EXPECT_FIELD(ArenaHeader, borrowers);
  expect_size("SlotRecord", sizeof(SlotRecord));
  EXPECT_FIELD(SlotRecord, generation);
  EXPECT_FIELD(SlotRecord, offset);
  EXPECT_FIELD(SlotRecord, bytes);
  EXPECT_FIELD(SlotRecord, wants_notice);
  for (const auto& [name, place] : page_.fields)
    EXPECT_FALSE(name.rfind("ArenaHeader.", 0) == 0 || name.rfind("SlotRecord.", 0) == 0) << name;
}

TEST_F(PageTest, has_the_structures_of_endpoints) {
  expect_size("EndpointHeader", sizeof(EndpointHeader));
  EXPECT_FIELD(EndpointHeader, magic);
  EXPECT_FIELD(EndpointHeader, version);
  EXPECT_FIELD(EndpointHeader, byte_order);
  EXPECT_FIELD(EndpointHeader, id);
  EXPECT_FIELD(EndpointHeader, layout_hash);
  EXPECT_FIELD(EndpointHeader, role);
  EXPECT_FIELD(EndpointHeader, message_words);
  EXPECT_FIELD(EndpointHeader, entry_words);
  EXPECT_FIELD(EndpointHeader, entries);
  EXPECT_FIELD(EndpointHeader, depth);
  EXPECT_FIELD(EndpointHeader, readers);
  EXPECT_FIELD(EndpointHeader, reserved);
  EXPECT_FIELD(EndpointHeader, head);
  EXPECT_FIELD(EndpointHeader, sent_bytes);
  EXPECT_FIELD(EndpointHeader, refused);
  EXPECT_FIELD(EndpointHeader, copied);
  EXPECT_FIELD(EndpointHeader, waits);
  EXPECT_FIELD(EndpointHeader, wants_room);
  expect_size("ReaderRecord", sizeof(ReaderRecord));
  EXPECT_FIELD(ReaderRecord, publisher);
  EXPECT_FIELD(ReaderRecord, position);
  EXPECT_FIELD(ReaderRecord, received);
  EXPECT_FIELD(ReaderRecord, lost);
  EXPECT_FIELD(ReaderRecord, unused);
  for (const auto& [name, place] : page_.fields) {
    EXPECT_FALSE(name.rfind("EndpointHeader.", 0) == 0 || name.rfind("ReaderRecord.", 0) == 0)
        << name;
  }
}

TEST_F(PageTest, has_the_structures_of_frames) {
  expect_size("FrameHead", sizeof(FrameHead));
  expect_field("FrameHead.owner_high", offsetof(FrameHead, owner) + offsetof(NodeId, high), 8);
  expect_field("FrameHead.owner_low", offsetof(FrameHead, owner) + offsetof(NodeId, low), 8);
  EXPECT_FIELD(FrameHead, arena_id);
  EXPECT_FIELD(FrameHead, descriptor);
  EXPECT_FIELD(FrameHead, format);
  EXPECT_FIELD(FrameHead, item_format);
  EXPECT_FIELD(FrameHead, planes);
  EXPECT_FIELD(FrameHead, has_quantization);
  EXPECT_FIELD(FrameHead, color_space);
  EXPECT_FIELD(FrameHead, color_transfer);
  EXPECT_FIELD(FrameHead, color_encoding);
  EXPECT_FIELD(FrameHead, color_range);
  EXPECT_FIELD(FrameHead, width);
  EXPECT_FIELD(FrameHead, flip);
  EXPECT_FIELD(FrameHead, rotation);
  EXPECT_FIELD(FrameHead, height);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string plane = "FrameHead.plane" + std::to_string(i);
    const std::size_t begin = offsetof(FrameHead, plane) + i * sizeof(FrameHead::Plane);
    expect_field(plane + "_offset", begin + offsetof(FrameHead::Plane, offset), 8);
    expect_field(plane + "_stride", begin + offsetof(FrameHead::Plane, stride), 8);
  }
  EXPECT_FIELD(FrameHead, plane_stride);
  EXPECT_FIELD(FrameHead, scale);
  EXPECT_FIELD(FrameHead, zero_point);
  EXPECT_FIELD(FrameHead, form);
  EXPECT_FIELD(FrameHead, modifier);
  EXPECT_FIELD(FrameHead, name);
  expect_size("TensorDescriptor", sizeof(TensorDescriptor));
  EXPECT_FIELD(TensorDescriptor, pool_id);
  EXPECT_FIELD(TensorDescriptor, slot_id);
  EXPECT_FIELD(TensorDescriptor, generation_low);
  EXPECT_FIELD(TensorDescriptor, generation_high);
  EXPECT_FIELD(TensorDescriptor, offset);
  EXPECT_FIELD(TensorDescriptor, size);
  EXPECT_FIELD(TensorDescriptor, dtype_code);
  EXPECT_FIELD(TensorDescriptor, ndim);
  EXPECT_FIELD(TensorDescriptor, device_type);
  EXPECT_FIELD(TensorDescriptor, flags);
  EXPECT_FIELD(TensorDescriptor, device_id);
  EXPECT_FIELD(TensorDescriptor, dims);
  EXPECT_FIELD(TensorDescriptor, strides);
  expect_size("BufferList", sizeof(BufferList));
  EXPECT_FIELD(BufferList, magic);
  EXPECT_FIELD(BufferList, count);
  EXPECT_FIELD(BufferList, reserved);
  EXPECT_FIELD(BufferList, buffers);
  for (const auto& [name, place] : page_.fields) {
    for (const char* structure : {"FrameHead.", "TensorDescriptor.", "BufferList."})
      EXPECT_NE(name.rfind(structure, 0), 0U) << name;
  }
}

TEST_F(PageTest, has_the_bodies_of_packets) {
  expect_size("EndpointFacts", sizeof(EndpointFacts));
  EXPECT_FIELD(EndpointFacts, id);
  EXPECT_FIELD(EndpointFacts, role);
  EXPECT_FIELD(EndpointFacts, reserved);
  expect_size("ArenaFacts", sizeof(ArenaFacts));
  EXPECT_FIELD(ArenaFacts, slots);
  EXPECT_FIELD(ArenaFacts, pool_id);
  EXPECT_FIELD(ArenaFacts, index);
  EXPECT_FIELD(ArenaFacts, reserved);
  expect_size("ArenaOffer", sizeof(ArenaOffer));
  EXPECT_FIELD(ArenaOffer, arena_id);
  EXPECT_FIELD(ArenaOffer, facts);
  expect_size("BorrowerToken", sizeof(BorrowerToken));
  EXPECT_FIELD(BorrowerToken, number);
  expect_size("BufferFacts", sizeof(BufferFacts));
  EXPECT_FIELD(BufferFacts, id);
  EXPECT_FIELD(BufferFacts, bytes);
  expect_size("PoolMember", sizeof(PoolMember));
  EXPECT_FIELD(PoolMember, arena_id);
  EXPECT_FIELD(PoolMember, index);
  EXPECT_FIELD(PoolMember, slots);
}

TEST_F(PageTest, has_the_numbers) {
  expect_number("topic.join", static_cast<std::uint64_t>(TopicRequest::join));
  expect_number("topic.leave", static_cast<std::uint64_t>(TopicRequest::leave));
  expect_number("topic.offer", static_cast<std::uint64_t>(TopicRequest::offer));
  expect_number("topic.look", static_cast<std::uint64_t>(TopicRequest::look));
  expect_number("topic.buffer", static_cast<std::uint64_t>(TopicRequest::buffer));
  expect_number("arena.buffer", static_cast<std::uint64_t>(ArenaRequest::buffer));
  expect_number("pool.look", static_cast<std::uint64_t>(PoolRequest::look));
  expect_number("buffers.magic", BufferList::magic_value);
  expect_number("arena.facts", static_cast<std::uint64_t>(ArenaRequest::facts));
  expect_number("arena.borrow", static_cast<std::uint64_t>(ArenaRequest::borrow));
  expect_number("arena.leave", static_cast<std::uint64_t>(ArenaRequest::leave));
  expect_number("pool.join", static_cast<std::uint64_t>(PoolRequest::join));
  expect_number("pool.leave", static_cast<std::uint64_t>(PoolRequest::leave));
  expect_number("code.not_found", static_cast<std::uint64_t>(Errc::not_found));
  expect_number("code.malformed", static_cast<std::uint64_t>(Errc::malformed));
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
  auto topic = Topic<Tensor>::create(Peer::arguments());
  ASSERT_TRUE(topic) << topic.error().message();
  Peer::tell("joined");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    if (line == "used") {
      Peer::tell(std::to_string((*topic->pool())->stats().allocated_slots));
      continue;
    }
    const auto pool = *topic->pool();
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
    const auto sent = topic->send(*handle);
    Peer::tell(sent ? "sent" : "error " + sent.error().message());
  }
}

}  // namespace
}  // namespace halyard::ipc
