// SPDX-License-Identifier: Apache-2.0
// Every layout of the list, in every element type, equals a plain decode; docs/decode.md shows it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "halyard/semantic.h"
#include "head_reference.h"
#include "test_paths.h"

namespace halyard::test {
namespace {

// A threshold that no score is near: rounding must not decide who is in the list.
float threshold_for(const std::vector<PlainDetection>& all) {
  for (float threshold = 0.3F; threshold < 0.5F; threshold += 0.0037F) {
    const auto is_near = [&](const PlainDetection& d) {
      return std::abs(d.score - static_cast<double>(threshold)) < 2e-5;
    };
    if (std::none_of(all.begin(), all.end(), is_near)) return threshold;
  }
  ADD_FAILURE() << "scores everywhere";
  return 0.3F;
}

void expect_same(const Decoded& out, std::size_t i, const PlainDetection& plain) {
  const Detection& d = out.detections[i];
  EXPECT_EQ(d.label, plain.label);
  EXPECT_NEAR(d.score, plain.score, 1e-5);
  EXPECT_NEAR(d.box.x1, plain.x1, 2e-3);
  EXPECT_NEAR(d.box.y1, plain.y1, 2e-3);
  EXPECT_NEAR(d.box.x2, plain.x2, 2e-3);
  EXPECT_NEAR(d.box.y2, plain.y2, 2e-3);
  ASSERT_EQ(out.rotated.empty(), plain.rotated.empty());
  if (!plain.rotated.empty()) {
    const RotatedBox& r = out.rotated[i];
    const float rotated[] = {r.cx, r.cy, r.width, r.height, r.angle};
    for (std::size_t k = 0; k < 5; ++k)
      EXPECT_NEAR(rotated[k], plain.rotated[k], 2e-3);
  }
  ASSERT_EQ(3 * out.keypoints_each, plain.points.size());
  for (std::size_t p = 0; p < out.keypoints_each; ++p) {
    const Keypoint& point = out.keypoints[i * out.keypoints_each + p];
    EXPECT_NEAR(point.at.x, plain.points[3 * p], 2e-3);
    EXPECT_NEAR(point.at.y, plain.points[3 * p + 1], 2e-3);
    EXPECT_NEAR(point.score, plain.points[3 * p + 2], 1e-5);
  }
  ASSERT_EQ(out.masks.channels, plain.masks.size());
  for (std::size_t k = 0; k < out.masks.channels; ++k)
    EXPECT_EQ(out.masks.coefficients[i * out.masks.channels + k], plain.masks[k]);
}

void expect_boxes(const HeadLayout& layout, const HeadValues& values, std::size_t image) {
  const auto all = PlainHead(layout, values, image).all();
  const float threshold = threshold_for(all);
  const DecodeOptions options{.score_threshold = threshold, .nms = Nms::none, .max_detections = 0};
  const Decoded out = decode_all(layout.description, values.tensors(), options, image);
  const auto passes = [&](const PlainDetection& d) {
    return d.score >= static_cast<double>(threshold);
  };
  const auto count = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), passes));
  EXPECT_GE(count, 3U) << "nothing to compare";
  ASSERT_EQ(out.detections.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& plain = all.at(static_cast<std::size_t>(out.detections[i].anchor));
    EXPECT_TRUE(passes(plain));
    if (i > 0) {
      EXPECT_GE(out.detections[i - 1].score, out.detections[i].score);
    }
    expect_same(out, i, plain);
  }
  if (out.masks.channels == 0) return;
  MaskSet masks;
  EXPECT_OK(materialize(out.masks, out.detections, {}, masks));
  EXPECT_EQ(masks.size(), count);
}

void expect_classes(const HeadLayout& layout, const HeadValues& values, std::size_t image) {
  const std::vector<float> plain = PlainHead(layout, values, image).classes();
  const DecodeOptions options{.top_classes = 0};
  const Decoded out = decode_all(layout.description, values.tensors(), options, image);
  ASSERT_EQ(out.classes.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(out.classes[i].score, plain[static_cast<std::size_t>(out.classes[i].label)], 1e-6);
    if (i > 0) {
      EXPECT_GE(out.classes[i - 1].score, out.classes[i].score);
    }
  }
}

void expect_plain(const HeadLayout& layout, std::span<const DType> types, bool by_channel,
                  std::size_t images) {
  SCOPED_TRACE(std::string(to_string(types[0])) + (by_channel ? ", by channel" : "") + ", batch " +
               std::to_string(images));
  const HeadValues values(layout, types, by_channel, images);
  const bool is_classifier = layout.description.outputs[0].role == OutputRole::classification;
  for (std::size_t p = 0; p < images; ++p)
    is_classifier ? expect_classes(layout, values, p) : expect_boxes(layout, values, p);
}

class DecodedHeads : public ::testing::TestWithParam<std::size_t> {
 protected:
  const HeadLayout layout_ = head_layouts()[GetParam()];
};

TEST_P(DecodedHeads, equal_the_plain_decode_in_every_type) {
  SCOPED_TRACE(layout_.head + " " + layout_.layout);
  for (const DType type : layout_types) {
    for (const std::size_t images : {1U, 2U})
      expect_plain(layout_, {&type, 1}, false, images);
  }
}

