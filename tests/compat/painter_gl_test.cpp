// SPDX-License-Identifier: Apache-2.0
// A painter that asks for OpenGL draws what one of the CPU draws.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include "decode/mask/mask_frames.h"
#include "draw/gl/gl_draw_fixture.h"
#include "halyard/compat/draw.h"

namespace halyard::test {
namespace {

using compat::DrawOptions;
using compat::Painter;
using compat::Segmentation;

class PainterGl : public GlDrawing {
 protected:
  /// Draws with all bases on all formats.
  template <class Draw>
  void expect_alike(const Draw& draw) {
    unsigned seed = 1;
    for (const PixelFormat format : formats) {
      const Tensor background = noise_image({80, 64}, format, ++seed);
      for (const DrawOptions& options :
           {DrawOptions{}, DrawOptions{.keep = true}, DrawOptions{.background = &background}}) {
        SCOPED_TRACE(testing::Message() << to_string(format) << " " << options.keep);
        EXPECT_EQ(bytes_beyond(noise_image({80, 64}, format, ++seed),
                               [&](Tensor& image, ComputeBackend backend) {
                                 Painter painter(backend);
                                 ASSERT_OK(draw(painter, image, options));
                               }),
                  0U);
      }
    }
  }
};

TEST_F(PainterGl, draws_prototypes_and_outlines) {
  MaskFrame frame = random_frame<std::int8_t, std::int8_t>(3, {});
  const compat::ProtoData protos(frame.prototypes);
  expect_alike([&](Painter& painter, Tensor& image, const DrawOptions& options) {
    return painter.draw_proto_masks(image, frame.detections, protos, options);
  });
}

TEST_F(PainterGl, draws_outlines_alone) {
  const Detection boxes[] = {{{.25F, .2F, .75F, .8F}, .9F, 0}, {{.3F, .3F, .9F, .9F}, .8F, 1}};
  expect_alike([&](Painter& painter, Tensor& image, const DrawOptions& options) {
    return painter.draw_decoded_masks(image, boxes, {}, options);
  });
}

TEST_F(PainterGl, draws_decoded_masks) {
  const Detection box{{.25F, .2F, .75F, .8F}, .9F, 0};
  const std::uint8_t mask[] = {255, 0, 255, 90, 200, 0};
  const Segmentation one{box.box, 2, 3, 1, mask};
  expect_alike([&](Painter& painter, Tensor& image, const DrawOptions& options) {
    return painter.draw_decoded_masks(image, {&box, 1}, {&one, 1}, options);
  });
}

TEST_F(PainterGl, draws_scores_of_classes) {
  const std::uint8_t scores[] = {9, 0, 0, 0, 9, 0, 0, 0, 9, 9, 0, 0};
  const Segmentation all{{0, 0, 1, 1}, 1, 4, 3, scores};
  expect_alike([&](Painter& painter, Tensor& image, const DrawOptions& options) {
    return painter.draw_decoded_masks(image, {}, {&all, 1}, options);
  });
}

}  // namespace
}  // namespace halyard::test
#endif
