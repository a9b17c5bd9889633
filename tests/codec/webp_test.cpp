// SPDX-License-Identifier: Apache-2.0
// The first frame of a WebP animation, which may be a part of the image.
#include <gtest/gtest.h>

#include <vector>

#include "halyard/codec.h"
#include "support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

void put_chunk(Bytes& out, const char* name, const Bytes& data) {
  for (int i = 0; i < 4; ++i)
    out.push_back(static_cast<std::byte>(name[i]));
  put(out, data.size(), 4);
  out.insert(out.end(), data.begin(), data.end());
  if (data.size() % 2 != 0) put(out, 0, 1);
}

// An animation of one frame: `still` at (left, top), which are even, of a canvas.
Bytes animation(const Bytes& still, Size frame, Size canvas, int left, int top) {
  Bytes header, loop, placed, chunks, file;
  put(header, 0x12, 4);  // alpha, animation
  put(header, static_cast<std::uint64_t>(canvas.width - 1), 3);
  put(header, static_cast<std::uint64_t>(canvas.height - 1), 3);
  put(loop, 0, 6);
  for (const int value : {left / 2, top / 2, frame.width - 1, frame.height - 1, 100})
    put(placed, static_cast<std::uint64_t>(value), 3);
  put(placed, 0, 1);
  placed.insert(placed.end(), still.begin() + 12, still.end());
  for (const char letter : {'W', 'E', 'B', 'P'})
    chunks.push_back(static_cast<std::byte>(letter));
  put_chunk(chunks, "VP8X", header);
  put_chunk(chunks, "ANIM", loop);
  put_chunk(chunks, "ANMF", placed);
  put_chunk(file, "RIFF", chunks);
  return file;
}

TEST(WebpAnimation, shows_its_first_frame_in_its_place_and_nothing_around_it) {
  if (!kind_of(ImageFileType::webp).is_written) GTEST_SKIP() << "built without libwebp";
  constexpr Size frame{6, 5}, canvas{13, 11};
  Tensor small = *Tensor::create_image(frame, PixelFormat::rgba);
  {
    const TensorMap map = *small.map(Access::write);
    const auto pixels = *map.view<std::uint8_t, 3>();
    for (const auto [y, x] : grid<std::size_t>(5, 6))
      for (std::size_t c = 0; c < 4; ++c)
        pixels(y, x, c) = static_cast<std::uint8_t>(c == 3 ? 255 : 40 * x + 20 * y + 3 * c + 1);
  }
  const std::vector<std::uint8_t> inside = plane_bytes(small, 0);
  ASSERT_VALUE(const Bytes still, encode_webp(small, {.is_lossless = true}));
  for (const auto& [left, top] : std::vector<std::pair<int, int>>{{0, 0}, {4, 2}, {6, 6}}) {
    SCOPED_TRACE(testing::Message() << left << " " << top);
    ASSERT_VALUE(const Tensor shown, load(animation(still, frame, canvas, left, top)));
    ASSERT_EQ(shown.format(), PixelFormat::rgba);
    ASSERT_EQ(shown.size(), canvas);
    const std::vector<std::uint8_t> found = plane_bytes(shown, 0);
    for (const auto [y, x] : grid<int>(canvas.height, canvas.width))
      for (int c = 0; c < 4; ++c) {
        const int fx = x - left, fy = y - top;
        const bool is_in = fx >= 0 && fx < frame.width && fy >= 0 && fy < frame.height;
        const int expected =
            is_in ? inside[static_cast<std::size_t>(4 * (fy * frame.width + fx) + c)] : 0;
        ASSERT_EQ(found[static_cast<std::size_t>(4 * (y * canvas.width + x) + c)], expected)
            << x << " " << y << " " << c;
      }
  }
  EXPECT_FAILS(load(animation(still, frame, canvas, 8, 2)), Errc::corrupt);
}

}  // namespace
}  // namespace halyard::test
