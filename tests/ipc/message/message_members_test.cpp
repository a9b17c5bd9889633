// SPDX-License-Identifier: Apache-2.0
// What the compiler sees of plain structs.
#include "halyard/message_members.h"

#include <gtest/gtest.h>

#include <chrono>

#include "halyard/image_message.h"

namespace halyard {
namespace {

using detail::member_count;

struct Floats {
  float x, y;
  std::int32_t id;
};
struct OtherNames {
  float u, v;
  std::int32_t number;
};
struct OtherOrder {
  std::int32_t id;
  float x, y;
};
struct Unsigned {
  float x, y;
  std::uint32_t id;
};

TEST(MessageMembers, differ_by_types_and_order) {
  EXPECT_EQ(members_hash<Floats>(), members_hash<OtherNames>());
  EXPECT_NE(members_hash<Floats>(), members_hash<OtherOrder>());
  EXPECT_NE(members_hash<Floats>(), members_hash<Unsigned>());
  EXPECT_NE(members_hash<Floats>(), 0U);
}

struct Arrays {
  char name[32];
  double covariance[6][6];
  std::uint8_t count;
  std::array<float, 3> position;
};
struct FlatArray {
  char name[32];
  double covariance[36];
  std::uint8_t count;
  std::array<float, 3> position;
};
struct PlainArray {
  char name[32];
  double covariance[6][6];
  std::uint8_t count;
  float position[3];
};
struct Nested {
  Floats one;
  OtherOrder four[4];
  enum class Kind : std::uint16_t { none } kind;
  bool is_valid;
  std::chrono::nanoseconds stamp;
  std::byte raw[3];
};
struct OtherNested {
  OtherOrder one;
  OtherOrder four[4];
  std::uint16_t kind;
  bool is_valid;
  std::chrono::nanoseconds stamp;
  std::byte raw[3];
};
struct Bits {
  unsigned low : 3;
  unsigned high : 5;
  int rest;
};
struct Defaults {
  int x = 3;
  float y = 2;
};

TEST(MessageMembers, are_counted_with_arrays_and_structs_among_them) {
  EXPECT_EQ(member_count<Floats>(), 3U);
  EXPECT_EQ(member_count<Arrays>(), 4U);
  EXPECT_EQ(member_count<Nested>(), 6U);
  EXPECT_EQ(member_count<Bits>(), 3U);
  EXPECT_EQ(member_count<Defaults>(), 2U);
  EXPECT_NE(members_hash<Arrays>(), members_hash<FlatArray>());
  EXPECT_EQ(members_hash<Arrays>(), members_hash<PlainArray>()) << "the same bytes";
  EXPECT_NE(members_hash<Nested>(), members_hash<OtherNested>());
}

struct Base {
  int a;
};
struct Derived : Base {
  int b;
};
struct WithConstructor {
  explicit WithConstructor(int value) : a(value) {}
  int a;
};
class Hidden {
 public:
  int get() const { return a_; }

 private:
  int a_ = 0;
};
struct Nothing {};
struct Long {
  char data[5000];
};
struct Many {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y;
};
union Either {
  int a;
  float b;
};

TEST(MessageMembers, are_unknown_where_the_compiler_cannot_tell) {
  EXPECT_EQ(members_hash<int>(), 0U);
  EXPECT_EQ(members_hash<Derived>(), 0U);
  EXPECT_EQ(members_hash<WithConstructor>(), 0U);
  EXPECT_EQ(members_hash<Hidden>(), 0U);
  EXPECT_EQ(members_hash<Nothing>(), 0U);
  EXPECT_EQ(members_hash<Long>(), 0U);
  EXPECT_EQ(members_hash<Many>(), 0U);
  EXPECT_EQ(members_hash<Either>(), 0U);
}

struct WithAnonymousUnion {
  static constexpr std::uint64_t message_members = 7;
  int kind;
  union {
    float number;
    int count;
  };
};
struct AroundIt {
  WithAnonymousUnion one;
  int more;
};

TEST(MessageMembers, are_what_the_struct_says_where_it_says_so) {
  EXPECT_EQ(members_hash<WithAnonymousUnion>(), 7U);
  EXPECT_NE(members_hash<AroundIt>(), 0U);
}

TEST(MessageMembers, of_the_messages_of_sensors_are_known) {
  EXPECT_NE(members_hash<MessageFrame<Image>::Metadata>(), 0U);
}

}  // namespace
}  // namespace halyard
