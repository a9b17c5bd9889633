// SPDX-License-Identifier: Apache-2.0
// The wire form of tensors: what goes there and back, and what no message may say.
#include "tensor/exchange/tensor_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "halyard/transfer.h"
#include "sent_tensors.h"
#include "support/result.h"
#include "tensor/memory/touch.h"
#include "tensor/tensor_parts.h"
#include "test_paths.h"

namespace halyard {
namespace {

using F = PixelFormat;
using Bytes = std::vector<std::byte>;

// A message that has something in every field.
TensorParts full_parts() {
  const Tensor::PlaneSource planes[] = {{shared_buffer(4096), 64, 64, 0},
                                        {shared_buffer(4096), 0, 32, 0}};
  Tensor tensor = *Tensor::wrap_image(planes, 17, 9, F::nv12);
  tensor.set_name("camera");
  tensor.set_colorimetry(Colorimetry::jpeg());
  EXPECT_TRUE(tensor.set_quantization(Quantization{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
                                                   {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
                                                   0}));
  return *take_apart(tensor);
}

Bytes full_message() {
  return *encode_tensor_message(full_parts().message);
}

void set_size(Bytes& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(bytes.data() + 8, &size, sizeof(size));
}

TEST(TensorMessage, brings_back_all_that_a_tensor_is) {
  for (const auto& [what, tensor] : sent_tensors()) {
    SCOPED_TRACE(what);
    ASSERT_VALUE(const auto parts, take_apart(tensor));
    ASSERT_VALUE(const auto bytes, encode_tensor_message(parts.message));
    ASSERT_VALUE(const auto message, decode_tensor_message(bytes, parts.buffers.size()));
    ASSERT_VALUE(const auto back, put_together(message, parts.buffers));
    expect_same(tensor, back);
    EXPECT_TRUE(stays_inside(back));
  }
}

TEST(TensorMessage, names_each_buffer_once) {
  const auto image = *Tensor::create_image(16, 16, F::i420, DType::u8, Memory::shm);
  EXPECT_EQ(take_apart(image)->buffers.size(), 1U);
  EXPECT_EQ(take_apart(image)->message.plane_count, 3U);
  EXPECT_EQ(full_parts().buffers.size(), 2U);
}

TEST(TensorMessage, memory_without_a_descriptor_cannot_be_sent_and_is_named) {
  const auto parts = take_apart(*Tensor::create(DType::u8, {4}, Memory::mem));
  EXPECT_FAILS(parts, Errc::unsupported, "of mem");
  EXPECT_FAILS(parts, "Memory::shm");
  EXPECT_FAILS(take_apart(Tensor()), Errc::invalid_argument);
}

TEST(TensorMessage, a_name_above_the_limit_is_refused_by_the_sender) {
  Tensor tensor = *Tensor::create(DType::u8, {4}, Memory::shm);
  tensor.set_name(std::string(tensor_message_limit, 'n'));
  EXPECT_FAILS(encode_tensor_message(take_apart(tensor)->message), Errc::invalid_argument);
  tensor.set_name(std::string(tensor_message_limit - 200, 'n'));
  EXPECT_TRUE(encode_tensor_message(take_apart(tensor)->message));
}

TEST(TensorMessage, the_sender_refuses_what_no_receiver_would_take) {
  // The second row begins inside an element: legal to wrap, of no use to anybody.
  const auto rows = *Tensor::wrap(shared_buffer(4096), layout_of(DType::u16, {2, 4}, {9, 2}));
  EXPECT_TRUE(take_apart(rows));
  EXPECT_FAILS(take_apart(*rows.batch(1)), Errc::invalid_argument);
}

TEST(TensorMessage, the_header_is_checked_before_anything_else) {
  const Bytes good = full_message();
  ASSERT_TRUE(decode_message_header(good));
  EXPECT_EQ(decode_message_header(good)->size_bytes, good.size());
  EXPECT_EQ(decode_message_header(good)->descriptors, 2U);
  struct Case {
    std::size_t at;
    std::uint32_t value;
    std::size_t size;
    Errc code;
    const char* field;
  };
  const Case cases[] = {{0, 0x4D54594A, 4, Errc::malformed, "magic"},
                        {4, 0x0201, 2, Errc::malformed, "byte_order"},
                        {6, 2, 2, Errc::version, "version"},
                        {8, 15, 4, Errc::malformed, "size"},
                        {8, 65537, 4, Errc::malformed, "size"},
                        {8, 0xFFFFFFFF, 4, Errc::malformed, "size"},
                        {12, 0, 4, Errc::malformed, "descriptors"},
                        {12, 4, 4, Errc::malformed, "descriptors"},
                        {12, 0xFFFFFFFF, 4, Errc::malformed, "descriptors"}};
  for (const Case& c : cases) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + c.at, &c.value, c.size);
    EXPECT_FAILS(decode_message_header(bytes), c.code, c.field) << c.field;
  }
}

struct BadField {
  const char* field;
  Errc code;
  std::function<void(TensorMessage&)> spoil;
};

const std::vector<BadField>& bad_fields() {
  using M = TensorMessage;
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  static const std::vector<BadField> fields = {
      {"dtype", Errc::malformed, [](M& m) { m.layout.dtype = static_cast<DType>(13); }},
      {"rank", Errc::malformed, [](M& m) { m.layout.rank = 0; }},
      {"rank", Errc::malformed, [](M& m) { m.layout.rank = 9; }},
      {"shape", Errc::malformed, [](M& m) { m.layout.shape[0] = huge; }},
      {"shape", Errc::malformed,
       [](M& m) { m.layout.shape[0] = m.layout.shape[1] = std::size_t{1} << 32; }},
      {"format", Errc::malformed, [](M& m) { m.format = static_cast<PixelFormat>(20); }},
      {"item_format", Errc::malformed, [](M& m) { m.item_format = static_cast<PixelFormat>(254); }},
      {"item_format", Errc::corrupt, [](M& m) { m.item_format = F::rgb; }},
      {"format", Errc::corrupt, [](M& m) { m.format.reset(); }},
      {"orientation.flip", Errc::malformed,
       [](M& m) { m.orientation.flip = static_cast<Flip>(3); }},
      {"orientation.rotation", Errc::malformed,
       [](M& m) { m.orientation.rotation = static_cast<Rotation>(4); }},
      {"space", Errc::malformed, [](M& m) { m.colorimetry.space = static_cast<ColorSpace>(5); }},
      {"transfer", Errc::malformed,
       [](M& m) { m.colorimetry.transfer = static_cast<ColorTransfer>(6); }},
      {"encoding", Errc::malformed,
       [](M& m) { m.colorimetry.encoding = static_cast<ColorEncoding>(4); }},
      {"range", Errc::malformed, [](M& m) { m.colorimetry.range = static_cast<ColorRange>(3); }},
      {"planes.count", Errc::malformed, [](M& m) { m.plane_count = 0; }},
      {"planes.count", Errc::corrupt, [](M& m) { m.plane_count = 1; }},
      {"planes.count", Errc::corrupt,
       [](M& m) {
         m.plane_count = 3;
         m.planes[2] = m.planes[1];
       }},
      {"plane.descriptor", Errc::corrupt, [](M& m) { m.planes[1].descriptor = 2; }},
      {"plane.descriptor", Errc::corrupt, [](M& m) { m.planes[0].descriptor = 255; }},
      {"plane.offset", Errc::corrupt, [](M& m) { m.planes[0].offset_bytes = 4097; }},
      {"plane.offset", Errc::corrupt, [](M& m) { m.planes[1].offset_bytes = huge; }},
      {"plane.offset", Errc::malformed,
       [](M& m) {
         m.layout.dtype = DType::f32;
         m.planes[1].offset_bytes = 2;
       }},
      {"plane.stride", Errc::corrupt, [](M& m) { m.planes[0].stride_bytes = 0; }},
      {"descriptor.size", Errc::malformed, [](M& m) { m.descriptors[0].size_bytes = 0; }},
      {"descriptor.size", Errc::malformed, [](M& m) { m.descriptors[1].size_bytes = huge; }},
      {"descriptor.cpu_access", Errc::malformed,
       [](M& m) { m.descriptors[0].cpu_access = static_cast<CpuAccess>(4); }},
      {"descriptors", Errc::corrupt, [](M& m) { m.planes[1].descriptor = m.planes[0].descriptor; }},
      {"quantization.scale", Errc::malformed, [](M& m) { m.quantization->scale[1] = -1; }},
      {"quantization.scale", Errc::malformed,
       [](M& m) { m.quantization->scale[0] = std::numeric_limits<float>::quiet_NaN(); }},
      {"quantization.zero_point", Errc::malformed,
       [](M& m) { m.quantization->zero_point[3] = 256; }},
      {"quantization.zero_point", Errc::malformed,
       [](M& m) { m.quantization->zero_point.pop_back(); }},
      {"quantization.axis", Errc::malformed, [](M& m) { m.quantization->axis = 2; }},
      {"quantization.axis", Errc::malformed, [](M& m) { m.quantization->axis.reset(); }},
      {"quantization", Errc::malformed, [](M& m) { m.quantization->axis = huge - 6; }},
      {"quantization", Errc::malformed, [](M& m) { m.quantization->scale.clear(); }},
      {"quantization", Errc::malformed, [](M& m) { m.layout.dtype = DType::f32; }},
  };
  return fields;
}

TEST(TensorMessage, names_the_field_that_is_wrong) {
  const TensorParts good = full_parts();
  ASSERT_TRUE(decode_tensor_message(*encode_tensor_message(good.message), 2));
  for (const BadField& bad : bad_fields()) {
    TensorMessage message = good.message;
    bad.spoil(message);
    EXPECT_FAILS(decode_tensor_message(*encode_tensor_message(message), 2), bad.code, bad.field)
        << bad.field;
  }
}

TEST(TensorMessage, an_image_must_fit_the_memory_that_came_with_it) {
  using M = TensorMessage;
  const std::vector<BadField> misfits = {
      {"memory", Errc::corrupt, [](M& m) { m.width = 65536; }},
      {"memory", Errc::corrupt, [](M& m) { m.height = 0; }},
      {"memory", Errc::corrupt, [](M& m) { m.height = 64; }},
      {"memory", Errc::corrupt, [](M& m) { m.planes[0].stride_bytes = 16; }},
      {"memory", Errc::corrupt, [](M& m) { m.planes[0].stride_bytes = std::size_t{1} << 61; }},
      {"memory", Errc::corrupt, [](M& m) { m.planes[1].stride_bytes = std::size_t{1} << 62; }},
      {"memory", Errc::corrupt, [](M& m) { m.planes[1].offset_bytes = 4095; }},
      {"layout", Errc::corrupt,
       [](M& m) {
         m.layout.shape[0] = 13;
         m.quantization.reset();
       }},
      {"layout", Errc::corrupt, [](M& m) { m.layout.stride_bytes[0] = 65; }},
      {"layout", Errc::corrupt, [](M& m) { m.width = 16; }},
  };
  const TensorParts good = full_parts();
  for (const BadField& misfit : misfits) {
    TensorMessage message = good.message;
    misfit.spoil(message);
    ASSERT_VALUE(const auto decoded, decode_tensor_message(*encode_tensor_message(message), 2));
    EXPECT_FAILS(put_together(decoded, good.buffers), misfit.code, misfit.field);
  }
}

TEST(TensorMessage, a_layout_must_stay_in_the_memory_that_came_with_it) {
  const auto tensor = *Tensor::create(DType::u16, {4, 8}, Memory::shm);
  const TensorParts good = *take_apart(tensor);
  const auto refused = [&](const std::function<void(Layout&)>& spoil) {
    TensorMessage message = good.message;
    spoil(message.layout);
    const auto decoded = decode_tensor_message(*encode_tensor_message(message), 1);
    return code_of(decoded) == Errc::ok &&
           code_of(put_together(*decoded, good.buffers)) == Errc::corrupt;
  };
  const auto size = static_cast<std::ptrdiff_t>(tensor.buffer()->size_bytes());
  EXPECT_TRUE(refused([&](Layout& l) { l.stride_bytes[0] = size; }));
  EXPECT_TRUE(refused([](Layout& l) { l.stride_bytes[0] = -16; }));
  EXPECT_TRUE(refused([](Layout& l) { l.stride_bytes[1] = PTRDIFF_MAX; }));
  EXPECT_TRUE(refused([](Layout& l) { l.stride_bytes[1] = PTRDIFF_MIN; }));
  EXPECT_TRUE(refused([](Layout& l) { l.shape[0] = std::size_t{1} << 50; }));
}

TEST(TensorMessage, planes_that_share_bytes_are_refused) {
  const auto buffer = shared_buffer(4096);
  const Tensor::PlaneSource planes[] = {{buffer, 0, 64, 0}, {buffer, 1024, 64, 0}};
  const Tensor image = *Tensor::wrap_image(planes, 17, 9, F::nv12);
  TensorParts parts = *take_apart(image);
  ASSERT_TRUE(put_together(parts.message, parts.buffers));
  parts.message.planes[1].offset_bytes = 8 * 64;
  ASSERT_FAILS(put_together(parts.message, parts.buffers), Errc::corrupt);
}

TEST(TensorMessage, a_batch_must_be_of_images_that_it_can_hold) {
  const auto batch = *Tensor::create_image_batch(2, 8, 8, F::rgb, {.memory = Memory::shm});
  TensorParts parts = *take_apart(batch);
  parts.message.item_format = F::rgba;
  EXPECT_FAILS(put_together(parts.message, parts.buffers), Errc::corrupt);
}

TEST(TensorMessage, cut_at_any_byte_is_an_error) {
  const Bytes whole = full_message();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_FAILS(decode_tensor_message(cut, 2), Errc::corrupt) << size;
    if (size < message_header_bytes) continue;
    set_size(cut);  // also when the header agrees
    ASSERT_FAILS(decode_tensor_message(cut, 2), Errc::corrupt) << size;
  }
}

