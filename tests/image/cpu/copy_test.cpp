// SPDX-License-Identifier: Apache-2.0
// The copy path: every element compared with arithmetic, guard bytes, the same bytes on every
// target.
#include <gtest/gtest.h>

#include "each_target.h"
#include "halyard/image.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/copy.h"
#include "image/cpu/kernels/transpose.h"
#include "image/images.h"
#include "support/product.h"

namespace halyard::test {
namespace {

using F = PixelFormat;
using image::RowMove;
using image::TransposeJob;

std::vector<std::byte> noise(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes)
    b = static_cast<std::byte>(random() & 0xFFU);
  return bytes;
}

std::array<std::uint8_t, 4> shuffled(Random& random, std::size_t bytes) {
  std::array<std::uint8_t, 4> order{0, 1, 2, 3};
  std::shuffle(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(bytes), random);
  return order;
}

TEST(MoveKernels, rows_of_every_element_are_reordered_and_mirrored) {
  Random random(1);
  for_each_target([&] {
    for (std::size_t bytes = 1; bytes <= 4; ++bytes) {
      for (std::size_t count = 1; count <= 65; ++count) {
        const RowMove move{bytes, shuffled(random, bytes), count % 2 == 0};
        const std::vector<std::byte> in = noise(random, count * bytes);  // ends with the row
        std::vector<std::byte> out = noise(random, count * bytes + 32);
        std::vector<std::byte> want = out;
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t from = move.mirrored ? count - 1 - i : i;
          for (std::size_t k = 0; k < bytes; ++k)
            want[16 + i * bytes + k] = in[from * bytes + move.order[k]];
        }
        image::move_row(move, in.data(), count, out.data() + 16);
        ASSERT_EQ(out, want) << bytes << " bytes, " << count << " elements";
      }
    }
  });
}

TEST(MoveKernels, a_turn_puts_every_element_where_arithmetic_says) {
  Random random(2);
  for_each_target([&] {
    for (int round = 0; round < 400; ++round) {
      TransposeJob job;
      job.element_bytes = static_cast<std::size_t>(1 + round % 4);
      job.order = shuffled(random, job.element_bytes);
      job.in_columns = static_cast<std::size_t>(pick(random, 1, 70));
      job.in_rows = static_cast<std::size_t>(pick(random, 1, 70));
      const std::size_t stride = job.in_columns * job.element_bytes + random() % 3;
      const std::size_t last = (job.in_rows - 1) * stride;
      const std::vector<std::byte> in = noise(random, last + job.in_columns * job.element_bytes);
      const bool reversed = round % 8 >= 4;
      job.in = in.data() + (reversed ? last : 0);
      job.in_stride = static_cast<std::ptrdiff_t>(stride) * (reversed ? -1 : 1);
      const std::size_t rows = std::max(job.in_columns, image::min_transposed_rows);
      const std::size_t row = job.in_rows * job.element_bytes + image::transpose_spare_bytes;
      std::vector<std::byte> out(rows * row);
      job.out = out.data();
      job.out_stride = static_cast<std::ptrdiff_t>(row);
      image::transpose_elements(job);
      for (const auto [j, i] : grid<std::size_t>(job.in_columns, job.in_rows * job.element_bytes)) {
        const std::size_t e = i / job.element_bytes;
        const std::byte* from = job.in + static_cast<std::ptrdiff_t>(e) * job.in_stride;
        ASSERT_EQ(out[j * row + i], from[j * job.element_bytes + job.order[i % job.element_bytes]])
            << job.element_bytes << " bytes, " << job.in_columns << " x " << job.in_rows << ", row "
            << j << ", byte " << i;
      }
    }
  });
}

TEST(MoveKernels, streaming_copies_from_and_to_every_boundary) {
  Random random(3);
  const std::vector<std::byte> in = noise(random, 600);
  for_each_target([&] {
    for (std::size_t offset = 0; offset < 64; offset += 7) {
      for (std::size_t count = 0; count < 400; count += 13) {
        std::vector<std::byte> out = noise(random, 600);
        std::vector<std::byte> want = out;
        std::copy_n(in.begin() + 5, count, want.begin() + static_cast<std::ptrdiff_t>(offset));
        image::stream_bytes(in.data() + 5, count, out.data() + offset);
        image::finish_streams();
        ASSERT_EQ(out, want) << offset << ", " << count;
      }
    }
  });
}

