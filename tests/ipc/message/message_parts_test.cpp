// SPDX-License-Identifier: Apache-2.0
// Metadata of other processes is any bytes: one bad field at a time, and random ones.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "halyard/depth_image.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "ipc/helpers.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::value_of;

template <class Metadata>
struct Refusal {
  std::function<void(Metadata&)> edit;
  Errc code;
  const char* text;  // in the message
};

template <class Message, class Metadata>
void expect_refusals(const Message& message, std::initializer_list<Refusal<Metadata>> cases) {
  int number = 0;
  for (const auto& refusal : cases) {
    SCOPED_TRACE(number++);
    Metadata metadata = message.metadata();
    refusal.edit(metadata);
    const auto made = Message::from_parts(message.tensor(), metadata);
    EXPECT_FAILS(made, refusal.code, refusal.text) << (made ? "taken" : made.error().message());
  }
  EXPECT_TRUE(Message::from_parts(message.tensor(), message.metadata()));
  EXPECT_FAILS(Message::from_parts(Tensor(), message.metadata()), Errc::invalid_argument);
}

Image nv12() {
  return *Image::wrap(*Tensor::create_image(16, 8, PixelFormat::nv12, DType::u8, Memory::mem));
}

TEST(ImageParts, are_refused_field_by_field) {
  using M = ImageMetadata;
  constexpr auto malformed = Errc::malformed;
  constexpr auto corrupt = Errc::corrupt;
  expect_refusals<Image, M>(
      nv12(),
      {{[](M& m) { m.header.frame_id[0] = '\xff'; }, malformed, "frame_id"},
       {[](M& m) { m.header.frame_id[31] = 'x'; }, malformed, "frame_id"},
       {[](M& m) { m.width = 0; }, malformed, "width"},
       {[](M& m) { m.height = 0; }, malformed, "height"},
       {[](M& m) { m.width = 65536; }, malformed, "65536"},
       {[](M& m) { m.height = UINT32_MAX; }, malformed, "height"},
       {[](M& m) { m.encoding = static_cast<ImageEncoding>(32); }, malformed, "32"},
       {[](M& m) { m.encoding = static_cast<ImageEncoding>(255); }, malformed, "encoding"},
       {[](M& m) { m.encoding = ImageEncoding::rgb8; }, malformed, "plane_count"},
       {[](M& m) { m.encoding = ImageEncoding::i420; }, malformed, "plane_count"},
       {[](M& m) { m.plane_count = 0; }, malformed, "plane_count"},
       {[](M& m) { m.plane_count = 1; }, malformed, "plane_count"},
       {[](M& m) { m.plane_count = 255; }, malformed, "plane_count"},
       {[](M& m) { m.reserved[0] = 1; }, malformed, "reserved"},
       {[](M& m) { m.reserved[1] = 1; }, malformed, "reserved"},
       {[](M& m) { m.colorimetry.space = static_cast<ColorSpace>(5); }, malformed, "colorimetry"},
       {[](M& m) { m.colorimetry.transfer = static_cast<ColorTransfer>(6); }, malformed,
        "colorimetry"},
       {[](M& m) { m.colorimetry.encoding = static_cast<ColorEncoding>(4); }, malformed,
        "colorimetry"},
       {[](M& m) { m.colorimetry.range = static_cast<ColorRange>(3); }, malformed, "colorimetry"},
       {[](M& m) { m.planes[0].stride_bytes = 0; }, malformed, "planes"},
       {[](M& m) { m.planes[2].stride_bytes = 1; }, malformed, "planes"},
       {[](M& m) { m.planes[2].offset_bytes = 1; }, malformed, "planes"},
       {[](M& m) { m.plane_stride_bytes = 64; }, malformed, "plane_stride"},
       {[](M& m) { m.planes[0].offset_bytes = -1; }, corrupt, "before"},
       {[](M& m) { m.planes[1].offset_bytes = INT64_MIN; }, corrupt, "before"},
       {[](M& m) { m.planes[1].offset_bytes = INT64_MAX; }, corrupt, "planes"},
       {[](M& m) { m.planes[1].offset_bytes = 0; }, corrupt, "overlap"},
       {[](M& m) { m.planes[1].offset_bytes += 100000; }, corrupt, "buffer"},
       {[](M& m) { m.planes[0].stride_bytes = 15; }, corrupt, "stride"},
       {[](M& m) { m.planes[1].stride_bytes = UINT64_MAX; }, corrupt, "planes"},
       {[](M& m) { m.planes[1].stride_bytes = std::uint64_t{1} << 62; }, corrupt, "planes"},
       {[](M& m) { m.height = 65535; }, corrupt, "planes"},
       {[](M& m) {
          m.encoding = ImageEncoding::mono16;
          m.plane_count = 1;
          m.planes[1] = {};
        },
        corrupt, "dtype"}});
  const Image planar =
      *Image::wrap(*Tensor::create_image(16, 8, PixelFormat::planar_rgb, DType::u8, Memory::mem));
  expect_refusals<Image, M>(
      planar, {{[](M& m) { m.plane_stride_bytes = 0; }, malformed, "plane_stride"},
               {[](M& m) { m.plane_stride_bytes = 127; }, corrupt, "plane_stride"},
               {[](M& m) { m.plane_stride_bytes = 129; }, corrupt, "buffer"},
               {[](M& m) { m.plane_stride_bytes = UINT64_MAX; }, corrupt, "plane_stride"}});
}

