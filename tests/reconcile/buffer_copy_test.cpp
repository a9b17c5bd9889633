// SPDX-License-Identifier: Apache-2.0
// Copies between orders of axes, and rectangles of images, against one element after the other.
#include <cstring>
#include <random>

#include "reconcile/agreed.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

struct Extents {
  std::size_t n, c, h, w;
};

/// What element (n, c, h, w) holds: no two are alike in their low bytes for long.
std::uint64_t number_at(const Extents& e, std::size_t n, std::size_t c, std::size_t h,
                        std::size_t w) {
  return (((n * e.c + c) * e.h + h) * e.w + w) * 2654435761U + 97;
}

std::size_t block_of(AxisOrder order, const Extents& e, std::size_t x) {
  return order == AxisOrder::nchw ? 1 : order == AxisOrder::nhwc ? e.c : x;
}

/// A tensor of a program, in rows and planes that are longer than they need be.
struct HostTensor {
  HostTensor(DType dtype, AxisOrder order, const Extents& e, std::size_t x, std::mt19937& random)
      : extents(e), block(block_of(order, e, x)), element(size_of(dtype)) {
    const std::size_t blocks = (e.c + x - 1) / x;
    std::vector<std::size_t> shape;
    if (order == AxisOrder::nchw) shape = {e.n, e.c, e.h, e.w};
    if (order == AxisOrder::nhwc) shape = {e.n, e.h, e.w, e.c};
    if (order == AxisOrder::nc_hwx) shape = {e.n, blocks, e.h, e.w, x};
    layout.dtype = dtype;
    layout.rank = static_cast<std::uint8_t>(shape.size());
    std::size_t stride = element;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      layout.shape[axis] = shape[axis];
      layout.stride_bytes[axis] = static_cast<std::ptrdiff_t>(stride);
      stride = stride * shape[axis] + element * (random() % 3);
    }
    tensor = value_of(Tensor::wrap(value_of(allocate(stride, Memory::mem)), layout));
    const std::size_t first = order == AxisOrder::nhwc ? 1 : 2;
    at_h = layout.stride_bytes[first];
    at_w = layout.stride_bytes[first + 1];
    at_block = order == AxisOrder::nhwc ? 0 : layout.stride_bytes[1];
    at_c = order == AxisOrder::nchw ? 0 : layout.stride_bytes[shape.size() - 1];
  }
  std::ptrdiff_t offset(std::size_t n, std::size_t c, std::size_t h, std::size_t w) const {
    const auto step = [](std::size_t i, std::ptrdiff_t stride) {
      return static_cast<std::ptrdiff_t>(i) * stride;
    };
    return step(n, layout.stride_bytes[0]) + step(c / block, at_block) + step(c % block, at_c) +
           step(h, at_h) + step(w, at_w);
  }
  template <class F>
  void for_each(F&& use) const {
    for (std::size_t n = 0; n < extents.n; ++n)
      for (std::size_t c = 0; c < extents.c; ++c)
        for (std::size_t h = 0; h < extents.h; ++h)
          for (std::size_t w = 0; w < extents.w; ++w)
            use(offset(n, c, h, w), number_at(extents, n, c, h, w));
  }
  void write_numbers() {
    const auto map = value_of(tensor.map(Access::write));
    for_each([&](std::ptrdiff_t at, std::uint64_t number) {
      std::memcpy(map.writable() + at, &number, element);
    });
  }
  std::size_t wrong_numbers() const {
    const auto map = value_of(tensor.map(Access::read));
    std::size_t wrong = 0;
    for_each([&](std::ptrdiff_t at, std::uint64_t number) {
      if (std::memcmp(map.data() + at, &number, element) != 0) ++wrong;
    });
    return wrong;
  }

  Extents extents;
  std::size_t block, element;
  Layout layout;
  Tensor tensor;
  std::ptrdiff_t at_block = 0, at_h = 0, at_w = 0, at_c = 0;
};

struct Kind {
  AxisOrder order;
  std::size_t x;
  const char* tag;
};
constexpr Kind kinds[] = {{AxisOrder::nchw, 1, "NCHW"},
                          {AxisOrder::nhwc, 1, "NHWC"},
                          {AxisOrder::nc_hwx, 4, "NCxHWx4"},
                          {AxisOrder::nc_hwx, 32, "NCxHWx32"}};

Reconciled tensor_of(const std::string& dtype, const Extents& e, const std::string& tag,
                     const std::string& more) {
  return agreed(R"([{"name": "app", "keys": {"t.dtype": ")" + dtype + R"(", "t.shape": [)" +
                std::to_string(e.n) + ", " + std::to_string(e.c) + ", " + std::to_string(e.h) +
                ", " + std::to_string(e.w) + R"(], "g.cpu": "read_write", "t.layout": [")" + tag +
                "\"]" + more + "}}]");
}

