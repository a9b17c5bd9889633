// SPDX-License-Identifier: Apache-2.0
// .npy files: what NumPy writes is read, what is written is what NumPy writes, all else is refused.
#include "halyard/npy.h"

#include <array>
#include <cstring>
#include <numeric>

#include "codec/support.h"
#include "halyard/codec.h"
#include "support/folder.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::Bytes;

Bytes to_bytes(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// A file of format `major`.0 with this header and `data_bytes` bytes 0, 1, 2...
Bytes file_of(std::string header, std::size_t data_bytes, int major = 1) {
  header += '\n';
  std::string text = "\x93NUMPY";
  text += {static_cast<char>(major), '\0'};
  text += {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (major > 1) text += {'\0', '\0'};
  text += header;
  for (std::size_t i = 0; i < data_bytes; ++i)
    text += static_cast<char>(i);
  return to_bytes(text);
}

std::string header_of(std::string_view descr, std::string_view shape,
                      std::string_view fortran = "False") {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(fortran) +
         ", 'shape': " + std::string(shape) + ", }";
}

// numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], dtype="<i2"), NumPy 1.26.
TEST(Npy, is_written_as_numpy_writes_it) {
  std::string expected = "\x93NUMPY";
  expected += {'\x01', '\0', 'v', '\0'};
  expected += "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
  expected += std::string(127 - expected.size(), ' ') + '\n';
  for (char value = 1; value <= 6; ++value)
    expected += {value, '\0'};
  const std::array<std::size_t, 2> shape{2, 3};
  auto tensor = *Tensor::create(DType::i16, shape, Memory::mem);
  {
    auto map = *tensor.map(Access::write);
    const std::array<std::int16_t, 6> values{1, 2, 3, 4, 5, 6};
    std::memcpy(map.writable(), values.data(), sizeof values);
  }
  EXPECT_EQ(*encode_npy(tensor), to_bytes(expected));
}

TEST(Npy, every_type_and_rank_comes_back) {
  const test::Folder folder;
  for (const DType dtype : {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32,
                            DType::u64, DType::i64, DType::f16, DType::f32, DType::f64}) {
    for (std::size_t rank = 1; rank <= max_rank; ++rank) {
      std::vector<std::size_t> shape(rank, 2);
      shape[0] = 3;
      auto tensor = *Tensor::create(dtype, shape, Memory::mem);
      const std::size_t size = tensor.element_count() * size_of(dtype);
      {
        auto map = *tensor.map(Access::write);
        for (std::size_t i = 0; i < size; ++i)
          map.writable()[i] = static_cast<std::byte>(i * 13 + rank);
      }
      const std::string path = folder / "a.npy";
      ASSERT_TRUE(save_npy(tensor, path));
      ASSERT_VALUE(const auto back, load_npy(path));
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_TRUE(std::ranges::equal(back.shape(), shape));
      EXPECT_EQ(std::memcmp(back.map(Access::read)->data(), tensor.map(Access::read)->data(), size),
                0);
    }
  }
  EXPECT_FAILS(load_npy(folder / "none.npy"), Errc::not_found);
  EXPECT_FAILS(load_npy(folder / "a.npy", 100), Errc::invalid_argument);
}

TEST(Npy, of_strided_tensors_has_their_elements_alone) {
  std::array<std::uint8_t, 12> bytes{};
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  Layout layout = *Layout::contiguous(DType::u8, std::array<std::size_t, 2>{3, 2});
  layout.stride_bytes[0] = 4;
  const auto tensor = *Tensor::wrap(*wrap_memory(std::span(bytes)), layout);
  const auto back = *decode_npy(*encode_npy(tensor));
  const auto map = *back.map(Access::read);
  const std::array<std::uint8_t, 6> expected{0, 1, 4, 5, 8, 9};
  EXPECT_EQ(std::memcmp(map.data(), expected.data(), expected.size()), 0);
}

TEST(Npy, images_are_arrays_where_they_are_one) {
  auto rgb = *Tensor::create_image(5, 3, PixelFormat::rgb);
  EXPECT_TRUE(std::ranges::equal(decode_npy(*encode_npy(rgb))->shape(), rgb.shape()));
  auto nv12 = *Tensor::create_image(6, 4, PixelFormat::nv12);
  EXPECT_FAILS(encode_npy(nv12), Errc::unsupported, "nv12");
  auto half = *Tensor::create(DType::bf16, {2, 2}, Memory::mem);
  EXPECT_FAILS(encode_npy(half), "bf16");
  const std::array<std::size_t, 1> three{3};
  const Bytes two(2);
  EXPECT_FAILS(encode_npy(DType::u8, three, two), Errc::invalid_argument);
}

TEST(Npy, formats_two_and_three_and_a_number_without_axes) {
  for (const int major : {1, 2, 3}) {
    ASSERT_VALUE(const auto tensor, decode_npy(file_of(header_of("<f4", "(2, 2)"), 16, major)));
    EXPECT_EQ(tensor.dtype(), DType::f32);
  }
  EXPECT_EQ(decode_npy(file_of(header_of("|u1", "()"), 1))->shape()[0], 1U);
  EXPECT_TRUE(decode_npy(file_of(header_of("|b1", "(7,)", "True"), 7))) << "one axis has one order";
}

TEST(Npy, what_is_no_array_is_refused) {
  struct Case {
    Bytes file;
    Errc code;
    const char* says;
  };
  const std::vector<Case> cases{
      {{}, Errc::malformed, "start"},
      {to_bytes("not an array at all"), Errc::malformed, "start"},
      {file_of(header_of("<f4", "(2, 2)"), 16, 4), Errc::malformed, "version 4"},
      {file_of(header_of("<f4", "(2, 2)"), 15), Errc::malformed, "15 bytes of data"},
      {file_of(header_of("<f4", "(2, 2)"), 17), Errc::malformed, "17 bytes of data"},
      {file_of(header_of(">f4", "(2, 2)"), 16), Errc::unsupported, ">f4"},
      {file_of(header_of("|O", "(2,)"), 16), Errc::unsupported, "|O"},
      {file_of(header_of("<c8", "(2,)"), 16), Errc::unsupported, "<c8"},
      {file_of(header_of("<f4", "(2, 2)", "True"), 16), Errc::unsupported, "fortran_order"},
      {file_of(header_of("<f4", "(0, 2)"), 0), Errc::malformed, "empty"},
      {file_of(header_of("<f4", "(2, 2"), 16), Errc::malformed, "shape"},
      {file_of(header_of("<f4", "(2, x)"), 16), Errc::malformed, "numbers"},
      {file_of(header_of("|u1", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 1), Errc::malformed, "rank"},
      {file_of("{'descr': '<f4', 'shape': (2, 2), }", 16), Errc::malformed, "lacks"},
      {file_of(header_of("<f4", "(9223372036854775808, 9223372036854775808)"), 16),
       Errc::invalid_argument, ""}};
  for (const Case& c : cases)
    EXPECT_FAILS(decode_npy(c.file), c.code, c.says) << c.says;
  const Bytes whole = file_of(header_of("<f4", "(2, 2)"), 16);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode_npy(std::span(whole).first(size))) << size;
}

}  // namespace
}  // namespace halyard