TEST(PointCloudParts, are_refused_field_by_field) {
  using M = PointCloudMetadata;
  constexpr auto malformed = Errc::malformed;
  constexpr auto corrupt = Errc::corrupt;
  const PointCloud cloud = *PointCloud::wrap(*Tensor::create(DType::f32, {4, 5, 3}, Memory::mem));
  expect_refusals<PointCloud, M>(
      cloud,
      {{[](M& m) { m.header.frame_id[3] = 'x'; }, malformed, "frame_id"},
       {[](M& m) { m.height = 0; }, malformed, "height"},
       {[](M& m) { m.field_count = 0; }, malformed, "field_count"},
       {[](M& m) { m.field_count = 17; }, malformed, "17"},
       {[](M& m) { m.field_count = UINT32_MAX; }, malformed, "field_count"},
       {[](M& m) { m.field_count = 2; }, malformed, "fields"},
       {[](M& m) { m.field_count = 4; }, malformed, "name"},
       {[](M& m) { m.is_dense = 2; }, malformed, "is_dense"},
       {[](M& m) { m.reserved[6] = 1; }, malformed, "reserved"},
       {[](M& m) { m.fields[1].name_bytes[0] = 0; }, malformed, "name"},
       {[](M& m) { m.fields[1].name_bytes[0] = '\x80'; }, malformed, "name"},
       {[](M& m) { m.fields[1].name_bytes[15] = 'x'; }, malformed, "name"},
       {[](M& m) { std::memset(m.fields[1].name_bytes, 'x', 16); }, malformed, "name"},
       {[](M& m) { m.fields[1].name_bytes[0] = 'x'; }, malformed, "unique"},
       {[](M& m) { m.fields[1].datatype = PointDatatype{}; }, malformed, "datatype"},
       {[](M& m) { m.fields[1].datatype = static_cast<PointDatatype>(9); }, malformed, "datatype"},
       {[](M& m) { m.fields[1].count = 0; }, malformed, "count"},
       {[](M& m) { m.fields[1].count = UINT32_MAX; }, malformed, "exceeds"},
       {[](M& m) { m.fields[1].offset = UINT32_MAX; }, malformed, "exceeds"},
       {[](M& m) { m.fields[2].offset = 9; }, malformed, "exceeds"},
       {[](M& m) { m.fields[1].reserved[2] = 1; }, malformed, "reserved"},
       {[](M& m) { m.fields[15].count = 1; }, malformed, "fields"},
       {[](M& m) { m.point_step = 0; }, malformed, "exceeds"},
       {[](M& m) { m.point_step = 11; }, malformed, "exceeds"},
       {[](M& m) { m.row_step = 59; }, malformed, "row_step"},
       {[](M& m) { m.row_step = UINT64_MAX; }, malformed, "row_step"},
       {[](M& m) { m.row_step = std::uint64_t{PTRDIFF_MAX}; }, corrupt, "tensor"},
       {[](M& m) { m.row_step = 61; }, corrupt, "tensor"},
       {[](M& m) { m.height = 5; }, corrupt, "tensor"},
       {[](M& m) { m.height = UINT32_MAX; }, corrupt, "tensor"},
       {[](M& m) {
          m.width = UINT32_MAX;
          m.height = 1;
        },
        corrupt, "tensor"},
       {[](M& m) {
          m.width = 5;
          m.point_step = 13;
          m.row_step = 65;
        },
        corrupt, "tensor"}});
}