TEST(BufferCopy, every_order_becomes_every_other) {
  std::mt19937 random(20);
  std::size_t pairs = 0;
  for (const auto& [dtype, name] : {std::pair(DType::u8, "u8"), std::pair(DType::f16, "f16"),
                                    std::pair(DType::f32, "f32"), std::pair(DType::u64, "u64")})
    for (const Kind& inside : kinds)
      for (const Kind& outside : kinds)
        for (int round = 0; round < 6; ++round) {
          const Extents e{1 + random() % 3, 1 + random() % 40, 1 + random() % 9, 1 + random() % 17};
          const std::string row = round % 2 == 0 ? ", \"t.row_align\": 64" : "";
          SCOPED_TRACE(std::string(name) + " " + outside.tag + " in " + inside.tag);
          auto buffers = value_of(allocate_negotiated(tensor_of(name, e, inside.tag, row)));
          HostTensor source(dtype, outside.order, e, outside.x, random);
          source.write_numbers();
          ASSERT_TRUE(buffers[0].copy_from(source.tensor, outside.order));
          const Kind& back = kinds[random() % std::size(kinds)];
          HostTensor destination(dtype, back.order, e, back.x, random);
          ASSERT_TRUE(buffers[0].copy_to(destination.tensor, back.order));
          ASSERT_EQ(destination.wrong_numbers(), 0U) << "back as " << back.tag;
          ++pairs;
        }
  EXPECT_EQ(pairs, 4U * 4 * 4 * 6);
}

TEST(BufferCopy, the_buffer_s_own_tensor_has_the_elements_where_its_layout_says) {
  std::mt19937 random(21);
  const Extents e{2, 5, 3, 7};
  auto buffer = value_of(allocate_negotiated(tensor_of("u8", e, "NCxHWx4", ""))).at(0);
  HostTensor source(DType::u8, AxisOrder::nchw, e, 1, random);
  source.write_numbers();
  ASSERT_TRUE(buffer.copy_from(source.tensor, AxisOrder::nchw));
  const Tensor tensor = value_of(buffer.tensor());
  const auto map = value_of(tensor.map(Access::read));
  const auto view = value_of(map.view<const std::uint8_t, 5>());
  for (std::size_t n = 0; n < e.n; ++n)
    for (std::size_t c = 0; c < e.c; ++c)
      for (std::size_t h = 0; h < e.h; ++h)
        for (std::size_t w = 0; w < e.w; ++w)
          ASSERT_EQ(view(n, c / 4, h, w, c % 4),
                    static_cast<std::uint8_t>(number_at(e, n, c, h, w)));
}

/// Bytes of `buffer` that are not `value` where the tensor has padding channels: 5 of 8 are real.
std::size_t other_padding(NegotiatedBuffer& buffer, std::byte value) {
  const Tensor tensor = value_of(buffer.tensor());
  const auto map = value_of(tensor.map(Access::read));
  const auto view = value_of(map.view<const std::uint8_t, 5>());
  std::size_t other = 0;
  for (std::size_t h = 0; h < view.extent(2); ++h)
    for (std::size_t w = 0; w < view.extent(3); ++w)
      for (std::size_t lane = 1; lane < 4; ++lane)
        if (view(0, 1, h, w, lane) != static_cast<std::uint8_t>(value)) ++other;
  return other;
}

TEST(BufferCopy, padding_is_what_parties_want_or_stays) {
  std::mt19937 random(22);
  const Extents e{1, 5, 3, 7};
  HostTensor source(DType::u8, AxisOrder::nhwc, e, 1, random);
  source.write_numbers();
  const auto after_copy = [&](const std::string& more, std::byte expected) {
    auto buffer = value_of(allocate_negotiated(tensor_of("u8", e, "NCxHWx4", more))).at(0);
    {
      auto lock = value_of(buffer.lock(Access::write));
      std::ranges::fill(lock.writable_bytes(), std::byte{0xEE});
    }
    EXPECT_TRUE(buffer.copy_from(source.tensor, AxisOrder::nhwc));
    return other_padding(buffer, expected);
  };
  EXPECT_EQ(after_copy("", std::byte{0xEE}), 0U);
  EXPECT_EQ(after_copy(", \"g.pad_fill\": \"zero\"", std::byte{0}), 0U);
  EXPECT_EQ(after_copy(", \"g.pad_fill\": {\"value\": 128}", std::byte{128}), 0U);
  // Nor does a program's tensor get anything in its padding.
  auto buffer = value_of(allocate_negotiated(tensor_of("u8", e, "NCHW", ""))).at(0);
  auto adopted = value_of(allocate_negotiated(tensor_of("u8", e, "NCxHWx4", ""))).at(0);
  {
    auto lock = value_of(adopted.lock(Access::write));
    std::ranges::fill(lock.writable_bytes(), std::byte{0xEE});
  }
  Tensor destination = value_of(adopted.tensor());
  EXPECT_TRUE(buffer.copy_to(destination, AxisOrder::nc_hwx));
  EXPECT_EQ(other_padding(adopted, std::byte{0xEE}), 0U);
}

