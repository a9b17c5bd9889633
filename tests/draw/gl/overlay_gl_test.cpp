// SPDX-License-Identifier: Apache-2.0
// Boxes, tags, trails and marks drawn by OpenGL are those of the CPU, on images of every format in
// every memory.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include "draw/gl/gl_draw_fixture.h"

namespace halyard::test {
namespace {

class OverlayGl : public GlDrawing {
 protected:
  void SetUp() override {
    GlDrawing::SetUp();
    if (!Overlay::create()) GTEST_SKIP() << "no font on this machine";
  }
  static Overlay overlay(ComputeBackend backend, OverlayOptions options = {}) {
    options.backend = backend;
    if (options.labels.empty()) options.labels = {"boat", "buoy", "gull"};
    return Overlay::create(std::move(options)).value();
  }
  /// Draws on images of all formats, with even and odd sizes and a part of a larger one.
  template <class Draw>
  void expect_alike(const Draw& draw) {
    unsigned seed = 1;
    for (const PixelFormat format : formats) {
      for (const Size size : {Size{160, 100}, Size{157, 99}}) {
        SCOPED_TRACE(testing::Message() << to_string(format) << " " << size.width);
        EXPECT_EQ(bytes_beyond(noise_image(size, format, ++seed), draw), 0U);
      }
    }
  }
};

std::vector<Detection> scene() {
  return {{.box = {11, 31, 90, 81}, .score = 0.9F, .label = 0},
          {.box = {50.4F, 40, 141, 95}, .score = 0.4F, .label = 1},
          {.box = {-30, 60, 40, 190}, .score = 0.3F, .label = 2},
          {.box = {120, 10, 122, 12}, .score = 0.2F, .label = 7},
          {.box = {300, 10, 420, 90}, .score = 0.1F, .label = 1}};
}

TEST_F(OverlayGl, draws_boxes_and_tags) {
  for (const int line : {1, 2, 5}) {
    expect_alike([&](Tensor& image, ComputeBackend backend) {
      ASSERT_OK(overlay(backend, {.line_px = line, .text_px = 12}).draw(image, scene()));
    });
  }
}

TEST_F(OverlayGl, draws_tracks_with_dashes_and_trails) {
  expect_alike([&](Tensor& image, ComputeBackend backend) {
    Overlay own = overlay(backend, {.line_px = 3, .text_px = 12});
    std::vector<Track> tracks{{1, {11, 31, 60, 61}, 0.9F, 0, 0, 1, {}, {}},
                              {2, {50, 40, 141, 95}, 0.4F, 1, -1, 1, {}, {}}};
    Tensor earlier = noise_image({160, 100}, PixelFormat::grey, 3);
    for (int i = 0; i < 9; ++i) {
      const auto step = static_cast<float>(i);
      for (Track& track : tracks) {
        track.box.x1 += 4 + step;
        track.box.x2 += 4 + step;
        track.box.y1 += i % 3 == 0 ? 9.0F : -6.3F;
      }
      ASSERT_OK(own.draw(i < 8 ? earlier : image, tracks));
    }
  });
}

TEST_F(OverlayGl, draws_translucent_tags_with_text) {
  expect_alike([&](Tensor& image, ComputeBackend backend) {
    Overlay own = overlay(backend, {.text_px = 14});
    ASSERT_OK(own.text(image, 5, 3, "harbour 7", {20, 90, 200, 160}));
    ASSERT_OK(
        own.text(image, 90, 50, "\xC3\xA9t\xC3\xA9 clipped by the border", {220, 90, 20, 90}));
    ASSERT_OK(own.text(image, -20, 90, "below", {220, 230, 20, 255}));
  });
}

TEST_F(OverlayGl, draws_marks) {
  expect_alike([&](Tensor& image, ComputeBackend backend) {
    Overlay own = overlay(backend);
    const std::array<Point, 4> quads[] = {{{{20, 10}, {90, 22}, {80, 70}, {11, 50}}},
                                          {{{100, -20}, {190, 40}, {140, 120}, {90, 60}}}};
    const Color colors[] = {{250, 20, 30}, {0, 200, 90}};
    ASSERT_OK(own.outlines(image, quads, colors, 3));
    const Point points[] = {{30, 30}, {158, 98}};
    ASSERT_OK(own.points(image, points, colors));
  });
}

TEST_F(OverlayGl, keeps_the_neighbours_of_a_slice) {
  for (const PixelFormat format : formats) {
    SCOPED_TRACE(to_string(format));
    const auto draw = [&](Tensor& image, ComputeBackend backend) {
      Tensor part = image.slice(Region{16, 8, 96, 64}).value();
      ASSERT_OK(overlay(backend, {.line_px = 3, .text_px = 12}).draw(part, scene()));
    };
    if (!noise_image({160, 100}, format, 5).slice(Region{16, 8, 96, 64})) continue;
    EXPECT_EQ(bytes_beyond(noise_image({160, 100}, format, 5), draw), 0U);
  }
}

TEST_F(OverlayGl, draws_text_when_the_atlas_is_full) {
  std::string line;
  for (char letter = '!'; letter < 127; ++letter)
    line += letter;
  const auto draw = [&](Tensor& image, ComputeBackend backend) {
    for (int size = 40; size < 120; size += 9) {
      Overlay own = overlay(backend, {.text_px = size});
      for (std::size_t i = 0; i < line.size(); i += 4)
        ASSERT_OK(own.text(image, static_cast<int>(i), 2 * size, line.substr(i, 4), {9, 9, 200}));
    }
  };
  EXPECT_EQ(bytes_beyond(noise_image({640, 480}, PixelFormat::rgb, 5), draw), 0U);
}

TEST_F(OverlayGl, letters_larger_than_the_atlas_are_drawn_by_the_cpu) {
  Tensor image = noise_image({320, 200}, PixelFormat::rgb, 5);
  Tensor same = noise_image({320, 200}, PixelFormat::rgb, 5);
  const OverlayOptions huge{.line_px = 256, .text_px = 512};
  ASSERT_OK(overlay(ComputeBackend::opengl, huge).text(image, 0, -200, "W", {1, 2, 3}));
  ASSERT_OK(overlay(ComputeBackend::cpu, huge).text(same, 0, -200, "W", {1, 2, 3}));
  EXPECT_LE(difference(planes_of(image), planes_of(same)).largest, 2);
}

TEST_F(OverlayGl, colours_are_those_of_the_image) {
  for (const ColorEncoding encoding :
       {ColorEncoding::bt601, ColorEncoding::bt709, ColorEncoding::bt2020}) {
    for (const ColorRange range : {ColorRange::full, ColorRange::limited}) {
      Tensor image = noise_image({96, 64}, PixelFormat::nv12, 9);
      image.set_colorimetry({.encoding = encoding, .range = range});
      EXPECT_EQ(bytes_beyond(image,
                             [&](Tensor& to, ComputeBackend backend) {
                               ASSERT_OK(overlay(backend).draw(to, scene()));
                             }),
                0U);
    }
  }
}

TEST_F(OverlayGl, targets_may_be_bound_as_renderbuffers) {
  ::setenv("HALYARD_OPENGL_RENDERSURFACE", "1", 1);
  EXPECT_EQ(bytes_beyond(noise_image({96, 64}, PixelFormat::nv12, 9),
                         [&](Tensor& to, ComputeBackend backend) {
                           ASSERT_OK(overlay(backend).draw(to, scene()));
                         }),
            0U);
}

TEST_F(OverlayGl, transfers_are_those_that_are_forced) {
  for (const char* const name : {"pbo", "sync"}) {
    ::setenv("HALYARD_FORCE_TRANSFER", name, 1);
    EXPECT_EQ(bytes_beyond(noise_image({96, 64}, PixelFormat::rgb, 9),
                           [&](Tensor& to, ComputeBackend backend) {
                             ASSERT_OK(overlay(backend).draw(to, scene()));
                           }),
              0U);
    EXPECT_EQ(seen_.dma_bufs, 0U);
    EXPECT_EQ(seen_.pixel_buffers, std::string_view(name) == "pbo" ? 1U : 0U);
    seen_ = {};
  }
}

}  // namespace
}  // namespace halyard::test
#endif
