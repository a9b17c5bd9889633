// SPDX-License-Identifier: Apache-2.0
// Videos in other pixel formats than 8-bit 4:2:0, made by FFmpeg's lossless encoder, and videos
// that lie on their side.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "capture/media.h"
#include "capture/video.h"
#include "halyard/capture.h"
#include "support/product.h"

#ifdef HALYARD_HAVE_FFMPEG
#include "capture/ffmpeg/display_matrix.h"
#include "capture/ffmpeg/eight_bits.h"
#include "capture/ffmpeg/ffmpeg.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Folder;
using test::numbered_image;

constexpr int width = 34;
constexpr int height = 18;

struct Case {
  AVPixelFormat theirs;
  PixelFormat ours;
  int depth;
  AVColorRange range = AVCOL_RANGE_MPEG;
};

// The stored number of component c at (x, y): all values of the depth come about.
int stored(int c, int x, int y, int depth) {
  return (x * 37 + y * 101 + c * 59 + x * y) * (depth > 8 ? 5 : 1) % (1 << depth);
}

int expected(const Case& c, int component, int value) {
  if (c.depth == 8) return value;
  const double steps = (1 << c.depth) - 1;
  const bool is_chroma = component > 0 && info(c.ours).model == ColorModel::yuv;
  const bool is_full = c.range == AVCOL_RANGE_JPEG || info(c.ours).model == ColorModel::rgb;
  const double half = is_chroma ? 1 << (c.depth - 1) : 0;
  const double real = is_full ? (value - half) * 255 / steps + (is_chroma ? 128 : 0)
                              : value / static_cast<double>(1 << (c.depth - 8));
  return static_cast<int>(std::clamp(std::floor(real + 0.5), 0.0, 255.0));
}

/// Width and height of a component's samples.
std::pair<int, int> extent(const AVPixFmtDescriptor& d, int c) {
  const bool is_chroma = (c == 1 || c == 2) && (d.flags & AV_PIX_FMT_FLAG_RGB) == 0;
  if (!is_chroma) return {width, height};
  return {-((-width) >> d.log2_chroma_w), -((-height) >> d.log2_chroma_h)};
}

capture::FramePtr filled(const Case& c) {
  capture::FramePtr frame(av_frame_alloc());
  frame->width = width;
  frame->height = height;
  frame->format = c.theirs;
  frame->color_range = c.range;
  frame->colorspace = AVCOL_SPC_BT709;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(c.theirs);
  for (int i = 0; i < d.nb_components; ++i) {
    const AVComponentDescriptor& part = d.comp[i];
    const auto [columns, rows] = extent(d, i);
    for (const auto [y, x] : test::grid(rows, columns)) {
      std::uint8_t* at =
          frame->data[part.plane] + y * frame->linesize[part.plane] + x * part.step + part.offset;
      const int value = stored(i, x, y, c.depth) << part.shift;
      at[0] = static_cast<std::uint8_t>(value & 255);
      if (c.depth > 8) at[1] = static_cast<std::uint8_t>(value >> 8);
    }
  }
  return frame;
}

