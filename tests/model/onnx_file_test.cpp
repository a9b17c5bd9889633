// SPDX-License-Identifier: Apache-2.0
// ONNX files read without a runtime: wire bytes written here, damaged ones, and what the engine
// says of the same files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "halyard/model.h"
#include "model/onnx_file.h"
#include "model/wire_reader.h"
#include "onnx_writer.h"
#include "support/folder.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard::model {
namespace {

using test::Message;
using test::OnnxModel;
using Shape = std::vector<std::size_t>;

const std::string harbour = std::string(HALYARD_SOURCE_DIR) + "/examples/harbour/harbour.onnx";

class OnnxFileTest : public testing::Test {
 protected:
  const std::string& write(const std::string& bytes) {
    test::write_bytes(path_, bytes);
    return path_;
  }
  Result<OnnxFile> read(const std::string& bytes) { return read_onnx(write(bytes)); }
  void expect_refusal(const std::string& bytes, Errc code, const std::string& words) {
    EXPECT_FAILS(read(bytes), code, words) << words;
  }
  const test::Folder folder_;
  const std::string path_ = folder_ / "model.onnx";
};

Message dim(std::uint64_t extent) {
  return Message().number(1, extent);
}

/// A ValueInfoProto of this element type.
Message value(const std::string& name, std::uint64_t type, const std::vector<Message>& dims) {
  Message shape;
  for (const Message& each : dims)
    shape.nested(1, each);
  const Message tensor = Message().number(1, type).nested(2, shape);
  return Message().text(1, name).nested(2, Message().nested(1, tensor));
}

std::string model_of(const Message& graph) {
  return Message().number(1, 8).nested(7, graph).bytes();
}

TEST_F(OnnxFileTest, gives_metadata_names_shapes_and_types) {
  Message graph;
  graph.nested(11, value("images", 1, {dim(1), dim(3), dim(4), dim(6)}));
  constexpr std::array types{1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16};
  for (const int type : types)
    graph.nested(12, value("out" + std::to_string(type), static_cast<std::uint64_t>(type),
                           {dim(2), dim(1000000)}));
  graph.nested(12, value("scalar", 1, {}));
  Message file;
  file.nested(14, Message().text(1, "task").text(2, "detect")).nested(7, graph);
  file.nested(14, Message().text(1, "names").text(2, "{0: 'boat'}"));
  ASSERT_VALUE(const auto seen, read(file.bytes()));
  EXPECT_EQ(seen.metadata, (Metadata{{"names", "{0: 'boat'}"}, {"task", "detect"}}));
  ASSERT_EQ(seen.inputs.size(), 1U);
  EXPECT_EQ(seen.inputs[0].name, "images");
  EXPECT_EQ(seen.inputs[0].shape, (Shape{1, 3, 4, 6}));
  EXPECT_EQ(seen.inputs[0].format, PixelFormat::planar_rgb);
  constexpr std::array dtypes{DType::f32, DType::u8,  DType::i8,      DType::u16, DType::i16,
                              DType::i32, DType::i64, DType::boolean, DType::f16, DType::f64,
                              DType::u32, DType::u64, DType::bf16};
  ASSERT_EQ(seen.outputs.size(), dtypes.size() + 1);
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    EXPECT_EQ(seen.outputs[i].dtype, dtypes[i]) << types[i];
    EXPECT_EQ(seen.outputs[i].shape, (Shape{2, 1000000}));
  }
  EXPECT_EQ(seen.outputs.back().shape, Shape{1});
}

TEST_F(OnnxFileTest, leaves_out_inputs_that_have_values) {
  const std::string raw(100000, 'w');
  Message graph;
  graph.nested(5, Message().number(1, 64).text(9, raw).text(8, "w"));
  graph.nested(15, Message().nested(1, Message().text(8, "sparse")));
  for (const char* name : {"w", "x", "sparse"})
    graph.nested(11, value(name, 1, {dim(1)}));
  ASSERT_VALUE(const auto seen, read(model_of(graph)));
  ASSERT_EQ(seen.inputs.size(), 1U);
  EXPECT_EQ(seen.inputs[0].name, "x");
}

