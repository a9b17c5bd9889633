// SPDX-License-Identifier: Apache-2.0
// Reads ONNX files by the field numbers of onnx.proto: ModelProto, GraphProto, ValueInfoProto,
// TypeProto, TensorShapeProto, TensorProto, StringStringEntryProto. All other fields are skipped.
#include "model/onnx_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <set>

#include "base/text/cut_text.h"
#include "base/text/format_error.h"
#include "halyard/fd.h"
#include "model/engine.h"
#include "model/wire_reader.h"

namespace halyard::model {
namespace {

using Kind = WireField::Kind;

/// A tensor as the file declares it.
struct Declared {
  std::string name;
  std::uint64_t element_type = 0;
  bool has_shape = false;
  std::vector<std::size_t> shape;  ///< 0: dynamic
};

struct Model {
  bool has_graph = false;
  std::vector<Declared> inputs;
  std::vector<Declared> outputs;
  Metadata metadata;
  std::size_t metadata_bytes = 0;
};

std::optional<DType> dtype_of(std::uint64_t element_type) noexcept {
  switch (element_type) {
    case 1:
      return DType::f32;
    case 2:
      return DType::u8;
    case 3:
      return DType::i8;
    case 4:
      return DType::u16;
    case 5:
      return DType::i16;
    case 6:
      return DType::i32;
    case 7:
      return DType::i64;
    case 9:
      return DType::boolean;
    case 10:
      return DType::f16;
    case 11:
      return DType::f64;
    case 12:
      return DType::u32;
    case 13:
      return DType::u64;
    case 16:
      return DType::bf16;
    default:
      return std::nullopt;
  }
}

/// Calls `take` with every field of a message.
template <class Take>
Status each_field(WireReader& wire, WireRange message, Take take) {
  while (true) {
    HALYARD_TRY(const auto field, wire.next(message));
    if (!field) return {};
    HALYARD_RETURN_IF_ERROR(take(*field));
  }
}

/// Collects the names of files from the tensors of a graph: fields of GraphProto, NodeProto,
/// AttributeProto, TensorProto.
class ExternalFiles {
 public:
  explicit ExternalFiles(WireReader& wire) : wire_(wire) {}

  Result<std::vector<std::string>> find() && {
    HALYARD_RETURN_IF_ERROR(each(wire_.file(), 7, [this](WireRange graph) -> Status {
      HALYARD_RETURN_IF_ERROR(each(graph, 5, [this](WireRange tensor) { return look_at(tensor); }));
      return each(graph, 1, [this](WireRange node) {
        return each(node, 5, [this](WireRange attribute) {
          return each(attribute, 5, [this](WireRange tensor) { return look_at(tensor); });
        });
      });
    }));
    return std::vector<std::string>(found_.begin(), found_.end());
  }

 private:
  /// Calls `take` with the content of every field `number` of a message.
  template <class Take>
  Status each(WireRange message, std::uint64_t number, Take take) {
    return each_field(wire_, message, [&](const WireField& field) -> Status {
      return field.kind == Kind::bytes && field.number == number ? take(field.content) : Status();
    });
  }

  Status look_at(WireRange tensor) {
    return each(tensor, 13, [this](WireRange entry) -> Status {
      std::string key;
      HALYARD_RETURN_IF_ERROR(each(entry, 1, [&](WireRange text) -> Status {
        HALYARD_TRY(key, wire_.text(text, OnnxLimits::name_bytes, "a key of a tensor"));
        return {};
      }));
      if (key != "location") return {};
      return each(entry, 2, [&](WireRange text) -> Status {
        HALYARD_TRY(auto name, wire_.text(text, OnnxLimits::name_bytes, "the name of a file"));
        if (found_.size() < OnnxLimits::entries) found_.insert(std::move(name));
        return {};
      });
    });
  }

  WireReader& wire_;
  std::set<std::string> found_;
};

class OnnxReader {
 public:
  explicit OnnxReader(WireReader& wire) : wire_(wire) {}

  Result<Model> read() && {
    HALYARD_RETURN_IF_ERROR(
        each(wire_.file(), [this](const WireField& f) { return model_field(f); }));
    if (!model_.has_graph)
      return fail(Errc::malformed, "model file is not an ONNX model", "it has no graph");
    HALYARD_RETURN_IF_ERROR(leave_out_weights());
    return std::move(model_);
  }

 private:
  /// Calls `take` with every field of a message.
  template <class Take>
  Status each(WireRange message, Take take) {
    return each_field(wire_, message, take);
  }