/// A file of one frame, lossless.
void write_clip(const std::string& path, const Case& c) {
  ASSERT_TRUE(capture::load_ffmpeg());
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_FFV1);
  ASSERT_NE(codec, nullptr);
  const capture::FramePtr frame = filled(c);
  frame->pts = 0;
  AVFormatContext* made = nullptr;
  ASSERT_GE(avformat_alloc_output_context2(&made, nullptr, "matroska", path.c_str()), 0);
  const capture::OutputPtr file(made);
  const capture::CodecPtr encoder(avcodec_alloc_context3(codec));
  encoder->width = width;
  encoder->height = height;
  encoder->pix_fmt = c.theirs;
  encoder->time_base = {1, 25};
  encoder->color_range = c.range;
  encoder->colorspace = AVCOL_SPC_BT709;
  ASSERT_GE(avcodec_open2(encoder.get(), codec, nullptr), 0);
  AVStream* stream = avformat_new_stream(file.get(), nullptr);
  ASSERT_GE(avcodec_parameters_from_context(stream->codecpar, encoder.get()), 0);
  stream->time_base = encoder->time_base;
  ASSERT_GE(avio_open(&file->pb, path.c_str(), AVIO_FLAG_WRITE), 0);
  ASSERT_GE(avformat_write_header(file.get(), nullptr), 0);
  const capture::PacketPtr packet(av_packet_alloc());
  ASSERT_EQ(avcodec_send_frame(encoder.get(), frame.get()), 0);
  ASSERT_EQ(avcodec_send_frame(encoder.get(), nullptr), 0);
  while (avcodec_receive_packet(encoder.get(), packet.get()) == 0) {
    av_packet_rescale_ts(packet.get(), encoder->time_base, stream->time_base);
    ASSERT_GE(av_interleaved_write_frame(file.get(), packet.get()), 0);
  }
  ASSERT_GE(av_write_trailer(file.get()), 0);
  avio_closep(&file->pb);
}

/// Sample (x, y) of component `c` as the tensor has it.
int sample(const TensorMap& map, PixelFormat format, int c, int x, int y) {
  const FormatInfo& row = info(format);
  const std::size_t plane = std::min<std::size_t>(static_cast<std::size_t>(c), row.planes - 1U);
  const bool is_pair = row.kind == FormatKind::semi_planar && plane == 1;
  const int step = is_pair ? 2 : row.channels;
  const int offset = is_pair ? c - 1 : row.planes == 1 ? c : 0;
  const MappedPlane& mapped = map.plane(plane);
  return std::to_integer<int>(mapped.data[static_cast<std::size_t>(y) * mapped.stride_bytes +
                                          static_cast<std::size_t>(x * step + offset)]);
}

void expect_samples(const Tensor& image, const Case& c) {
  ASSERT_EQ(image.format(), c.ours);
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(c.theirs);
  const auto map = *image.map(Access::read);
  const int count = info(c.ours).model == ColorModel::yuv ? 3 : info(c.ours).channels;
  for (int i = 0; i < count; ++i) {
    const auto [columns, rows] = extent(d, i);
    for (const auto [y, x] : test::grid(rows, columns))
      ASSERT_EQ(sample(map, c.ours, i, x, y), expected(c, i, stored(i, x, y, c.depth)))
          << av_get_pix_fmt_name(c.theirs) << " component " << i << " at " << x << "," << y;
  }
}

TEST(VideoFormats, other_samplings_and_depths_are_read) {
  const Folder folder;
  const std::vector<Case> cases = {
      {AV_PIX_FMT_YUV422P, F::nv16, 8},
      {AV_PIX_FMT_YUV444P, F::nv24, 8},
      {AV_PIX_FMT_YUV420P10LE, F::i420, 10},
      {AV_PIX_FMT_YUV422P10LE, F::nv16, 10},
      {AV_PIX_FMT_YUV444P10LE, F::nv24, 10},
      {AV_PIX_FMT_YUV420P10LE, F::i420, 10, AVCOL_RANGE_JPEG},
      {AV_PIX_FMT_YUV444P12LE, F::nv24, 12},
      {AV_PIX_FMT_GRAY10LE, F::grey, 10},
      {AV_PIX_FMT_GBRP10LE, F::rgb, 10},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(av_get_pix_fmt_name(c.theirs));
    write_clip(folder / "clip.mkv", c);
    ASSERT_VALUE(auto source, FrameSource::open(folder / "clip.mkv"));
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame);
    expect_samples(frame->image, c);
    if (info(c.ours).model == ColorModel::yuv) {
      EXPECT_EQ(frame->image.colorimetry().encoding, ColorEncoding::bt709);
      EXPECT_EQ(frame->image.colorimetry().range,
                c.range == AVCOL_RANGE_JPEG ? ColorRange::full : ColorRange::limited);
    }
  }
}