TEST_F(OnnxFileTest, dynamic_axes_are_a_batch_of_one_and_the_image_of_the_metadata) {
  const Message batch = Message().text(2, "batch");
  const auto model = [&](const std::string& size) {
    Message graph;
    graph.nested(11, value("images", 1, {batch, dim(3), Message(), dim(0)}));
    graph.nested(12, value("output0", 1, {batch, dim(84), dim(8400)}));
    Message file;
    return file.nested(7, graph).nested(14, Message().text(1, "imgsz").text(2, size)).bytes();
  };
  ASSERT_VALUE(const auto seen, read(model("[480, 640]")));
  EXPECT_EQ(seen.inputs[0].shape, (Shape{1, 3, 480, 640}));
  EXPECT_EQ(seen.outputs[0].shape, (Shape{1, 84, 8400}));
  for (const char* size : {"[480]", "[480, 0]", "[480, 65536]", "[480, 64x]", "[480, 99999999999]"})
    expect_refusal(model(size), Errc::unsupported, "'images' is [1,3,?,?]");
}

TEST_F(OnnxFileTest, refuses_what_only_a_runtime_can_find) {
  const auto output = [](const Message& info) { return model_of(Message().nested(12, info)); };
  expect_refusal(output(value("y", 1, {dim(1), Message().text(2, "n")})), Errc::unsupported,
                 "'y' is [1,?]");
  expect_refusal(
      output(Message().text(1, "y").nested(2, Message().nested(1, Message().number(1, 1)))),
      Errc::unsupported, "'y' is without a shape");
  expect_refusal(output(value("y", 8, {dim(1)})), Errc::unsupported, "'y' is ONNX type 8");
  expect_refusal(output(Message().text(1, "y")), Errc::unsupported, "'y' is ONNX type 0");
  expect_refusal(output(value("y", 1, std::vector<Message>(9, dim(1)))), Errc::unsupported,
                 "above 8: 'y'");
  expect_refusal(output(value("y", 1, {dim(std::uint64_t{1} << 31)})), Errc::unsupported,
                 "2147483648, at most 2147483647");
}

TEST_F(OnnxFileTest, refuses_files_that_are_no_model_with_the_byte) {
  using enum Errc;
  expect_refusal("", malformed, "it has no graph");
  expect_refusal(Message().number(1, 8).bytes(), malformed, "it has no graph");
  expect_refusal("This is no model.", malformed, "byte");
  expect_refusal(std::string("\x08", 1), malformed, "byte 1: a number is cut off");
  expect_refusal(std::string("\x08") + std::string(11, '\xff'), malformed, "longer than 10 bytes");
  expect_refusal(std::string("\x00\x01", 2), malformed, "byte 0: a field without a number");
  expect_refusal("\x0b", malformed, "byte 0: a field of an unknown kind");
  expect_refusal("\x3a\x7f", malformed, "byte 0: a field is longer than its message");
  expect_refusal("\x3a\x02\x62\x05", malformed, "byte 2: a field is longer");
  expect_refusal(std::string("\x09\x00\x00", 3), malformed, "byte 0: a field is longer");
}

TEST_F(OnnxFileTest, has_limits_that_the_message_names) {
  using enum Errc;
  const Message empty;
  const auto entry = [](const std::string& key, const std::string& text) {
    return Message().nested(7, Message()).nested(14, Message().text(1, key).text(2, text)).bytes();
  };
  EXPECT_TRUE(read(entry("k", std::string(OnnxLimits::text_bytes, 't'))));
  expect_refusal(entry("k", std::string(OnnxLimits::text_bytes + 1, 't')), exhausted,
                 "a value of metadata: 4194305 bytes, at most 4194304");
  expect_refusal(entry(std::string(OnnxLimits::name_bytes + 1, 'k'), ""), exhausted,
                 "a key of metadata: 4097 bytes, at most 4096");
  Message texts;
  for (int i = 0; i < 5; ++i)
    texts.nested(14, Message().text(1, std::to_string(i)).text(2, std::string(4 << 20, 't')));
  expect_refusal(texts.bytes(), exhausted, "too much metadata: at most 16 MiB");
  Message entries;
  for (std::size_t i = 0; i <= OnnxLimits::entries; ++i)
    entries.nested(14, Message().text(1, std::to_string(i)));
  expect_refusal(entries.bytes(), exhausted, "at most 4096 entries");
  Message outputs;
  for (std::size_t i = 0; i <= OnnxLimits::tensors; ++i)
    outputs.nested(12, value("y", 1, {}));
  expect_refusal(model_of(outputs), exhausted, "too many inputs or outputs: at most 1024");
  expect_refusal(model_of(Message().nested(11, Message().text(1, std::string(4097, 'n')))),
                 exhausted, "a name: 4097 bytes");
  std::string fields;
  for (std::uint64_t i = 0; i <= WireReader::max_fields; ++i)
    fields += std::string("\x08\x00", 2);
  expect_refusal(fields, exhausted, "too many fields: at most 4194304");
}

