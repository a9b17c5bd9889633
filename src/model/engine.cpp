// SPDX-License-Identifier: Apache-2.0
// Engine: checks files and inputs, then calls the runtime's session.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "base/text/python_literal.h"
#include "halyard/model.h"
#include "halyard/trace.h"
#include "model/engine.h"
#include "model/file_metadata.h"
#include "model/load.h"

namespace halyard {

std::string model::extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

std::optional<model::FileKind> model::file_kind(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == ".onnx") return FileKind::onnx;
  if (extension == ".tflite") return FileKind::tflite;
  if (extension == ".xml") return FileKind::ir;
  return std::nullopt;
}

struct HALYARD_LOCAL Engine::Impl {
  std::string path;
  unsigned requests = 0;
  model::Loaded loaded;
};

namespace {

constexpr std::size_t max_batch = 65536;

Status check_file(const std::string& path, const EngineOptions& options) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail_os("model file cannot be opened", errno, path);
  if (!S_ISREG(info.st_mode))
    return fail(Errc::invalid_argument, "model must be a regular file", "{}", path);
  if (::access(path.c_str(), R_OK) != 0) return fail_os("model file cannot be opened", errno, path);
  if (info.st_size == 0) return fail(Errc::malformed, "model file is empty", "{}", path);
  const auto bytes = static_cast<std::size_t>(info.st_size);
  if (bytes > options.max_file_bytes)
    return fail(Errc::invalid_argument, "model file is larger than max_file_bytes",
                "{}: {} bytes, at most {}", path, bytes, options.max_file_bytes);
  if (options.batch == 0 || options.batch > max_batch)
    return fail(Errc::invalid_argument, "batch: must be 1..65536", "{}", options.batch);
  return {};
}

std::string shape_text(std::span<const std::size_t> shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ","));
}

std::span<const std::size_t> without_leading_ones(std::span<const std::size_t> shape) {
  while (shape.size() > 1 && shape.front() == 1)
    shape = shape.subspan(1);
  return shape;
}

/// `kind`: "input" or "output".
Status check_tensor(const Tensor& tensor, const TensorSpec& spec, const char* kind,
                    std::size_t index) {
  if (tensor.is_empty())
    return fail(Errc::invalid_argument, "tensor for the model has no bytes", "{} {} '{}'", kind,
                index, spec.name);
  if (tensor.dtype() != spec.dtype)
    return fail(Errc::invalid_argument, "dtype of a tensor must be the model's",
                "{} {} '{}' is {}, the model takes {}", kind, index, spec.name,
                to_string(tensor.dtype()), to_string(spec.dtype));
  const auto have = without_leading_ones(tensor.shape());
  const auto want = without_leading_ones(spec.shape);
  if (!std::equal(have.begin(), have.end(), want.begin(), want.end()))
    return fail(Errc::invalid_argument, "shape of a tensor must be the model's",
                "{} {} '{}' is {}, the model takes {}", kind, index, spec.name,
                shape_text(tensor.shape()), shape_text(spec.shape));
  if (!tensor.layout().is_contiguous())
    return fail(Errc::unsupported, "tensors for the model must be contiguous", "{} {} '{}'", kind,
                index, spec.name);
  return {};
}

Status check_tensors(std::span<const Tensor> tensors, std::span<const TensorSpec> specs,
                     const char* kind) {
  if (tensors.size() != specs.size())
    return fail(Errc::invalid_argument, "count of tensors differs from the model's",
                "{} given, the model has {} {}s", tensors.size(), specs.size(), kind);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    HALYARD_RETURN_IF_ERROR(check_tensor(tensors[i], specs[i], kind, i));
  return {};
}

/// No output may share bytes with another tensor of the run.
Status check_apart(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const auto tensors : {inputs, outputs.first(i)})
      for (const Tensor& other : tensors)
        if (aliases(outputs[i], other))
          return fail(Errc::invalid_argument, "output shares bytes with another tensor of the run",
                      "output {}", i);
  }
  return {};
}

}  // namespace

namespace model {

std::optional<Size> image_size(const Metadata& metadata) {
  const auto entry = metadata.find("imgsz");
  if (entry == metadata.end()) return std::nullopt;
  const auto items = split_literal(entry->second);
  if (!items || items->size() != 2) return std::nullopt;
  std::array<std::int32_t, 2> sides{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::string& text = (*items)[i].value;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, sides[i]);
    if (parsed.ec != std::errc{} || parsed.ptr != end || sides[i] < 1 || sides[i] > 65535)
      return std::nullopt;
  }
  return Size{sides[1], sides[0]};
}

