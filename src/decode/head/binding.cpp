// SPDX-License-Identifier: Apache-2.0
// Matches tensors with plans, checks them, and makes fields of them.
#include "decode/head/binding.h"

#include <algorithm>

#include "base/text/format_error.h"
#include "decode/description/shapes.h"
#include "decode/matching.h"

namespace halyard::decode {
namespace {

bool tensor_fits(const Tensor& tensor, const TensorPlan& plan) {
  return missing_axes(tensor, plan.shape, plan.batch_axis).has_value();
}

const Tensor* named(std::span<const Tensor> tensors, const std::string& name) {
  if (name.empty()) return nullptr;
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const Tensor& t) { return t.name() == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Error differs(const Tensor& tensor, const TensorPlan& plan) {
  return fail(Errc::invalid_argument, "outputs: a tensor's shape differs from the description",
              "{}: {}, expected {}", plan.path, text_of(tensor.shape()), text_of(plan.shape));
}

// The only tensor of the plan's shape. No other plan may have that shape.
Result<const Tensor*> only_fit(std::span<const Tensor> tensors, const HeadProgram& program,
                               std::size_t index) {
  const TensorPlan& plan = program.tensors[index];
  const Tensor* found = nullptr;
  for (const Tensor& tensor : tensors) {
    if (!tensor_fits(tensor, plan)) continue;
    for (std::size_t other = 0; other < program.tensors.size(); ++other) {
      if (other != index && tensor_fits(tensor, program.tensors[other]))
        return fail(Errc::invalid_argument,
                    "outputs: shapes alone do not tell these tensors apart; name them",
                    "{} and {}: {}", plan.path, program.tensors[other].path, text_of(plan.shape));
    }
    if (found != nullptr)
      return fail(Errc::invalid_argument, "outputs: several tensors could be this one; name them",
                  "{}: {}", plan.path, text_of(plan.shape));
    found = &tensor;
  }
  if (found == nullptr) return differs(tensors[plan.position], plan);
  return found;
}

Status match(const HeadProgram& program, std::span<const Tensor> tensors,
             std::vector<const Tensor*>& out) {
  if (tensors.size() != program.tensor_count) {
    return fail(Errc::invalid_argument, "outputs: must be as many tensors as the model has outputs",
                "{} tensors, {} outputs", tensors.size(), program.tensor_count);
  }
  out.clear();
  for (const TensorPlan& plan : program.tensors) {
    out.push_back(named(tensors, plan.name));
    if (out.back() != nullptr && !tensor_fits(*out.back(), plan)) return differs(*out.back(), plan);
  }
  if (std::ranges::find(out, nullptr) == out.end()) return {};
  const bool in_order = std::ranges::all_of(program.tensors, [&](const TensorPlan& plan) {
    return tensor_fits(tensors[plan.position], plan);
  });
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != nullptr) continue;
    if (in_order) {
      out[i] = &tensors[program.tensors[i].position];
    } else {
      HALYARD_TRY(out[i], only_fit(tensors, program, i));
    }
  }
  return {};
}

// `missing`: leading axes of the plan that the quantization's axis does not count.
Status check_bound_quantization(const Quantization& quantization, DType dtype,
                                std::span<const std::size_t> shape, const TensorPlan& plan,
                                std::size_t missing) {
  HALYARD_RETURN_IF_ERROR(validate(quantization, dtype, shape));
  if (quantization.is_per_tensor()) return {};
  const std::size_t axis = *quantization.axis + missing;
  if (plan.feature_axis && axis == *plan.feature_axis) return {};
  return fail(Errc::unsupported, "outputs: quantization per channel must follow the features' axis",
              "{}: axis {}", plan.path, *quantization.axis);
}

Result<StoredAs> stored_as(const Tensor& tensor, const TensorPlan& plan) {
  StoredAs out;
  out.missing = *missing_axes(tensor, plan.shape, plan.batch_axis);
  if (!is_stored_type(tensor.dtype()) || (plan.dtype && *plan.dtype != tensor.dtype())) {
    return fail(Errc::unsupported,
                "outputs: dtype must be f32 f16 bf16 i8 u8 i16 or u16, as described",
                "{}: dtype {}{}{}", plan.path, to_string(tensor.dtype()),
                plan.dtype ? ", described as " : "", plan.dtype ? to_string(*plan.dtype) : "");
  }
  if (tensor.is_image() && tensor.plane_count() > 1) {
    return fail(Errc::unsupported, "outputs: an image of several planes cannot be a network output",
                "{}", plan.path);
  }
  if (!is_integer(tensor.dtype())) return out;
  const bool is_own = tensor.quantization().has_value();
  const auto& quantization = is_own ? tensor.quantization() : plan.quantization;
  if (!quantization) {
    return fail(Errc::invalid_argument,
                "outputs: an integer tensor needs quantization, its own or the description's",
                "{}: dtype {}", plan.path, to_string(tensor.dtype()));
  }
  HALYARD_RETURN_IF_ERROR(check_bound_quantization(*quantization, tensor.dtype(),
                                                   is_own ? tensor.shape() : std::span(plan.shape),
                                                   plan, is_own ? out.missing : 0));
  out.affine = {quantization->scale_at(0), quantization->zero_point_at(0)};
  out.quantization = &*quantization;
  return out;
}

Status check_batch(const Tensor& tensor, const TensorPlan& plan, std::size_t missing,
                   std::size_t batch) {
  const std::size_t extent = batch_extent(tensor, plan.batch_axis, missing);
  if (batch < extent || is_shared(plan.role, extent)) return {};
  return fail(Errc::invalid_argument, "batch: must be below the tensor's batch extent",
              "{}, {} has {}", batch, plan.path, extent);
}

class FieldMaker {
 public:
  FieldMaker(const HeadProgram& program, const Binding& binding, std::size_t batch)
      : program_(program), binding_(binding), batch_(batch) {}