TEST(DepthImageParts, are_refused_field_by_field) {
  using M = DepthImageMetadata;
  constexpr auto malformed = Errc::malformed;
  constexpr auto corrupt = Errc::corrupt;
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const DepthImage image = *DepthImage::wrap(*Tensor::create(DType::u16, {6, 9}, Memory::mem));
  expect_refusals<DepthImage, M>(
      image, {{[](M& m) { m.header.frame_id[1] = 'x'; }, malformed, "frame_id"},
              {[](M& m) { m.width = 0; }, malformed, "width"},
              {[](M& m) { m.height = 65536; }, malformed, "height"},
              {[](M& m) { m.depth_scale = 0; }, malformed, "depth_scale"},
              {[](M& m) { m.depth_scale = -1; }, malformed, "depth_scale"},
              {[](M& m) { m.depth_scale = none; }, malformed, "depth_scale"},
              {[](M& m) { m.depth_scale = infinite; }, malformed, "depth_scale"},
              {[](M& m) { m.min_depth = none; }, malformed, "min_depth"},
              {[](M& m) { m.min_depth = -1; }, malformed, "min_depth"},
              {[](M& m) { m.max_depth = none; }, malformed, "max_depth"},
              {[](M& m) {
                 m.min_depth = 2;
                 m.max_depth = 1;
               },
               malformed, "max_depth"},
              {[](M& m) { m.reserved = 1; }, malformed, "reserved"},
              {[](M& m) { m.step = UINT64_MAX; }, malformed, "step"},
              {[](M& m) { m.step = 17; }, corrupt, "step"},
              {[](M& m) { m.step = 16; }, corrupt, "step"},
              {[](M& m) { m.step = 20; }, corrupt, "tensor"},
              {[](M& m) { m.height = 7; }, corrupt, "tensor"},
              {[](M& m) { m.width = 65535; }, corrupt, "step"}});
  EXPECT_FAILS(DepthImage::from_parts(*Tensor::create(DType::u8, {60, 90}), image.metadata()),
               Errc::corrupt);
}

TEST(Parts, of_tensors_that_are_not_in_rows_are_refused) {
  const Tensor tensor = *Tensor::create(DType::u16, {8, 9}, Memory::mem);
  const AxisRange upwards[] = {{7, 8, -1, true}};
  const Tensor mirrored = *tensor.part(upwards);
  EXPECT_FAILS(DepthImage::from_parts(mirrored, DepthImage::wrap(tensor)->metadata()),
               Errc::corrupt);
  EXPECT_FAILS(PointCloud::from_parts(mirrored, PointCloud::wrap(tensor)->metadata()),
               Errc::corrupt);
  Tensor tiled = nv12().tensor();
  tiled.set_modifier(1);
  EXPECT_FAILS(Image::from_parts(tiled, nv12().metadata()), Errc::unsupported);
  EXPECT_FAILS(PointCloud::from_parts(nv12().tensor(), PointCloud::wrap(tensor)->metadata()),
               Errc::invalid_argument);
}