/// One channel of an image, 8 or 16 bits a sample.
class Samples {
 public:
  Samples(const Tensor& image, std::size_t c)
      : map_(image.map(Access::read).value()), bytes_(size_of(image.dtype())) {
    const image::ChannelSite& site = image::channel_map(*image.format())->sites[c];
    channel_ = image::source_channel(map_, site, image.size(), bytes_);
  }
  int at(int x, int y) const {
    std::uint16_t value = 0;
    const auto column = static_cast<std::size_t>(x >> channel_.shift_x);
    std::memcpy(&value, channel_.row(y >> channel_.shift_y) + column * channel_.step_bytes, bytes_);
    return value;
  }

 private:
  TensorMap map_;
  std::size_t bytes_;
  image::SourceChannel channel_;
};

// Runs a program in two strips, the second first.
void run_program(const image::Plan& plan, const image::CpuProgram& program, const Convert& c) {
  const TensorMap src = c.src.map(Access::read).value();
  const TensorMap dst = c.dst.map(Access::write).value();
  const image::MappedImages frame = image::map_frame(plan, src, dst);
  AlignedWorkspace workspace(program.workspace_bytes());
  const std::int32_t half = program.units() / 2;
  program.run(frame, half, program.units(), workspace.data());
  if (half > 0) program.run(frame, 0, half, workspace.data());
}

Region whole_crop(const Convert& c) {
  const RegionF r = *c.crop;
  return {static_cast<int>(r.x), static_cast<int>(r.y), static_cast<int>(r.width),
          static_cast<int>(r.height)};
}

// The pixel of the crop that content pixel (x, y) shows; width and height are those of the content.
std::pair<int, int> origin(const Convert& c, int x, int y, int width, int height) {
  const Region crop = whole_crop(c);
  std::pair<int, int> at{x, y};
  switch (c.rotation) {
    case Rotation::cw90:
      at = {y, width - 1 - x};
      break;
    case Rotation::cw180:
      at = {width - 1 - x, height - 1 - y};
      break;
    case Rotation::cw270:
      at = {height - 1 - y, x};
      break;
    default:
      break;
  }
  if (c.flip == Flip::horizontal) at.first = crop.width - 1 - at.first;
  if (c.flip == Flip::vertical) at.second = crop.height - 1 - at.second;
  return {crop.x + at.first, crop.y + at.second};
}

void expect_moved(const Convert& c) {
  SCOPED_TRACE(describe(c));
  const image::Plan plan = image::make_plan(c).value();
  const auto program = image::compile_copy(plan);
  ASSERT_NE(program, nullptr);
  const std::vector<std::byte> before = bytes_of(c.dst);
  run_program(plan, *program, c);
  EXPECT_TRUE(padding_untouched(c.dst, before));
  const Region& at = plan.content;
  for (std::size_t channel = 0; channel < plan.dst.channels->count; ++channel) {
    const std::size_t stored = c.bgr && channel != 1 ? 2 - channel : channel;
    const Samples source(c.src, channel);
    const Samples result(c.dst, stored);
    const int pad =
        image::round_to_code(plan.pad[channel]) * (c.dst.dtype() == DType::u16 ? 257 : 1);
    for (const auto [y, x] : grid(c.dst.size().height, c.dst.size().width)) {
      const bool shown = x >= at.x && y >= at.y && x < at.x + at.width && y < at.y + at.height;
      const auto [sx, sy] = origin(c, x - at.x, y - at.y, at.width, at.height);
      ASSERT_EQ(result.at(x, y), shown ? source.at(sx, sy) : pad)
          << channel << ": " << x << ", " << y;
    }
  }
}