  Status model_field(const WireField& field) {
    if (field.kind != Kind::bytes) return {};
    if (field.number == 14) return metadata_entry(field.content);
    if (field.number != 7) return {};
    model_.has_graph = true;
    return each(field.content, [this](const WireField& f) -> Status {
      if (f.kind != Kind::bytes || (f.number != 11 && f.number != 12)) return {};
      return declare(f.content, f.number == 11 ? model_.inputs : model_.outputs);
    });
  }

  Status metadata_entry(WireRange entry) {
    std::string key;
    std::string value;
    HALYARD_RETURN_IF_ERROR(each(entry, [&](const WireField& f) -> Status {
      if (f.kind != Kind::bytes) return {};
      if (f.number == 1) {
        HALYARD_TRY(key, wire_.text(f.content, OnnxLimits::name_bytes, "a key of metadata"));
      }
      if (f.number == 2) {
        HALYARD_TRY(value, wire_.text(f.content, OnnxLimits::text_bytes, "a value of metadata"));
      }
      return {};
    }));
    model_.metadata_bytes += key.size() + value.size();
    if (model_.metadata_bytes > OnnxLimits::metadata_bytes) {
      return fail(Errc::exhausted, "model file has too much metadata", "at most {} MiB",
                  OnnxLimits::metadata_bytes >> 20U);
    }
    if (model_.metadata.size() == OnnxLimits::entries) {
      return fail(Errc::exhausted, "model file has too much metadata", "at most {} entries",
                  OnnxLimits::entries);
    }
    if (!model_.metadata.emplace(key, std::move(value)).second)
      return fail(Errc::malformed, "model file has a key of metadata twice", "\"{}\"",
                  cut_text(key, 60));
    return {};
  }

  Status declare(WireRange info, std::vector<Declared>& out) {
    if (out.size() == OnnxLimits::tensors) {
      return fail(Errc::exhausted, "model file has too many inputs or outputs", "at most {}",
                  OnnxLimits::tensors);
    }
    Declared& tensor = out.emplace_back();
    return each(info, [&](const WireField& f) -> Status {
      if (f.kind != Kind::bytes) return {};
      if (f.number == 1) {
        HALYARD_TRY(tensor.name, wire_.text(f.content, OnnxLimits::name_bytes, "a name"));
      }
      if (f.number != 2) return {};
      return each(f.content, [&](const WireField& type) -> Status {
        if (type.number != 1 || type.kind != Kind::bytes) return {};
        return each(type.content, [&](const WireField& t) { return tensor_field(t, tensor); });
      });
    });
  }

  Status tensor_field(const WireField& field, Declared& tensor) {
    if (field.number == 1 && field.kind == Kind::number) tensor.element_type = field.value;
    if (field.number != 2 || field.kind != Kind::bytes) return {};
    tensor.has_shape = true;
    return each(field.content, [&](const WireField& f) -> Status {
      if (f.number != 1 || f.kind != Kind::bytes) return {};
      if (tensor.shape.size() == max_rank)
        return fail(Errc::unsupported, "rank of the model's tensor is above 8", "'{}'",
                    tensor.name);
      std::size_t& extent = tensor.shape.emplace_back(0);
      return each(f.content, [&](const WireField& dim) -> Status {
        if (dim.number == 1 && dim.kind == Kind::number) return set_extent(dim.value, extent);
        return {};
      });
    });
  }

  // Exporters also write a dynamic axis as a negative number or 0.
  static Status set_extent(std::uint64_t value, std::size_t& extent) {
    const auto extent_of_file = static_cast<std::int64_t>(value);
    if (extent_of_file > std::numeric_limits<std::int32_t>::max()) {
      return fail(Errc::unsupported, "shape of the model's tensor is too large", "{}, at most {}",
                  extent_of_file, std::numeric_limits<std::int32_t>::max());
    }
    extent = extent_of_file > 0 ? static_cast<std::size_t>(extent_of_file) : 0;
    return {};
  }

  // Removes inputs whose values are in the file; users do not pass them. Values come before inputs
  // in the file, so they are searched only when the names of the inputs are known.
  Status leave_out_weights() {
    for (const Declared& input : model_.inputs)
      names_.insert(input.name);
    if (names_.empty()) return {};
    HALYARD_RETURN_IF_ERROR(each(wire_.file(), [this](const WireField& f) -> Status {
      if (f.number != 7 || f.kind != Kind::bytes) return {};
      return each(f.content, [this](const WireField& g) { return weights_field(g); });
    }));
    std::erase_if(model_.inputs,
                  [&](const Declared& input) { return weights_.contains(input.name); });
    return {};
  }