// ---- frames of topics: copied ones lie without gaps ----

TEST(Frames, of_images_keep_their_own_planes) {
  const Tensor wide = *Tensor::create_image(16, 8, PixelFormat::nv12, DType::u8, Memory::mem);
  const Image part = *Image::wrap(wide)->roi({2, 2, 9, 5});
  const Tensor tight = *Tensor::create_image(9, 5, PixelFormat::nv12, DType::u8, Memory::mem);
  const auto image = value_of(Image::from_frame(tight, part.metadata()));
  EXPECT_EQ(image.step(), tight.row_stride_bytes());
  EXPECT_EQ(image.tensor().buffer(), tight.buffer());
  EXPECT_FAILS(Image::from_frame(wide, part.metadata()), Errc::corrupt);
  const Tensor other = *Tensor::create_image(9, 5, PixelFormat::nv21, DType::u8, Memory::mem);
  EXPECT_FAILS(Image::from_frame(other, part.metadata()), Errc::corrupt);
  ImageMetadata bad = part.metadata();
  bad.reserved[0] = 1;
  EXPECT_FAILS(Image::from_frame(tight, bad), Errc::malformed);
  EXPECT_FAILS(Image::from_frame(Tensor(), part.metadata()), Errc::invalid_argument);
}

TEST(Frames, of_clouds_and_depths_have_their_own_strides) {
  const Tensor points = *Tensor::create(DType::f32, {6, 7, 5}, Memory::mem);
  const AxisRange some[] = {AxisRange::all(6), AxisRange::all(7), {0, 3, 1, true}};
  const PointCloud spread = *PointCloud::wrap(*points.part(some));
  ASSERT_EQ(spread.point_step(), 20U);
  const auto cloud =
      value_of(PointCloud::from_frame(*Tensor::create(DType::f32, {6, 7, 3}), spread.metadata()));
  EXPECT_EQ(cloud.point_step(), 12U);
  EXPECT_EQ(cloud.row_step(), 84U);
  EXPECT_TRUE(PointCloud::from_frame(*points.part(some), spread.metadata()));
  EXPECT_EQ(
      code_of(PointCloud::from_frame(*Tensor::create(DType::f32, {6, 6, 3}), spread.metadata())),
      Errc::corrupt);
  EXPECT_EQ(
      code_of(PointCloud::from_frame(*Tensor::create(DType::f32, {6, 7, 2}), spread.metadata())),
      Errc::malformed);
  const Tensor units = *Tensor::create(DType::u16, {6, 9}, Memory::mem);
  const AxisRange columns[] = {AxisRange::all(6), {0, 4, 1, true}};
  const DepthImage depths = *DepthImage::wrap(*units.part(columns));
  ASSERT_EQ(depths.step(), 18U);
  EXPECT_EQ(DepthImage::from_frame(*Tensor::create(DType::u16, {6, 4}), depths.metadata())->step(),
            8U);
  EXPECT_FAILS(DepthImage::from_frame(*Tensor::create(DType::u16, {6, 3}), depths.metadata()),
               Errc::corrupt);
  const AxisRange upwards[] = {{5, 6, -1, true}, {0, 4, 1, true}};
  EXPECT_FAILS(DepthImage::from_frame(*units.part(upwards), depths.metadata()), Errc::malformed);
}

// ---- random bytes ----

// A tensor whose memory ends where its elements end, so that a byte too far is noticed.
Tensor exact(DType dtype, std::initializer_list<std::size_t> shape) {
  const Layout layout =
      *Layout::contiguous(dtype, std::span<const std::size_t>(shape.begin(), shape.size()));
  auto memory = std::make_shared<std::vector<std::byte>>(layout.size_bytes());
  return *Tensor::wrap(*wrap_object(std::span(*memory), memory), layout);
}