struct CopyPair {
  PixelFormat from;
  PixelFormat to;
  int shift_x = 0;
  int shift_y = 0;
  DType dtype = DType::u8;
};

constexpr CopyPair pairs[] = {
    {F::grey, F::grey},
    {F::grey, F::grey, 0, 0, DType::u16},
    {F::rgb, F::rgb},
    {F::rgb, F::bgr},
    {F::rgba, F::rgba},
    {F::bgra, F::rgba},
    {F::planar_rgb, F::planar_rgb},
    {F::planar_rgba, F::planar_rgba},
    {F::nv24, F::nv24},
    {F::nv16, F::nv16, 1, 0},
    {F::nv12, F::nv12, 1, 1},
    {F::nv21, F::nv12, 1, 1},
    {F::i420, F::i420, 1, 1},
    {F::yuyv, F::yuyv, 1, 0},
    {F::uyvy, F::yuyv, 1, 0},
    {F::yvyu, F::yuyv, 1, 0},
    {F::vyuy, F::yuyv, 1, 0},
    {F::bgr, F::bgr},
    {F::rgba, F::bgra},
};

// A crop on whole chroma blocks, placed on whole chroma blocks.
Convert request_of(Random& random, const CopyPair& pair, Flip flip, Rotation rotation,
                   int maximum) {
  const auto blocks = [&](int low, int high, int shift) {
    return pick(random, low, high) << shift;
  };
  const bool swaps = rotation == Rotation::cw90 || rotation == Rotation::cw270;
  Region crop{blocks(0, 3, pair.shift_x), blocks(0, 3, pair.shift_y),
              blocks(1, maximum, pair.shift_x), blocks(1, maximum, pair.shift_y)};
  Convert c{.src = random_image(random, crop.x + crop.width + pick(random, 0, 3),
                                crop.y + crop.height + pick(random, 0, 3), pair.from, pair.dtype,
                                static_cast<std::size_t>(4 * pick(random, 0, 3))),
            .crop = crop,
            .flip = flip,
            .rotation = rotation};
  Region place{blocks(0, 3, pair.shift_x), blocks(0, 3, pair.shift_y), crop.width, crop.height};
  if (swaps) std::swap(place.width, place.height);
  c.place = place;
  c.dst = random_image(random, place.x + place.width + blocks(0, 3, pair.shift_x),
                       place.y + place.height + blocks(0, 3, pair.shift_y), pair.to, pair.dtype,
                       static_cast<std::size_t>(4 * pick(random, 0, 3)));
  c.pad = {7, 77, 177, 200};
  if (pair.dtype == DType::u16) c.pad = {77, 77, 77, 200};
  return c;
}

TEST(Moves, every_format_and_orientation_moves_each_sample_where_arithmetic_says) {
  Random random(4);
  for (const auto& [pair, orientation] : product(pairs, upto(4))) {
    if (orientation % 2 == 1 && pair.shift_x != pair.shift_y) continue;
    for (const auto& [flip, maximum] : product(upto(3), {2, 12, 45})) {
      Convert c = request_of(random, pair, static_cast<Flip>(flip),
                             static_cast<Rotation>(orientation), maximum);
      c.filter = static_cast<Filter>(pick(random, 0, 4));
      c.antialias = pick(random, 0, 1) == 1;
      expect_moved(c);
    }
  }
}

TEST(Moves, odd_sizes_of_subsampled_images_move_where_blocks_stay_whole) {
  Random random(5);
  for (const PixelFormat format : {F::nv12, F::i420, F::yuyv}) {
    Convert c{.src = random_image(random, 21, 13, format), .crop = Region{2, 4, 19, 9}};
    c.dst = random_image(random, 27, 9, format);
    c.place = Region{8, 0, 19, 9};
    expect_moved(c);
    c.crop = Region{1, 4, 19, 9};  // mirrored: it begins at its right end
    c.flip = Flip::horizontal;
    expect_moved(c);
  }
}

