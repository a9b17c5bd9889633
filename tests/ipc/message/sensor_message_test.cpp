// SPDX-License-Identifier: Apache-2.0
// Headers of messages, and tensors as bytes.
#include "halyard/sensor_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "ipc/helpers.h"
#include "scene.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

static_assert(std::is_trivially_copyable_v<SensorHeader>);
static_assert(std::has_unique_object_representations_v<SensorHeader>);

TEST(SensorHeader, keeps_frame_ids_of_31_bytes) {
  SensorHeader header;
  EXPECT_EQ(frame_id_of(header), "");
  for (const std::string& id : {std::string("camera"), std::string(31, 'a'), std::string(""),
                                std::string("h\xc3\xa4user"), std::string("\xf0\x9f\x98\x80")}) {
    ASSERT_TRUE(set_frame_id(header, id));
    EXPECT_EQ(frame_id_of(header), id);
    EXPECT_TRUE(validate(header));
  }
  // A shorter one leaves nothing of a longer one.
  ASSERT_TRUE(set_frame_id(header, std::string(31, 'b')));
  ASSERT_TRUE(set_frame_id(header, "c"));
  EXPECT_TRUE(
      std::all_of(header.frame_id + 1, header.frame_id + 32, [](char c) { return c == 0; }));
}

TEST(SensorHeader, refuses_what_is_long_or_no_text) {
  SensorHeader header;
  ASSERT_TRUE(set_frame_id(header, "before"));
  const std::string bad[] = {std::string(32, 'a'),
                             std::string(4000, 'a'),
                             std::string(30, 'a') + "\xc3\xa4",  // 32 bytes, cut inside a character
                             "\xc3",
                             "\xff",
                             "\xc0\x80",
                             "\xed\xa0\x80",
                             "\xf4\x90\x80\x80",
                             "a\x80",
                             std::string("a\0b", 3)};
  for (const std::string& id : bad) {
    EXPECT_FAILS(set_frame_id(header, id), Errc::invalid_argument, "frame_id");
    EXPECT_EQ(frame_id_of(header), "before");
  }
}

TEST(SensorHeader, checks_what_comes_from_outside) {
  SensorHeader header;
  std::fill(std::begin(header.frame_id), std::end(header.frame_id), 'x');  // no zero at the end
  EXPECT_FAILS(validate(header), Errc::malformed);
  EXPECT_EQ(frame_id_of(header).size(), 31U);
  header = {};
  header.frame_id[5] = 'x';  // behind the first zero
  EXPECT_FAILS(validate(header), Errc::malformed);
  header = {};
  header.frame_id[0] = '\xc3';
  EXPECT_FAILS(validate(header), Errc::malformed);
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::generate(std::begin(header.frame_id), std::end(header.frame_id),
                  [&] { return static_cast<char>(random() % 4 == 0 ? 0 : random()); });
    EXPECT_LE(frame_id_of(header).size(), 31U);
    (void)validate(header);
  }
}

TEST(SensorBytes, are_those_of_a_tensor_in_rows) {
  const std::size_t shape[] = {3, 4, 2};
  Tensor tensor = *Tensor::create(DType::u16, shape, Memory::mem);
  EXPECT_EQ(packed_bytes(tensor), 48U);
  const auto bytes = counted(48);
  ASSERT_TRUE(copy_packed(bytes, tensor));
  const auto seen = value_of(bytes_of(tensor));
  ASSERT_EQ(seen.size(), 48U);
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), bytes.begin()));
  const auto written = value_of(writable_bytes_of(tensor));
  written[47] = std::byte{99};
  EXPECT_EQ((*bytes_of(tensor))[47], std::byte{99});
  // The address stays while a tensor is there.
  const Tensor copy = tensor;
  tensor = {};
  EXPECT_EQ(seen[47], std::byte{99});
}

TEST(SensorBytes, have_gaps_where_the_tensor_has) {
  const auto memory = *allocate(1000, Memory::shm);
  const Layout layout{.dtype = DType::u8, .rank = 2, .shape = {3, 5}, .stride_bytes = {16, 1}};
  Tensor tensor = *Tensor::wrap(memory, layout, 100);
  EXPECT_EQ(packed_bytes(tensor), 15U);
  EXPECT_EQ(bytes_of(tensor)->size(), 37U);
  const auto bytes = counted(15);
  ASSERT_TRUE(copy_packed(bytes, tensor));
  const auto all = memory->map(Access::read);
  for (std::size_t i = 0; i < 1000; ++i) {
    const bool inside = i >= 100 && (i - 100) / 16 < 3 && (i - 100) % 16 < 5;
    EXPECT_EQ(all->bytes()[i], inside ? bytes[(i - 100) / 16 * 5 + (i - 100) % 16] : std::byte{0});
  }
  std::vector<std::byte> back(15);
  ASSERT_TRUE(copy_packed(tensor, std::span(back)));
  EXPECT_EQ(back, bytes);
}