TEST(VideoFormats, samples_in_pairs_with_bits_above_are_read) {
  ASSERT_TRUE(capture::load_ffmpeg());
  const Case c{AV_PIX_FMT_P010LE, F::i420, 10};
  ASSERT_VALUE(const auto image, capture::to_eight_bits(*filled(c), "clip"));
  expect_samples(image, c);
}

TEST(VideoFormats, what_has_no_format_of_ours_is_told_by_name) {
  ASSERT_TRUE(capture::load_ffmpeg());
  for (const AVPixelFormat format : {AV_PIX_FMT_YUV411P, AV_PIX_FMT_YUV440P, AV_PIX_FMT_PAL8,
                                     AV_PIX_FMT_YUV420P10BE, AV_PIX_FMT_GRAYF32LE})
    EXPECT_FALSE(capture::eight_bit_format(format)) << av_get_pix_fmt_name(format);
}

TEST(VideoFormats, limits_count_the_bytes_of_the_tensor) {
  const Folder folder;
  write_clip(folder / "clip.mkv", {AV_PIX_FMT_YUV444P, F::nv24, 8});
  FrameSourceOptions options;
  options.load.limits.max_bytes = width * height * 3 - 1;
  EXPECT_FALSE(FrameSource::open(folder / "clip.mkv", options));
  options.load.limits.max_bytes += 1;
  EXPECT_TRUE(FrameSource::open(folder / "clip.mkv", options));
}

TEST(VideoOrientation, every_orientation_goes_through_a_file) {
  const Folder folder;
  for (const Flip flip : {Flip::none, Flip::horizontal})
    for (int turn = 0; turn < 4; ++turn) {
      const Orientation orientation{flip, static_cast<Rotation>(turn)};
      for (const char* name : {"clip.mp4", "clip.mov"}) {
        auto writer = *VideoWriter::create(folder / name, {128, 96}, 25);
        Tensor image = numbered_image(7);
        image.set_orientation(orientation);
        ASSERT_TRUE(writer.write(image));
        ASSERT_OK(writer.finish());
        const auto frame = FrameSource::open(folder / name)->next();
        ASSERT_TRUE(frame && *frame);
        // A mirror and a turn have two names; what they do is the same.
        EXPECT_EQ(then((*frame)->image.orientation(), inverse(orientation)), Orientation{})
            << static_cast<int>(flip) << " " << turn;
        EXPECT_EQ((*frame)->image.upright_size(), image.upright_size());
      }
    }
}

TEST(VideoOrientation, writer_refuses_what_the_file_cannot_say) {
  const Folder folder;
  Tensor rotated = numbered_image(1);
  rotated.set_orientation({Flip::none, Rotation::cw90});
  auto other = *VideoWriter::create(folder / "clip.mkv", {128, 96}, 25);
  EXPECT_FAILS(other.write(rotated), Errc::unsupported, "upright");
  auto writer = *VideoWriter::create(folder / "clip.mp4", {128, 96}, 25);
  ASSERT_TRUE(writer.write(numbered_image(0)));
  EXPECT_FALSE(writer.write(rotated));
  ASSERT_TRUE(writer.write(numbered_image(1)));
  EXPECT_TRUE(writer.finish());
}

TEST(VideoOrientation, matrices_that_are_no_quarter_turns_are_left_out) {
  const std::array<std::int32_t, 9> slanted{46341, 46341, 0, -46341, 46341, 0, 0, 0, 1 << 30};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(slanted.data());
  EXPECT_EQ(capture::orientation_of_matrix({bytes, sizeof slanted}), Orientation{});
  EXPECT_EQ(capture::orientation_of_matrix({bytes, 8}), Orientation{});
}

}  // namespace
}  // namespace halyard

#endif