// Some bytes become any bytes; small numbers are likely, for they get farther.
template <class Metadata>
void spoil(Metadata& metadata, std::mt19937& random) {
  auto* const bytes = reinterpret_cast<unsigned char*>(&metadata);
  const std::size_t skip = random() % 8 == 0 ? 0 : sizeof(SensorHeader);
  for (std::size_t i = 1 + random() % 3; i > 0; --i) {
    const std::size_t at = skip + random() % (sizeof metadata - skip);
    bytes[at] = static_cast<unsigned char>(random() % 3 == 0 ? random() : random() % 40);
  }
}

TEST(Parts, of_random_bytes_are_refused_or_safe) {
  std::mt19937 random(31);
  const Tensor bytes = exact(DType::u8, {12, 16});
  int taken = 0;
  for (int round = 0; round < 60000; ++round) {
    const ImageEncodingInfo& row = all_encodings()[random() % all_encodings().size()];
    const auto image =
        Image::wrap(*Tensor::create_image(8, 4, row.format, row.dtype, Memory::mem), row.encoding);
    ImageMetadata m = image->metadata();
    for (auto& plane : m.planes)
      plane.stride_bytes = plane.stride_bytes == 64 ? 8 : plane.stride_bytes;
    if (m.plane_count > 1) m.planes[1].offset_bytes = 32;
    if (m.plane_count > 2) m.planes[2].offset_bytes = 48;
    spoil(m, random);
    auto made = Image::from_parts(bytes, m);
    if (!made) continue;
    ++taken;
    const auto all =
        made->copy_roi({0, 0, static_cast<int>(made->width()), static_cast<int>(made->height())});
    EXPECT_TRUE(all);
    (void)made->pixel(made->width() - 1, made->height() - 1);
    EXPECT_TRUE(made->copy_from(*all));
  }
  EXPECT_GT(taken, 300);
}

TEST(Parts, of_random_clouds_are_refused_or_safe) {
  std::mt19937 random(32);
  const Tensor tensor = exact(DType::f32, {3, 5, 6});
  const PointCloud cloud = *PointCloud::wrap(tensor);
  int taken = 0;
  for (int round = 0; round < 60000; ++round) {
    PointCloudMetadata m = cloud.metadata();
    spoil(m, random);
    const auto made = PointCloud::from_parts(tensor, m);
    if (!made) continue;
    ++taken;
    (void)made->extract_xyz();
    if (made->point_count() > 0) {
      const auto last = value_of(made->point_at(made->point_count() - 1));
      std::vector<std::byte> copied(last.begin(), last.end());
    }
    for (const PointField& f : made->fields()) {
      const auto numbers = made->field_rows<float>(f.name());
      if (!numbers || numbers->empty()) continue;
      (*numbers)(made->height() - 1, made->width() - 1) += 1;
    }
  }
  EXPECT_GT(taken, 300);
}

TEST(Parts, of_random_depths_are_refused_or_safe) {
  std::mt19937 random(33);
  const Tensor units = exact(DType::u16, {7, 11});
  const Tensor meters = exact(DType::f32, {7, 11});
  int taken = 0;
  for (int round = 0; round < 60000; ++round) {
    const Tensor& tensor = round % 2 == 0 ? units : meters;
    DepthImageMetadata m = DepthImage::wrap(tensor)->metadata();
    spoil(m, random);
    auto made = DepthImage::from_parts(tensor, m);
    if (!made) continue;
    ++taken;
    EXPECT_TRUE(made->depth_statistics());
    EXPECT_TRUE(made->get_depth(made->width() - 1, made->height() - 1));
    (void)made->set_depth(made->width() - 1, made->height() - 1, 1.5F);
    EXPECT_TRUE(made->as_image());
  }
  EXPECT_GT(taken, 300);
}

}  // namespace
}  // namespace halyard