TEST_F(OnnxFileTest, refuses_a_key_of_metadata_that_stands_twice) {
  const Message entry = Message().text(1, "task").text(2, "detect");
  expect_refusal(Message().nested(14, entry).nested(14, entry).bytes(), Errc::malformed,
                 "twice: \"task\"");
}

TEST_F(OnnxFileTest, reading_stays_inside_cut_and_damaged_files) {
  const std::string whole =
      test::onnx_bytes({.shape = {1, 84, 20}, .metadata = {{"names", "{0: 'boat'}"}}});
  ASSERT_TRUE(read(whole));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    (void)read(whole.substr(0, at));
    for (const char damage : {'\x00', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = damage;
      const auto seen = read(damaged);
      EXPECT_TRUE(seen || !seen.error().message().empty());
    }
  }
}

TEST_F(OnnxFileTest, steps_over_gigabytes) {
  // A sparse file: 6 GiB of weights between the head and the outputs.
  const std::string head("\x3a", 1);
  const auto varint = [](std::uint64_t number) {
    std::string out;
    for (; number > 127; number >>= 7)
      out += static_cast<char>(number | 128);
    return out + static_cast<char>(number);
  };
  const std::uint64_t raw = std::uint64_t{6} << 30;
  const std::string before_raw = "\x4a" + varint(raw);
  const std::string tensor = "\x2a" + varint(before_raw.size() + raw) + before_raw;
  const std::string rest =
      Message().nested(11, value("x", 1, {dim(1)})).nested(12, value("y", 1, {dim(7)})).bytes();
  const std::string front = head + varint(tensor.size() + raw + rest.size()) + tensor;
  write(front);
  std::filesystem::resize_file(path_, front.size() + raw);
  std::ofstream(path_, std::ios::binary | std::ios::app) << rest;
  ASSERT_VALUE(const auto seen, read_onnx(path_));
  EXPECT_EQ(seen.outputs[0].shape, Shape{7});
}

TEST(MetadataOfFile, describe_a_model_with_sources) {
  const auto metadata = metadata_of_file(harbour);
  ASSERT_TRUE(metadata) << metadata.error().message();
  EXPECT_EQ(metadata->format, ModelFormat::onnx);
  ASSERT_VALUE(const auto decoder, Decoder::create(*infer_description(*metadata)));
  EXPECT_NE(decoder.explain().find("labels: from metadata \"names\" of harbour.onnx"),
            std::string::npos)
      << decoder.explain();
}

TEST(MetadataOfFile, come_from_onnx_files_alone) {
  EXPECT_FAILS(metadata_of_file("model.tflite"), Errc::unsupported);
  const test::Folder folder;
  EXPECT_FAILS(metadata_of_file(folder / "missing.onnx"), Errc::not_found);
  std::filesystem::create_directories(folder / "folder.onnx");
  EXPECT_FAILS(metadata_of_file(folder / "folder.onnx"), Errc::invalid_argument);
}

#ifdef HALYARD_HAVE_OPENVINO

bool operator==(const TensorSpec& a, const TensorSpec& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.format == b.format &&
         a.quantization == b.quantization;
}

void expect_as_engine(const std::string& path) {
  ASSERT_VALUE(const auto engine, Engine::open(path));
  const ModelMetadata want = metadata_of(engine);
  ASSERT_VALUE(const auto seen, metadata_of_file(path));
  EXPECT_EQ(seen.file, want.file);
  EXPECT_EQ(seen.format, want.format);
  EXPECT_TRUE(std::equal(seen.inputs.begin(), seen.inputs.end(), want.inputs.begin(),
                         want.inputs.end(), [](const auto& a, const auto& b) { return a == b; }));
  EXPECT_TRUE(std::equal(seen.outputs.begin(), seen.outputs.end(), want.outputs.begin(),
                         want.outputs.end(), [](const auto& a, const auto& b) { return a == b; }));
  EXPECT_EQ(seen.metadata, want.metadata);
  EXPECT_EQ(seen.attachments.size(), want.attachments.size());
}

TEST(MetadataOfFile, are_those_of_the_engine) {
  expect_as_engine(harbour);
  const test::Folder folder;
  const std::string path = folder / "as_engine.onnx";
  test::write_bytes(path, test::onnx_bytes({.shape = {-1, 3, 4, 6},
                                            .metadata = {{"names", "['boat']"}, {"task", "x"}}}));
  expect_as_engine(path);
}

#endif

}  // namespace
}  // namespace halyard::model