TEST_P(DecodedHeads, equal_the_plain_decode_with_a_scale_for_each_feature) {
  SCOPED_TRACE(layout_.head + " " + layout_.layout);
  for (const DType type : {DType::i8, DType::u8, DType::i16, DType::u16}) {
    for (const std::size_t images : {1U, 2U})
      expect_plain(layout_, {&type, 1}, true, images);
  }
}

TEST_P(DecodedHeads, equal_the_plain_decode_where_tensors_have_different_types) {
  SCOPED_TRACE(layout_.head + " " + layout_.layout);
  constexpr DType mixes[][3] = {{DType::i8, DType::f16, DType::u16},
                                {DType::f32, DType::u8, DType::i16},
                                {DType::i16, DType::bf16, DType::i8}};
  for (const auto& mix : mixes)
    expect_plain(layout_, mix, true, 2);
}

INSTANTIATE_TEST_SUITE_P(All, DecodedHeads,
                         ::testing::Range(std::size_t{0}, head_layouts().size()));

// ---- images of classes ---------------------------------------------------------------------

struct MapLayout {
  const char* text;
  SemanticLayout layout;
  std::vector<std::size_t> shape;
  std::size_t channel_axis;
};

const MapLayout map_layouts[] = {
    {"scores `[1, C, H, W]`", SemanticLayout::classes_first, {1, 5, 6, 7}, 1},
    {"scores `[1, H, W, C]`", SemanticLayout::classes_last, {1, 6, 7, 5}, 3}};

bool maps_like_plain(const MapLayout& layout, DType type, bool by_channel, std::size_t images) {
  constexpr std::size_t channels = 5, pixels = 42;
  auto shape = layout.shape;
  shape[0] = images;
  std::mt19937 random(5);
  std::vector<float> values(images * channels * pixels);
  for (float& v : values)
    v = std::normal_distribution<float>(0, 2)(random);
  const Stored stored =
      store(shape, values, type, by_channel ? std::optional(layout.channel_axis) : std::nullopt);
  bool good = true;
  for (std::size_t p = 0; p < images; ++p) {
    Tensor out = *Tensor::create(DType::u8, {6, 7}, Memory::mem);
    const SemanticOptions options{.layout = layout.layout, .batch = p};
    if (!semantic_map(stored.tensor, options, out)) return false;
    const auto map = out.map(Access::read);
    for (std::size_t i = 0; i < pixels; ++i) {
      std::size_t best = 0;
      const auto at = [&](std::size_t c) {
        return stored.real[p * channels * pixels +
                           (layout.channel_axis == 1 ? c * pixels + i : i * channels + c)];
      };
      for (std::size_t c = 1; c < channels; ++c)
        best = at(c) > at(best) ? c : best;
      good = good && std::to_integer<std::size_t>(map->data()[i]) == best;
    }
  }
  return good;
}

// ---- the page --------------------------------------------------------------------------------

bool decodes(const HeadLayout& layout, DType type, bool by_channel, std::size_t images) {
  const HeadValues values(layout, {&type, 1}, by_channel, images);
  const auto decoder = Decoder::create(layout.description);
  return decoder && bool(decoder->decode(values.tensors(), images - 1));
}

// `works(type, by_channel, images)`; "yes" where it does for every type.
template <class Works>
std::string row(const std::string& head, const std::string& layout, Works works) {
  std::string types;
  bool by_channel = true, two = true;
  for (const DType type : layout_types) {
    const bool is_integer = type != DType::f32 && type != DType::f16 && type != DType::bf16;
    if (works(type, false, 1)) types += (types.empty() ? "" : " ") + std::string(to_string(type));
    by_channel = by_channel && (!is_integer || works(type, true, 1));
    two = two && works(type, false, 2);
  }
  return "| " + head + " | " + layout + " | " + (types.empty() ? "no" : types) + " | " +
         (by_channel ? "yes" : "no") + " | " + (two ? "yes" : "no") + " |\n";
}

std::string table() {
  std::string out =
      "| Head | Tensors | Types | A scale per feature | Batch of 2 |\n|---|---|---|---|---|\n";
  for (const HeadLayout& layout : head_layouts()) {
    out += row(layout.head, layout.layout, [&](DType type, bool by_channel, std::size_t images) {
      return decodes(layout, type, by_channel, images);
    });
  }
  for (const MapLayout& layout : map_layouts) {
    out += row("class maps", layout.text, [&](DType type, bool by_channel, std::size_t images) {
      return maps_like_plain(layout, type, by_channel, images);
    });
  }
  return out;
}

TEST(HeadTable, the_page_shows_what_decodes) {
  const std::string path = std::string(HALYARD_SOURCE_DIR) + "/docs/decode.md";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string page = text.str();
  const std::string begin = "<!-- heads: begin -->\n";
  const std::size_t from = page.find(begin), to = page.find("<!-- heads: end -->");
  ASSERT_NE(from, std::string::npos) << path;
  ASSERT_NE(to, std::string::npos) << path;
  const std::string wanted = page.substr(0, from + begin.size()) + table() + page.substr(to);
  EXPECT_EQ(wanted.find(" no |"), std::string::npos) << "a head lost a type";
  if (page == wanted) return;
  const std::string rewritten = std::string(HALYARD_BINARY_DIR) + "/decode.md";
  std::ofstream(rewritten) << wanted;
  ADD_FAILURE() << "the table is out of date; to rewrite it: cp " << rewritten << " " << path;
}

}  // namespace
}  // namespace halyard::test