TEST(Moves, large_images_are_streamed_with_the_same_result) {
  Random random(6);
  const Tensor rgba = random_image(random, 1101, 961, F::rgba, DType::u8, 4);
  const Tensor rgb = random_image(random, 1201, 1201, F::rgb, DType::u8, 4);
  for (int orientation = 0; orientation < 4; ++orientation) {
    Convert c{.src = orientation % 3 == 0 ? rgb : rgba};
    const auto [width, height] = c.src.size();
    c.rotation = static_cast<Rotation>(orientation);
    c.crop = Region{0, 0, width, height};
    c.place =
        Region{1, 3, orientation % 2 == 1 ? height : width, orientation % 2 == 1 ? width : height};
    c.dst = random_image(random, c.place->width + 2, c.place->height + 4, *c.src.format());
    expect_moved(c);
  }
}

TEST(Moves, red_and_blue_change_places_on_the_way) {
  Random random(7);
  for (const PixelFormat format : {F::rgb, F::planar_rgb}) {
    Convert c = request_of(random, {format, format}, Flip::none, Rotation::cw90, 30);
    c.bgr = true;
    expect_moved(c);
  }
}

bool is_move(const Convert& c) {
  return image::compile_copy(image::make_plan(c).value()) != nullptr;
}

TEST(Moves, what_changes_values_is_no_move) {
  Random random(8);
  const Convert c{random_image(random, 16, 12, F::nv12), random_image(random, 16, 12, F::nv12)};
  const Tensor i420 = random_image(random, 16, 12, F::i420);
  const auto shown = [&](const RegionF& crop, const Region& place) {
    Convert other = c;
    other.crop = crop;
    other.place = place;
    return is_move(other);
  };
  ASSERT_TRUE(is_move(c));
  EXPECT_FALSE(shown({1, 0, 8, 8}, {0, 0, 8, 8})) << "half a chroma block";
  EXPECT_TRUE(shown({0, 0, 8, 8}, {0, 0, 8, 8}));
  EXPECT_FALSE(shown({0, 0, 8, 8}, {0, 3, 8, 8}));
  EXPECT_FALSE(shown({0, 0, 7, 8}, {2, 0, 7, 8})) << "ends within a block that it shares with pad";
  EXPECT_FALSE(is_move(with(c, [](Convert& other) { other.chroma = Chroma::bilinear; })));
  EXPECT_FALSE(is_move(with(c, [](Convert& other) { other.crop = RegionF(0.5, 0, 15, 12); })));
  EXPECT_FALSE(is_move(with(c, [](Convert& other) { other.affine = Affine{}; })));
  EXPECT_FALSE(is_move(with(c, [](Convert& other) {
    other.dst.set_colorimetry({{}, {}, ColorEncoding::bt2020, ColorRange::full});
  })));
  EXPECT_FALSE(is_move(with(c, [&](Convert& other) { other.dst = i420; })));
}

TEST(Moves, other_dtypes_alpha_steps_and_rotated_chroma_are_no_moves) {
  Random random(9);
  Convert c{random_image(random, 16, 16, F::rgba), random_image(random, 16, 16, F::rgba)};
  ASSERT_TRUE(is_move(c));
  c.alpha = AlphaStep::premultiply;
  EXPECT_FALSE(is_move(c));
  c.alpha = AlphaStep::keep;
  c.dst = random_image(random, 16, 16, F::rgba, DType::i8);
  EXPECT_FALSE(is_move(c));
  c.dst = random_image(random, 16, 16, F::rgb);
  EXPECT_FALSE(is_move(c));
  c.src = random_image(random, 16, 16, F::nv16);
  c.dst = random_image(random, 16, 16, F::nv16);
  ASSERT_TRUE(is_move(c));
  c.rotation = Rotation::cw90;
  EXPECT_FALSE(is_move(c));
  c.rotation = Rotation::none;
  c.src = random_image(random, 16, 16, F::grey, DType::u16);
  c.dst = random_image(random, 16, 16, F::grey, DType::u16);
  ASSERT_TRUE(is_move(c));
  c.source_bits = 12;
  EXPECT_FALSE(is_move(c));
}

}  // namespace
}  // namespace halyard::test