TEST(BufferCopy, what_does_not_fit_is_named) {
  std::mt19937 random(23);
  const Extents e{1, 5, 3, 7};
  auto buffer = value_of(allocate_negotiated(tensor_of("u8", e, "NHWC", ""))).at(0);
  const auto refused = [&](DType dtype, AxisOrder order, const Extents& other, AxisOrder said,
                           const char* text) {
    HostTensor source(dtype, order, other, 4, random);
    const Status from = buffer.copy_from(source.tensor, said);
    EXPECT_FAILS(from, Errc::invalid_argument, text);
    EXPECT_FAILS(buffer.copy_to(source.tensor, said), Errc::invalid_argument,
                 from ? "" : from.error().message());
  };
  refused(DType::i8, AxisOrder::nchw, e, AxisOrder::nchw, "u8");
  refused(DType::u8, AxisOrder::nchw, e, AxisOrder::nhwc, "[1, 5, 3, 7], wanted [1, 3, 7, 5]");
  refused(DType::u8, AxisOrder::nchw, e, AxisOrder::nc_hwx, "x");
  refused(DType::u8, AxisOrder::nc_hwx, {1, 9, 3, 7}, AxisOrder::nc_hwx,
          "[1, 3, 3, 7, 4], wanted [1, 5 / x, 3, 7, x]");
  Tensor empty;
  EXPECT_FAILS(buffer.copy_from(empty, AxisOrder::nchw), Errc::invalid_argument);
  HostTensor source(DType::u8, AxisOrder::nchw, e, 1, random);
  const auto lock = value_of(buffer.lock(Access::read));
  EXPECT_FAILS(buffer.copy_from(source.tensor, AxisOrder::nchw), Errc::busy);
}

/// The image of one party, in rows of whole 64 bytes.
NegotiatedBuffer image_buffer(PixelFormat format, std::size_t width, std::size_t height) {
  return test::one_buffer(R"([{"name": "app", "keys": {"i.format": ")" +
                          std::string(to_string(format)) + R"(", "i.w": )" + std::to_string(width) +
                          R"(, "i.h": )" + std::to_string(height) +
                          R"(, "i.pitch_align": 64, "g.cpu": "read_write"}}])");
}

TEST(BufferCopy, rectangles_of_every_format_move) {
  std::size_t formats = 0;
  for (const FormatInfo& format : all_formats()) {
    SCOPED_TRACE(format.name);
    auto buffer = image_buffer(format.format, 48, 32);
    Tensor image = value_of(buffer.image());
    Tensor part = value_of(Tensor::create_image(16, 8, format.format));
    {
      const auto map = value_of(part.map(Access::write));
      for (std::size_t p = 0; p < map.plane_count(); ++p)
        for (std::size_t row = 0; row < map.plane(p).rows; ++row)
          for (std::size_t at = 0; at < map.plane(p).row_bytes; ++at)
            map.plane(p).writable[row * map.plane(p).stride_bytes + at] =
                static_cast<std::byte>(1 + (p * 71 + row * 13 + at) % 255);
    }
    Tensor place = value_of(image.slice({8, 4, 16, 8}));
    ASSERT_TRUE(copy(part, place));
    Tensor back = value_of(Tensor::create_image(16, 8, format.format));
    ASSERT_TRUE(copy(place, back));
    const auto wrote = value_of(part.map(Access::read));
    const auto read = value_of(back.map(Access::read));
    std::size_t count = 0;
    for (std::size_t p = 0; p < wrote.plane_count(); ++p)
      for (std::size_t row = 0; row < wrote.plane(p).rows; ++row) {
        ASSERT_EQ(std::memcmp(wrote.plane(p).data + row * wrote.plane(p).stride_bytes,
                              read.plane(p).data + row * read.plane(p).stride_bytes,
                              wrote.plane(p).row_bytes),
                  0);
        count += wrote.plane(p).row_bytes;
      }
    // And nothing beside it.
    std::size_t written = 0;
    const auto lock = value_of(buffer.lock(Access::read));
    for (const std::byte each : lock.bytes())
      written += each != std::byte{0};
    EXPECT_EQ(written, count);
    ++formats;
  }
  EXPECT_EQ(formats, all_formats().size());
}

TEST(BufferCopy, an_odd_rectangle_of_nv12_names_the_subsampling) {
  auto buffer = image_buffer(PixelFormat::nv12, 48, 32);
  const Tensor image = value_of(buffer.image());
  for (const Region odd : {Region{1, 0, 16, 8}, Region{0, 3, 16, 8}}) {
    const auto refused = image.slice(odd);
    EXPECT_FAILS(refused, Errc::invalid_argument, "2x2");
    EXPECT_FAILS(refused, "nv12");
  }
  const Tensor even = value_of(image.slice({2, 4, 16, 8}));
  EXPECT_EQ(even.plane_count(), 2U);
}

}  // namespace
}  // namespace halyard