TEST(TensorMessage, bytes_behind_its_end_are_an_error) {
  Bytes bytes = full_message();
  bytes.push_back(std::byte{0});
  EXPECT_FAILS(decode_tensor_message(bytes, 2), Errc::corrupt);
  set_size(bytes);
  EXPECT_FAILS(decode_tensor_message(bytes, 2), Errc::corrupt);
}

TEST(TensorMessage, counts_above_what_there_is_allocate_nothing) {
  // The last fields of a message without scales and name are their counts.
  Bytes bytes =
      *encode_tensor_message(take_apart(*Tensor::create(DType::u8, {4}, Memory::shm))->message);
  for (const std::size_t from_end : {4U, 12U, 16U}) {
    Bytes bad = bytes;
    std::memset(bad.data() + bad.size() - from_end, 0xFF, 4);
    EXPECT_NE(code_of(decode_tensor_message(bad, 1)), Errc::ok) << from_end;
  }
}

TEST(TensorMessage, must_come_with_as_many_descriptors_as_it_says) {
  const Bytes bytes = full_message();
  EXPECT_TRUE(decode_tensor_message(bytes, 2));
  for (const std::size_t count : {0U, 1U, 3U, 18U})
    EXPECT_FAILS(decode_tensor_message(bytes, count), Errc::corrupt) << count;
}

