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
#include "model/session.h"

namespace halyard {

std::optional<model::FileKind> model::file_kind(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (extension == ".onnx") return FileKind::onnx;
  if (extension == ".tflite") return FileKind::tflite;
  if (extension == ".xml") return FileKind::ir;
  return std::nullopt;
}

struct HALYARD_LOCAL Engine::Impl {
  std::string path;
  model::Loaded loaded;
};

namespace {

Status check_file(const std::string& path, const EngineOptions& options) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail_os("model file cannot be opened", errno, path);
  if (!S_ISREG(info.st_mode))
    return fail(Errc::invalid_argument, "model must be a regular file", "{}", path);
  if (::access(path.c_str(), R_OK) != 0) return fail_os("model file cannot be opened", errno, path);
  if (!model::file_kind(path))
    return fail(Errc::unsupported, "model file must be .onnx, .tflite or .xml", "{}", path);
  if (info.st_size == 0) return fail(Errc::malformed, "model file is empty", "{}", path);
  const auto bytes = static_cast<std::size_t>(info.st_size);
  if (bytes > options.max_file_bytes)
    return fail(Errc::invalid_argument, "model file is larger than max_file_bytes",
                "{}: {} bytes, at most {}", path, bytes, options.max_file_bytes);
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

Status check_input(const Tensor& input, const TensorSpec& spec, std::size_t index) {
  if (input.is_empty())
    return fail(Errc::invalid_argument, "input of the model has no bytes", "input {} '{}'", index,
                spec.name);
  if (input.dtype() != spec.dtype)
    return fail(Errc::invalid_argument, "input dtype must be the model's",
                "input {} '{}' is {}, the model takes {}", index, spec.name,
                to_string(input.dtype()), to_string(spec.dtype));
  const auto have = without_leading_ones(input.shape());
  const auto want = without_leading_ones(spec.shape);
  if (!std::equal(have.begin(), have.end(), want.begin(), want.end()))
    return fail(Errc::invalid_argument, "input shape must be the model's",
                "input {} '{}' is {}, the model takes {}", index, spec.name,
                shape_text(input.shape()), shape_text(spec.shape));
  if (!input.layout().is_contiguous())
    return fail(Errc::unsupported, "input of the model must be contiguous", "input {} '{}'", index,
                spec.name);
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
  impl->loaded = std::move(loaded);
  return Engine(std::move(impl));
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
    if (!spec.format) continue;
    const auto extent = image_extent(*spec.format, spec.shape);
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
  if (tensors.size() != inputs().size())
    return fail(Errc::invalid_argument, "count of inputs differs from the model's",
                "{} given, the model takes {}", tensors.size(), inputs().size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    HALYARD_RETURN_IF_ERROR(check_input(tensors[i], inputs()[i], i));
  return impl_->loaded.session->run(tensors);
}

std::vector<std::string> available_engines() {
  return {model::describe_runtime()};
}

}  // namespace halyard