std::optional<PixelFormat> image_format(DType dtype, std::span<const std::size_t> shape) {
  if (dtype != DType::u8 && dtype != DType::i8 && dtype != DType::f32 && dtype != DType::f16)
    return std::nullopt;
  if (shape.size() != 4 || shape[0] != 1) return std::nullopt;
  const bool is_planar = shape[1] == 1 || shape[1] == 3 || shape[1] == 4;
  const bool is_packed = shape[3] == 1 || shape[3] == 3 || shape[3] == 4;
  if (is_planar == is_packed) return std::nullopt;
  const std::size_t channels = is_planar ? shape[1] : shape[3];
  if (channels == 1) return PixelFormat::grey;
  if (channels == 3) return is_planar ? PixelFormat::planar_rgb : PixelFormat::rgb;
  return is_planar ? PixelFormat::planar_rgba : PixelFormat::rgba;
}

std::optional<PixelFormat> item_format_of(const TensorSpec& spec) {
  if (spec.format || spec.shape.empty()) return spec.format;
  std::vector<std::size_t> one = spec.shape;
  one[0] = 1;
  return image_format(spec.dtype, one);
}

}  // namespace model

Engine::Engine(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::open(const std::string& path, const EngineOptions& options) {
  trace::Span span("model.open");
  span.arg("path", std::string_view(path));
  HALYARD_RETURN_IF_ERROR(check_file(path, options));
  model::Metadata metadata;
  if (model::file_kind(path) == model::FileKind::tflite)
    metadata = model::metadata_of(model::read_attachments(path));
  HALYARD_TRY(auto loaded, model::load(path, options, std::move(metadata)));
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->requests = options.requests;
  impl->loaded = std::move(loaded);
  return Engine(std::move(impl));
}

const std::string& Engine::name() const noexcept {
  return impl_->loaded.name;
}
const std::string& Engine::runtime() const noexcept {
  return impl_->loaded.runtime;
}
const std::string& Engine::path() const noexcept {
  return impl_->path;
}
std::span<const TensorSpec> Engine::inputs() const noexcept {
  return impl_->loaded.inputs;
}
std::span<const TensorSpec> Engine::outputs() const noexcept {
  return impl_->loaded.outputs;
}

Size Engine::input_size() const noexcept {
  for (const TensorSpec& spec : inputs()) {
    const auto format = model::item_format_of(spec);
    if (!format) continue;
    const auto item = std::span(spec.shape).subspan(1);
    const auto extent = image_extent(*format, item);
    if (extent) return {std::int32_t(extent->width), std::int32_t(extent->height)};
  }
  return {};
}

const std::map<std::string, std::string>& Engine::metadata() const noexcept {
  return impl_->loaded.metadata;
}

std::vector<std::string> Engine::labels() const {
  const auto entry = metadata().find("names");
  return entry == metadata().end() ? std::vector<std::string>{} : parse_names(entry->second);
}

Result<std::vector<Tensor>> Engine::run(std::span<const Tensor> tensors) {
  trace::Span span("model.run");
  span.arg("runtime", std::string_view(runtime())).arg("inputs", tensors.size());
  HALYARD_RETURN_IF_ERROR(check_tensors(tensors, inputs(), "input"));
  return impl_->loaded.session->run(tensors, {});
}

Status Engine::run_into(std::span<const Tensor> tensors, std::span<const Tensor> results) {
  trace::Span span("model.run");
  span.arg("runtime", std::string_view(runtime())).arg("inputs", tensors.size());
  HALYARD_RETURN_IF_ERROR(check_tensors(tensors, inputs(), "input"));
  HALYARD_RETURN_IF_ERROR(check_tensors(results, outputs(), "output"));
  HALYARD_RETURN_IF_ERROR(check_apart(tensors, results));
  HALYARD_RETURN_IF_ERROR(impl_->loaded.session->run(tensors, results));
  return {};
}

Result<InferenceRequest> Engine::submit(std::span<const Tensor> tensors,
                                        std::span<const Tensor> results) {
  trace::Span span("model.submit");
  span.arg("runtime", std::string_view(runtime())).arg("inputs", tensors.size());
  HALYARD_RETURN_IF_ERROR(check_tensors(tensors, inputs(), "input"));
  if (!results.empty()) {
    HALYARD_RETURN_IF_ERROR(check_tensors(results, outputs(), "output"));
    HALYARD_RETURN_IF_ERROR(check_apart(tensors, results));
  }
  HALYARD_TRY(auto lease, impl_->loaded.session->submit(tensors, results));
  return InferenceRequest(std::move(lease));
}

Result<std::vector<Tensor>> Engine::make_inputs() const {
  return impl_->loaded.session->make_inputs();
}

Status Engine::warm_up(unsigned runs) {
  HALYARD_TRY(const auto zeros, make_inputs());
  const unsigned count = std::max(impl_->requests, 1U);
  for (unsigned i = 0; i < runs; ++i) {
    std::vector<InferenceRequest> flying;
    for (unsigned k = 0; k < count; ++k) {
      HALYARD_TRY(auto one, submit(zeros));
      flying.push_back(std::move(one));
    }
    for (InferenceRequest& one : flying)
      HALYARD_RETURN_IF_ERROR(one.wait());
  }
  return {};
}

}  // namespace halyard