TEST(TensorMessage, any_bit_flipped_gives_an_error_or_a_tensor_inside_its_memory) {
  const auto before = held();
  std::size_t survivors = 0;
  for (const auto& [what, tensor] : sent_tensors()) {
    const TensorParts parts = *take_apart(tensor);
    const Bytes good = *encode_tensor_message(parts.message);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      Bytes bytes = good;
      bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      const auto message = decode_tensor_message(bytes, parts.buffers.size());
      if (!message) {
        ASSERT_FALSE(message.error().message().empty());
        continue;
      }
      const auto flipped = put_together(*message, parts.buffers);
      if (!flipped) continue;
      ASSERT_TRUE(stays_inside(*flipped)) << what << ", bit " << bit;
      ++survivors;
    }
  }
  EXPECT_GT(survivors, 0U);  // names, colours, strides
  EXPECT_EQ(held(), before);
}

// The corpus of the fuzz target is what tensors were written as when this version was settled, so
// it also tells when the wire form changes without a new version.
TEST(TensorMessage, is_written_as_the_fuzz_corpus_has_it) {
  const std::filesystem::path corpus =
      std::filesystem::path(HALYARD_SOURCE_DIR) / "fuzz/corpus/tensor_message";
  const auto fresh = std::filesystem::path(HALYARD_BINARY_DIR) / "corpus/tensor_message";
  std::size_t compared = 0;
  for (auto& [what, tensor] : sent_tensors()) {
    std::ranges::replace(what, ' ', '_');
    if (!std::filesystem::exists(corpus / what)) continue;
    const Bytes now = *encode_tensor_message(take_apart(tensor)->message);
    std::ifstream file(corpus / what, std::ios::binary);
    const std::string then{std::istreambuf_iterator<char>(file), {}};
    ++compared;
    if (std::ranges::equal(now, std::as_bytes(std::span(then)))) continue;
    std::filesystem::create_directories(fresh);
    std::ofstream out(fresh / what, std::ios::binary);
    out.write(reinterpret_cast<const char*>(now.data()), static_cast<std::streamsize>(now.size()));
    ADD_FAILURE() << what << " is written otherwise now: with a new version take " << fresh / what;
  }
  EXPECT_EQ(compared, 15U);
}

}  // namespace
}  // namespace halyard
