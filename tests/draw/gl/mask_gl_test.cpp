// SPDX-License-Identifier: Apache-2.0
// Masks and class maps drawn by OpenGL are those of the CPU: prototypes of every type, order and
// number of coefficients, on images of every format in every memory.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include "decode/mask/mask_frames.h"
#include "draw/gl/gl_draw_fixture.h"
#include "halyard/mask_draw.h"

namespace halyard::test {
namespace {

constexpr Color gl_palette[] = {{255, 0, 0, 255}, {0, 255, 40, 180}, {10, 20, 255, 77}};

class MaskGl : public GlDrawing {
 protected:
  template <class P, class C>
  static MaskFrame frame_of(unsigned seed, const FrameShape& shape = {.masks = 2}) {
    MaskFrame out = random_frame<P, C>(seed, shape);
    for (std::size_t i = 0; i < out.detections.size(); ++i)
      out.detections[i].label = static_cast<std::int32_t>(i % 4);
    return out;
  }
  /// Bytes that are not those of the CPU, of images of all formats.
  std::size_t strange_bytes(const MaskFrame& frame, const MaskDrawOptions& options, Size size) {
    std::size_t out = 0;
    unsigned seed = 7;
    for (const PixelFormat format : formats) {
      SCOPED_TRACE(to_string(format));
      out += bytes_beyond(noise_image(size, format, ++seed), [&](Tensor& image,
                                                                 ComputeBackend backend) {
        ASSERT_OK(MaskPainter(backend).draw(image, frame.prototypes, frame.detections, options));
      });
    }
    return out;
  }
};

TEST_F(MaskGl, draws_real_prototypes_but_for_pixels_on_the_border) {
  std::size_t strange = 0;
  for (const Size size : {Size{80, 64}, Size{131, 67}, Size{240, 171}}) {
    strange +=
        strange_bytes(frame_of<float, float>(1), {.opacity = 0.6F, .palette = gl_palette}, size);
    strange += strange_bytes(
        frame_of<float, float>(2),
        {.opacity = 0.6F, .palette = gl_palette, .content = RegionF(8, 4, 66, 57)}, size);
  }
  // A logit is within 1e-6 of 0 in less than one of 10^5 pixels.
  EXPECT_LE(strange, 12U);
  RecordProperty("border_bytes", static_cast<int>(strange));
}

TEST_F(MaskGl, draws_prototypes_of_every_type_order_and_length) {
  std::size_t strange = 0;
  const auto draw = [&](const MaskFrame& frame) {
    strange += bytes_beyond(
        noise_image({131, 67}, PixelFormat::rgb, 3), [&](Tensor& image, ComputeBackend backend) {
          ASSERT_OK(MaskPainter(backend).draw(image, frame.prototypes, frame.detections,
                                              {.palette = gl_palette}));
        });
  };
  unsigned seed = 20;
  for (const PrototypeOrder order : both_orders) {
    for (const int channels : {1, 3, 32, 41, 130}) {
      FrameShape shape{.channels = channels, .order = order};
      SCOPED_TRACE(channels);
      draw(frame_of<float, float>(++seed, shape));
      draw(frame_of<Half, float>(++seed, shape));
      draw(frame_of<BFloat16, float>(++seed, shape));
      draw(frame_of<std::int8_t, float>(++seed, shape));
      draw(frame_of<std::uint16_t, float>(++seed, shape));
      shape.per_channel = channels > 1;
      draw(frame_of<std::int8_t, std::int8_t>(++seed, shape));
      draw(frame_of<std::uint8_t, std::uint8_t>(++seed, shape));
      shape.batches = 3;
      draw(frame_of<std::int16_t, float>(++seed, shape));
    }
  }
  EXPECT_LE(strange, 12U);
  RecordProperty("border_bytes", static_cast<int>(strange));
}

TEST_F(MaskGl, integers_are_multiplied_exactly) {
  for (unsigned seed = 1; seed < 9; ++seed) {
    const MaskFrame frame = frame_of<std::int8_t, std::int8_t>(seed);
    ASSERT_FALSE(frame.prototypes.stored.empty());
    EXPECT_LE(strange_bytes(frame, {.palette = gl_palette}, {80, 64}), 3U);
  }
}

TEST_F(MaskGl, draws_more_masks_than_fit_the_atlas_in_their_order) {
  FrameShape shape{.width = 160, .height = 160, .channels = 4, .input = {640, 640}, .masks = 90};
  MaskFrame frame = frame_of<float, float>(5, shape);
  for (Detection& detection : frame.detections)
    detection.box = {0, 0, 640, 640};
  const std::size_t strange = bytes_beyond(
      noise_image({320, 320}, PixelFormat::rgba, 3), [&](Tensor& image, ComputeBackend backend) {
        ASSERT_OK(MaskPainter(backend).draw(image, frame.prototypes, frame.detections,
                                            {.opacity = 1, .color_by = ColorBy::instance}));
      });
  EXPECT_LE(strange, 12U);
}

TEST_F(MaskGl, clears_and_copies_a_background_first) {
  const MaskFrame frame = frame_of<std::int8_t, std::int8_t>(3);
  for (const PixelFormat format : formats) {
    SCOPED_TRACE(to_string(format));
    const Tensor background = noise_image({80, 64}, format, 60);
    for (const bool clears : {false, true}) {
      const MaskDrawOptions options{
          .palette = gl_palette, .background = clears ? nullptr : &background, .clear = clears};
      EXPECT_EQ(bytes_beyond(noise_image({80, 64}, format, 61),
                             [&](Tensor& image, ComputeBackend backend) {
                               ASSERT_OK(MaskPainter(backend).draw(image, frame.prototypes,
                                                                   frame.detections, options));
                             }),
                0U);
    }
    // No masks: the image is cleared all the same.
    Tensor image = noise_image({80, 64}, format, 62);
    Tensor same = noise_image({80, 64}, format, 62);
    MaskPrototypes none = frame.prototypes;
    none.clear(32);
    ASSERT_OK(MaskPainter(ComputeBackend::opengl).draw(image, none, {}, {.clear = true}));
    ASSERT_OK(MaskPainter(ComputeBackend::cpu).draw(same, none, {}, {.clear = true}));
    EXPECT_EQ(differences(planes_of(image), planes_of(same)), 0U);
  }
}

TEST_F(MaskGl, draws_existing_masks) {
  const MaskFrame frame = frame_of<float, float>(9);
  for (const PixelFormat format : formats) {
    for (const Size size : {Size{80, 64}, Size{131, 67}}) {
      SCOPED_TRACE(testing::Message() << to_string(format) << " " << size.width);
      MaskSet set;
      ASSERT_OK(materialize(frame.prototypes, frame.detections, {MaskRule::logits, size, {}}, set));
      EXPECT_EQ(bytes_beyond(noise_image(size, format, 8),
                             [&](Tensor& image, ComputeBackend backend) {
                               ASSERT_OK(MaskPainter(backend).draw(
                                   image, set, frame.detections,
                                   {.palette = gl_palette, .ignored_label = 2}));
                             }),
                0U);
    }
  }
}

// llvmpipe rounds the weight of a block whose pixels are not all on to a code of 255: the CPU draws
// on nv12 where many masks lie over one another.
TEST_F(MaskGl, errors_of_masks_over_one_another_do_not_add_up) {
  for (const std::size_t masks : {2U, 3U, 40U}) {
    const FrameShape shape{.channels = 4, .masks = masks};
    MaskFrame frame = frame_of<std::int8_t, std::int8_t>(5, shape);
    for (Detection& detection : frame.detections)
      detection.box = {0, 0, 80, 64};
    for (const float opacity : {0.05F, 0.2F, 0.5F, 0.9F}) {
      for (const PixelFormat format : {PixelFormat::rgb, PixelFormat::nv12}) {
        Tensor by_gl = noise_image({240, 171}, format, 3);
        Tensor by_cpu = noise_image({240, 171}, format, 3);
        const MaskDrawOptions options{.opacity = opacity, .color_by = ColorBy::instance};
        ASSERT_OK(MaskPainter(ComputeBackend::opengl)
                      .draw(by_gl, frame.prototypes, frame.detections, options));
        ASSERT_OK(MaskPainter(ComputeBackend::cpu)
                      .draw(by_cpu, frame.prototypes, frame.detections, options));
        EXPECT_LE(difference(planes_of(by_gl), planes_of(by_cpu)).largest, 2)
            << masks << " masks, opacity " << opacity;
      }
    }
  }
}

template <class Id>
Tensor class_map(Size size, unsigned classes, unsigned seed) {
  std::mt19937 random(seed);
  Tensor out = Tensor::create(std::is_same_v<Id, std::uint8_t> ? DType::u8 : DType::u16,
                              std::array{static_cast<std::size_t>(size.height),
                                         static_cast<std::size_t>(size.width)},
                              Memory::mem)
                   .value();
  const auto map = out.map(Access::write).value();
  auto* const ids = reinterpret_cast<Id*>(map.writable());
  for (int i = 0; i < size.width * size.height; ++i)
    ids[i] =
        static_cast<Id>(i % 5 == 0 ? random() % classes : static_cast<unsigned>(i / 37) % classes);
  return out;
}

TEST_F(MaskGl, draws_class_maps) {
  for (const PixelFormat format : formats) {
    for (const Size size : {Size{80, 64}, Size{131, 67}}) {
      SCOPED_TRACE(testing::Message() << to_string(format) << " " << size.width);
      for (const Tensor& map :
           {class_map<std::uint8_t>(size, 6, 1), class_map<std::uint8_t>(size, 256, 2),
            class_map<std::uint16_t>(size, 9, 3), class_map<std::uint16_t>(size, 40000, 4)}) {
        EXPECT_EQ(bytes_beyond(noise_image(size, format, 8),
                               [&](Tensor& image, ComputeBackend backend) {
                                 ASSERT_OK(MaskPainter(backend).draw(
                                     image, map, {.opacity = 0.7F, .ignored_label = 0}));
                               }),
                  0U);
      }
    }
  }
}

TEST_F(MaskGl, compute_shaders_give_the_same_logits) {
  const gl::Capabilities& c = worker_->capabilities();
  if (c.major == 3 && c.minor == 0) GTEST_SKIP() << "this context has no compute shaders";
  ::setenv("HALYARD_PROTO_COMPUTE", "1", 1);
  unsigned seed = 30;
  for (const PrototypeOrder order : both_orders) {
    const FrameShape shape{.order = order};
    for (const MaskFrame& frame :
         {frame_of<float, float>(++seed, shape), frame_of<Half, float>(++seed, shape),
          frame_of<std::int8_t, std::int8_t>(++seed, shape),
          frame_of<std::uint16_t, float>(++seed, shape)}) {
      Tensor by_compute = noise_image({131, 67}, PixelFormat::rgb, 3);
      Tensor by_cpu = noise_image({131, 67}, PixelFormat::rgb, 3);
      take();
      ASSERT_OK(
          MaskPainter(ComputeBackend::opengl).draw(by_compute, frame.prototypes, frame.detections));
      EXPECT_EQ(take().computes, 1U);
      ASSERT_OK(MaskPainter(ComputeBackend::cpu).draw(by_cpu, frame.prototypes, frame.detections));
      EXPECT_LE(difference(planes_of(by_compute), planes_of(by_cpu)).beyond, 3U);
    }
  }
}

}  // namespace
}  // namespace halyard::test
#endif