TEST(SensorBytes, are_refused_with_the_reason) {
  Tensor empty;
  EXPECT_FAILS(bytes_of(empty), Errc::invalid_argument);
  EXPECT_FAILS(copy_packed({}, empty), Errc::invalid_argument);
  Tensor tensor = *Tensor::create(DType::u8, {4, 4}, Memory::mem);
  for (const std::size_t bytes : {0U, 15U, 17U}) {
    const Status status = copy_packed(counted(bytes), tensor);
    EXPECT_FAILS(status, Errc::invalid_argument, "16");
    EXPECT_FAILS(status, std::to_string(bytes));
    auto out = counted(bytes);
    EXPECT_FAILS(copy_packed(tensor, std::span(out)), Errc::invalid_argument);
  }
  const AxisRange mirrored[] = {{3, 4, -1, true}};
  EXPECT_FAILS(bytes_of(*tensor.part(mirrored)), Errc::unsupported);
  static constexpr std::array<std::byte, 16> constant{};
  const auto memory = *wrap_memory(static_cast<const void*>(constant.data()), 16, {});
  const std::size_t shape[] = {16};
  Tensor fixed = *Tensor::wrap(memory, *Layout::contiguous(DType::u8, shape));
  EXPECT_TRUE(bytes_of(fixed));
  EXPECT_FAILS(writable_bytes_of(fixed), Errc::permission);
  EXPECT_FAILS(copy_packed(counted(16), fixed), Errc::permission);
}

// Memory that the CPU sees only between the ends of a map.
class DeviceBuffer final : public Buffer {
 public:
  explicit DeviceBuffer(std::vector<std::byte>& bytes)
      : Buffer(bytes.size(), Memory::dma), bytes_(bytes) {}
  ~DeviceBuffer() override { release_attachments(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override { return std::span(bytes_); }
  void end_access(Access) noexcept override {}
  std::vector<std::byte>& bytes_;
};

TEST(SensorBytes, of_device_memory_are_copied_but_not_shown) {
  auto memory = counted(64);
  const std::size_t shape[] = {64};
  Tensor tensor =
      *Tensor::wrap(std::make_shared<DeviceBuffer>(memory), *Layout::contiguous(DType::u8, shape));
  EXPECT_FAILS(bytes_of(tensor), Errc::unsupported);
  EXPECT_FAILS(writable_bytes_of(tensor), Errc::unsupported);
  std::vector<std::byte> out(64);
  ASSERT_TRUE(copy_packed(tensor, std::span(out)));
  EXPECT_EQ(out, memory);
}

TEST(SensorBytes, of_no_elements_are_none) {
  const auto memory = *allocate(16, Memory::mem);
  const std::size_t shape[] = {0, 4};
  Tensor tensor = *Tensor::wrap(memory, *Layout::contiguous(DType::f32, shape));
  EXPECT_EQ(packed_bytes(tensor), 0U);
  EXPECT_EQ(bytes_of(tensor)->size(), 0U);
  EXPECT_TRUE(copy_packed({}, tensor));
  EXPECT_TRUE(copy_packed(tensor, std::span<std::byte>()));
}

TEST(SensorBytes, of_images_are_at_the_tight_stride) {
  Tensor image = *Tensor::create_image(5, 3, PixelFormat::nv12, DType::u8, Memory::mem);
  ASSERT_EQ(image.row_stride_bytes(), 64U);
  EXPECT_EQ(packed_bytes(image), 30U);  // 3 + 2 rows of 6
  const auto bytes = counted(30);
  ASSERT_TRUE(copy_packed(bytes, image));
  const TensorMap map = *image.map(Access::read);
  EXPECT_EQ(std::memcmp(map.plane(0).data + 64, bytes.data() + 6, 5), 0);
  EXPECT_EQ(std::memcmp(map.plane(1).data + 64, bytes.data() + 24, 6), 0);
  std::vector<std::byte> back(30);
  ASSERT_TRUE(copy_packed(image, std::span(back)));
  EXPECT_EQ(back[29], bytes[29]);
  EXPECT_EQ(bytes_of(image)->size(), 4 * 64 + 6U);
}

}  // namespace
}  // namespace halyard
