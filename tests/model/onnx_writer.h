// SPDX-License-Identifier: Apache-2.0
// Writes small ONNX files for tests: one chain of operators without weights, f32. Not a library.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace halyard::test {

/// One protobuf message under construction.
class Message {
 public:
  Message& number(unsigned field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& text(unsigned field, const std::string& value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& nested(unsigned field, const Message& value) { return text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value > 127; value >>= 7)
      bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

struct OnnxModel {
  std::string op = "Relu";                      ///< takes one tensor, gives one of the same shape
  std::vector<std::int64_t> shape{1, 3, 4, 6};  ///< -1: dynamic
  std::vector<std::int64_t> output_shape{};     ///< empty: that of the input
  std::vector<std::pair<std::string, std::string>> metadata{};
  std::vector<std::string> files{};  ///< each holds the values of one tensor
  std::string domain{};              ///< of the operator
};

inline Message tensor_info(const std::string& name, const std::vector<std::int64_t>& shape) {
  Message dims;
  for (const std::int64_t extent : shape) {
    Message dim;
    if (extent < 0)
      dim.text(2, "n");
    else
      dim.number(1, static_cast<std::uint64_t>(extent));
    dims.nested(1, dim);
  }
  const Message tensor = Message().number(1, 1).nested(2, dims);
  return Message().text(1, name).nested(2, Message().nested(1, tensor));
}

/// ModelProto: ir_version 1, graph 7, opset_import 8, metadata_props 14.
inline std::string onnx_bytes(const OnnxModel& model) {
  Message node;
  node.text(1, "images").text(2, "output0").text(4, model.op);
  if (!model.domain.empty()) node.text(7, model.domain);
  Message graph;
  graph.nested(1, node).text(2, "g");
  for (const std::string& file : model.files) {
    const Message place = Message().text(1, "location").text(2, file);
    const Message size = Message().text(1, "length").text(2, "4");
    graph.nested(5, Message().text(8, "w" + file).nested(13, size).nested(13, place));
  }
  graph.nested(11, tensor_info("images", model.shape));
  const auto& output = model.output_shape.empty() ? model.shape : model.output_shape;
  graph.nested(12, tensor_info("output0", output));
  Message file;
  file.number(1, 8).nested(7, graph).nested(8, Message().text(1, "").number(2, 13));
  if (!model.domain.empty()) file.nested(8, Message().text(1, model.domain).number(2, 1));
  for (const auto& [key, value] : model.metadata)
    file.nested(14, Message().text(1, key).text(2, value));
  return file.bytes();
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace halyard::test