  FieldView make(const Field& field, const Level& level) const {
    FieldView out;
    if (!field) return out;
    const TensorPlan& plan = program_.tensors[field.tensor];
    const std::ptrdiff_t feature = stride(field, plan.feature_axis);
    const std::ptrdiff_t column = stride(field, plan.column_axis);
    out.column_stride = column;
    out.row_stride = plan.row_axis ? stride(field, plan.row_axis)
                                   : static_cast<std::ptrdiff_t>(level.columns) * column;
    out.feature_stride = feature;
    out.anchor_stride = plan.anchor_axis
                            ? stride(field, plan.anchor_axis)
                            : static_cast<std::ptrdiff_t>(field.anchor_features) * feature;
    out.anchor_channels = field.anchor_features;
    out.channel = field.first;
    out.count = field.count;
    out.data = binding_.maps[field.tensor].data() + image(field, plan) +
               static_cast<std::ptrdiff_t>(field.first) * feature +
               static_cast<std::ptrdiff_t>(field.first_box) * column;
    out.dtype = binding_.tensors[field.tensor]->dtype();
    const StoredAs& stored = binding_.stored[field.tensor];
    out.affine = stored.affine;
    out.stored = stored.quantization;
    if (stored.quantization != nullptr && !stored.quantization->is_per_tensor())
      out.per_channel = stored.quantization;
    return out;
  }

 private:
  std::ptrdiff_t image(const Field& field, const TensorPlan& plan) const {
    const std::size_t extent = batch_extent(*binding_.tensors[field.tensor], plan.batch_axis,
                                            binding_.stored[field.tensor].missing);
    return is_shared(plan.role, extent)
               ? 0
               : static_cast<std::ptrdiff_t>(batch_) * stride(field, plan.batch_axis);
  }
  std::ptrdiff_t stride(const Field& field, std::optional<std::size_t> axis) const {
    const std::size_t missing = binding_.stored[field.tensor].missing;
    if (!axis || *axis < missing) return 0;
    return binding_.maps[field.tensor].layout().stride_bytes[*axis - missing];
  }
  const HeadProgram& program_;
  const Binding& binding_;
  std::size_t batch_;
};

LevelView view_of(const FieldMaker& maker, const Level& level) {
  const auto make = [&](const Field& field) { return maker.make(field, level); };
  return {make(level.boxes),      make(level.sizes),   make(level.scores),
          make(level.objectness), make(level.classes), make(level.coefficients),
          make(level.keypoints),  make(level.angles),  make(level.priors)};
}

BoxUnits units_of(const HeadProgram& program, DType dtype, Dequantization affine) noexcept {
  if (program.box_units) return *program.box_units;
  if (!is_integer(dtype)) return BoxUnits::pixels;
  const auto highest = static_cast<float>(stored_range(dtype).highest);
  return dequantize(highest, affine) < 4 ? BoxUnits::fraction : BoxUnits::pixels;
}

}  // namespace

Status bind(const HeadProgram& program, const ModelDescription& description,
            std::span<const Tensor> tensors, std::size_t batch, Binding& out) {
  HALYARD_RETURN_IF_ERROR(match(program, tensors, out.tensors));
  const std::size_t count = program.tensors.size();
  out.maps.resize(count);
  out.stored.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(out.stored[i], stored_as(*out.tensors[i], program.tensors[i]));
    HALYARD_RETURN_IF_ERROR(
        check_batch(*out.tensors[i], program.tensors[i], out.stored[i].missing, batch));
    HALYARD_TRY(out.maps[i], out.tensors[i]->map(Access::read));
  }
  const FieldMaker maker(program, out, batch);
  out.levels.clear();
  for (const Level& level : program.levels)
    out.levels.push_back(view_of(maker, level));
  out.scale_x = out.scale_y = 1;
  const FieldView& boxes = out.levels[0].boxes;
  if (units_of(program, boxes.dtype, boxes.affine) == BoxUnits::fraction) {
    if (description.input.width <= 0 || description.input.height <= 0) {
      return fail(Errc::invalid_argument,
                  "input: boxes in fractions need the size of the network's input");
    }
    out.scale_x = static_cast<float>(description.input.width);
    out.scale_y = static_cast<float>(description.input.height);
  }
  return {};
}

}  // namespace halyard::decode
