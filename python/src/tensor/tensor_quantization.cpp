// SPDX-License-Identifier: Apache-2.0
// Tensor: the quantization of its integers.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "args.h"
#include "tensor/tensor_class.h"
#include "values.h"

namespace halyard::python {
namespace {

// The maximum number of scales along an axis, at least 1.
std::size_t extent_of(const PyTensor& self, std::size_t axis) {
  return axis < self.value.rank() ? std::max<std::size_t>(self.value.shape()[axis], 1) : 1;
}

void set(PyTensor& tensor, Quantization quantization) {
  if (quantization.scale.size() == 1) quantization.axis.reset();
  check(tensor.value.set_quantization(std::move(quantization)));
}

void add_property(TensorClass& cls) {
  cls.def_prop_rw(
      "quantization",
      [](const PyTensor& t) {
        return t.value.quantization() ? nb::cast(*t.value.quantization()) : nb::none();
      },
      [](PyTensor& t, nb::handle q) {
        if (q.is_none()) return check(t.value.set_quantization({}));
        const Quantization* given = nullptr;
        if (!nb::try_cast(q, given) || given == nullptr)
          raise_wrong_type("quantization", "a Quantization or None", q);
        check(t.value.set_quantization(*given));
      },
      nb::arg("value").none(), nb::sig("def quantization(self) -> Quantization | None"),
      "The map from the stored integers to real numbers; always None for floats.");
}

void add_per_tensor(TensorClass& cls) {
  cls.def(
         "set_quantization_per_tensor",
         [](PyTensor& t, FloatArg<"scale"> scale, IntArg<"zero_point"> zero_point) {
           set(t, {{scale}, {zero_point}, {}});
         },
         nb::arg("scale"), nb::arg("zero_point"),
         "One scale and zero point. Integer tensors only; raises RuntimeError for others.")
      .def(
          "set_quantization_per_tensor_symmetric",
          [](PyTensor& t, FloatArg<"scale"> scale) {
            set(t, {{scale}, {}, {}});
          },
          nb::arg("scale"), "One scale, zero point 0.");
}

void add_per_channel(TensorClass& cls) {
  cls.def(
         "set_quantization_per_channel",
         [](PyTensor& t, nb::handle scales, nb::handle zero_points, SizeArg<"axis"> axis) {
           const std::size_t along = axis;
           const std::size_t maximum = extent_of(t, along);
           std::vector<float> factors = float_list_from(scales, "scales", maximum);
           std::vector<std::int32_t> zeros = int_list_from(zero_points, "zero_points", maximum);
           if (zeros.size() != factors.size())
             raise(Errc::invalid_argument, "zero_points: must be as many as scales");
           set(t, {std::move(factors), std::move(zeros), along});
         },
         nb::arg("scales"), nb::arg("zero_points"), nb::arg("axis"),
         nb::sig("def set_quantization_per_channel(self, scales: Sequence[float], zero_points: "
                 "Sequence[int], axis: int) -> None"),
         "One scale and zero point for each index of `axis`.")
      .def(
          "set_quantization_per_channel_symmetric",
          [](PyTensor& t, nb::handle scales, SizeArg<"axis"> axis) {
            const std::size_t along = axis;
            set(t, {float_list_from(scales, "scales", extent_of(t, along)), {}, along});
          },
          nb::arg("scales"), nb::arg("axis"),
          nb::sig("def set_quantization_per_channel_symmetric(self, scales: Sequence[float], axis: "
                  "int) -> None"),
          "One scale for each index of `axis`.")
      .def(
          "clear_quantization", [](PyTensor& t) { check(t.value.set_quantization({})); },
          "Removes the quantization.");
}

}  // namespace

void add_quantization(TensorClass& cls) {
  add_property(cls);
  add_per_tensor(cls);
  add_per_channel(cls);
}

}  // namespace halyard::python
