// SPDX-License-Identifier: Apache-2.0
// ONNX files of any bytes, read without a runtime: refused with a message, or the content keeps the
// limits, and a description is inferred from it or refused.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "halyard/describe.h"
#include "halyard/tensor.h"
#include "model/onnx_file.h"

namespace {

void expect(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::FILE* const holder = std::tmpfile();
  static const int fd = ::fileno(holder);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  expect(::ftruncate(fd, 0) == 0);
  expect(::pwrite(fd, data, size, 0) == static_cast<ssize_t>(size));
  auto file = halyard::model::read_onnx(path);
  if (!file) {
    expect(!file.error().message().empty());
    return 0;
  }
  for (const auto* tensors : {&file->inputs, &file->outputs}) {
    expect(tensors->size() <= halyard::model::OnnxLimits::tensors);
    for (const halyard::TensorSpec& spec : *tensors) {
      expect(!spec.shape.empty() && spec.shape.size() <= halyard::max_rank);
      for (const std::size_t extent : spec.shape)
        expect(extent > 0);
    }
  }
  halyard::ModelMetadata metadata;
  metadata.file = "model.onnx";
  metadata.format = halyard::ModelFormat::onnx;
  metadata.inputs = std::move(file->inputs);
  metadata.outputs = std::move(file->outputs);
  metadata.metadata = std::move(file->metadata);
  const auto description = halyard::infer_description(metadata);
  expect(description ? halyard::validate(*description).has_value()
                     : !description.error().message().empty());
  return 0;
}