  Status weights_field(const WireField& field) {
    if (field.kind != Kind::bytes || (field.number != 5 && field.number != 15)) return {};
    return each(field.content, [&](const WireField& f) -> Status {
      if (f.kind != Kind::bytes) return {};
      if (field.number == 5) return f.number == 8 ? weight_name(f.content) : Status();
      if (f.number != 1) return {};  // field 1 holds the values of a sparse tensor
      return each(f.content, [&](const WireField& g) {
        return g.number == 8 && g.kind == Kind::bytes ? weight_name(g.content) : Status();
      });
    });
  }

  Status weight_name(WireRange name) {
    if (name.end - name.begin > OnnxLimits::name_bytes) return {};  // too long for an input's name
    HALYARD_TRY(const std::string text, wire_.text(name, OnnxLimits::name_bytes, "a name"));
    if (names_.contains(text)) weights_.insert(text);
    return {};
  }

  WireReader& wire_;
  Model model_;
  std::set<std::string> names_;    // names of inputs
  std::set<std::string> weights_;  // inputs that have values in the file
};

/// Fixes dynamic axes as Engine does.
void fix_shape(Declared& tensor, const Metadata& metadata) {
  auto& shape = tensor.shape;
  if (!shape.empty() && shape[0] == 0) shape[0] = 1;
  if (shape.size() != 4 || shape[2] != 0 || shape[3] != 0) return;
  const auto size = image_size(metadata);
  if (!size) return;
  shape[2] = static_cast<std::size_t>(size->height);
  shape[3] = static_cast<std::size_t>(size->width);
}

std::string declared_shape_text(const Declared& tensor) {
  std::string out;
  for (const std::size_t extent : tensor.shape)
    out += fmt::format("{}{}", out.empty() ? "" : ",", extent == 0 ? "?" : fmt::to_string(extent));
  return "[" + out + "]";
}

Result<TensorSpec> declared_spec(const Declared& tensor) {
  TensorSpec spec;
  spec.name = tensor.name;
  const auto dtype = dtype_of(tensor.element_type);
  if (!dtype)
    return fail(Errc::unsupported, "element type of the model is not supported",
                "'{}' is ONNX type {}", tensor.name, tensor.element_type);
  if (!tensor.has_shape || std::count(tensor.shape.begin(), tensor.shape.end(), 0U) != 0)
    return fail(Errc::unsupported, "shape of the model is not fixed",
                "'{}' is {}; an inference engine could determine it", tensor.name,
                tensor.has_shape ? declared_shape_text(tensor) : "without a shape");
  spec.dtype = *dtype;
  spec.shape = tensor.shape;
  if (spec.shape.empty()) spec.shape = {1};
  return spec;
}

struct Opened {
  Fd fd;
  std::uint64_t size_bytes = 0;
};

Result<Opened> open_model(const std::string& path) {
  Opened file{Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  if (!file.fd) return fail_os("model file cannot be opened", errno, path);
  struct stat info {};
  if (::fstat(file.fd.get(), &info) != 0)
    return fail_os("model file cannot be examined", errno, path);
  if (!S_ISREG(info.st_mode))
    return fail(Errc::invalid_argument, "model must be a regular file", "{}", path);
  file.size_bytes = static_cast<std::uint64_t>(info.st_size);
  return file;
}

}  // namespace

Result<std::vector<std::string>> external_files(const std::string& path) {
  HALYARD_TRY(const Opened file, open_model(path));
  WireReader wire(file.fd.get(), file.size_bytes);
  return ExternalFiles(wire).find();
}

Result<OnnxFile> read_onnx(const std::string& path) {
  HALYARD_TRY(const Opened file, open_model(path));
  WireReader wire(file.fd.get(), file.size_bytes);
  HALYARD_TRY(Model model, OnnxReader(wire).read());
  OnnxFile out;
  for (Declared& input : model.inputs) {
    fix_shape(input, model.metadata);
    HALYARD_TRY(TensorSpec spec, declared_spec(input));
    spec.format = image_format(spec.dtype, spec.shape);
    out.inputs.push_back(std::move(spec));
  }
  for (Declared& output : model.outputs) {
    if (!output.shape.empty() && output.shape[0] == 0) output.shape[0] = 1;
    HALYARD_TRY(TensorSpec spec, declared_spec(output));
    out.outputs.push_back(std::move(spec));
  }
  out.metadata = std::move(model.metadata);
  return out;
}

}  // namespace halyard::model
