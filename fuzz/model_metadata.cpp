// SPDX-License-Identifier: Apache-2.0
// Metadata of model files: the archive at a file's end, and descriptions inferred from
// metadata, sidecars and shapes. Layout of an input: a byte of flags, a count of outputs, a rank
// and a byte for each extent; then texts with 0x1E between them, in the order of `keys` and
// `names`.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "halyard/decode.h"
#include "halyard/describe.h"
#include "model/zip_archive.h"

namespace {

using halyard::ModelMetadata;

constexpr std::array extents{1U,   2U,   3U,    4U,    5U,   6U,    7U,    14U,   32U,
                             38U,  56U,  84U,   85U,   100U, 116U,  117U,  128U,  160U,
                             300U, 640U, 1000U, 1029U, 80U,  2100U, 3549U, 8400U, 25200U};
constexpr std::array keys{"names", "task",    "imgsz",       "kpt_shape",
                          "args",  "end2end", "description", "box_units"};
constexpr std::array names{"config.json", "preprocessor_config.json", "labels.txt",
                           "edgefirst.json", "edgefirst.yaml"};

void read_archive(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  for (const auto& entry : halyard::model::zip_entries(bytes)) {
    const auto out = halyard::model::text_of(entry, std::size_t{1} << 16);
    if (out && out->size() != entry.size) std::abort();
  }
}

class Bytes {
 public:
  explicit Bytes(std::string_view text) : left_(text) {}
  std::uint8_t next() {
    if (left_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return value;
  }
  std::string text() {
    const auto end = left_.find('\x1e');
    const std::string out(left_.substr(0, end));
    left_ = end == std::string_view::npos ? std::string_view() : left_.substr(end + 1);
    return out;
  }

 private:
  std::string_view left_;
};

ModelMetadata metadata_of(std::string_view text) {
  Bytes bytes(text);
  ModelMetadata out;
  const unsigned flags = bytes.next();
  out.file = (flags & 4U) != 0 ? "yolo26n.onnx" : "model.tflite";
  out.format = static_cast<halyard::ModelFormat>(flags & 3U);
  if ((flags & 8U) != 0)
    out.inputs.push_back(
        {"images", halyard::DType::f32, {1, 3, 640, 640}, {}, halyard::PixelFormat::planar_rgb});
  const unsigned outputs = bytes.next() % 5U;
  for (unsigned i = 0; i < outputs; ++i) {
    auto& spec = out.outputs.emplace_back();
    spec.name = i == 0 ? "logits" : i == 1 ? "pred_boxes" : "output";
    spec.dtype = (flags & 16U) != 0 ? halyard::DType::i8 : halyard::DType::f32;
    const unsigned rank = bytes.next() % 6U;
    for (unsigned axis = 0; axis < rank; ++axis)
      spec.shape.push_back(extents[bytes.next() % extents.size()]);
  }
  for (const char* key : keys)
    if (auto value = bytes.text(); !value.empty()) out.metadata[key] = value;
  for (const char* name : names)
    if (auto value = bytes.text(); !value.empty())
      out.attachments.push_back({name, value, (flags & 32U) != 0});
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_archive(text);
  const auto description = halyard::infer_description(metadata_of(text));
  if (!description) {
    if (description.error().message().empty()) std::abort();
    return 0;
  }
  if (!halyard::validate(*description)) std::abort();
  if (!halyard::ModelDescription::from_json(description->to_json())) std::abort();
  if (const auto decoder = halyard::Decoder::create(*description)) (void)decoder->explain();
  return 0;
}
