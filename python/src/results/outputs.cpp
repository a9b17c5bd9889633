// SPDX-License-Identifier: Apache-2.0
// Output: a program's description of one model output. ProtoData: the data of masks.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "bindings.h"
#include "enums.h"
#include "halyard/compat/decode.h"
#include "results/decoder.h"
#include "tensor/arrays.h"
#include "tensor/tensor.h"

namespace halyard::python {
namespace {

using compat::Output;
using compat::OutputKind;

void check_rank(const char* argument, std::size_t axes) {
  if (axes > max_rank)
    raise(Errc::invalid_argument,
          std::string(argument) + ": must have at most " + std::to_string(max_rank) + " axes");
}

Output make(OutputKind kind, nb::handle shape, nb::handle dshape, nb::handle decoder) {
  Output output{.kind = kind};
  output.family = enum_from<compat::OutputFamily>(decoder, "decoder");
  // Programs match these texts, and those of with_*(), by EdgeFirst HAL's wording.
  if (!shape.is_none() && !dshape.is_none())
    raise(Errc::invalid_argument, "Provide either 'shape' or 'dshape', not both");
  if (shape.is_none() && dshape.is_none())
    raise(Errc::invalid_argument, "Either 'shape' or 'dshape' must be provided");
  if (!shape.is_none()) {
    const std::size_t count = for_each_item(shape, "shape", "a sequence of ints", max_rank,
                                            [&](nb::handle extent, std::size_t) {
                                              output.shape.push_back(count_from(extent, "shape"));
                                            });
    check_rank("shape", count);
    return output;
  }
  constexpr const char* wanted = "a list of (DimName, int)";
  const auto add = [&](nb::handle pair, std::size_t) {
    const std::size_t count =
        for_each_item(pair, "dshape", wanted, 2, [&](nb::handle item, std::size_t i) {
          if (i == 0) output.dims.push_back(enum_from<compat::DimName>(item, "dshape"));
          if (i == 1) output.shape.push_back(count_from(item, "dshape"));
        });
    if (count != 2) raise_wrong_type("dshape", wanted, pair);
  };
  check_rank("dshape", for_each_item(dshape, "dshape", wanted, max_rank, add));
  return output;
}

nb::object with_quantization(nb::handle self, FloatArg<"scale"> scale,
                             IntArg<"zero_point"> zero_point) {
  const float factor = scale;
  const std::int32_t zero = zero_point;
  auto& output = nb::cast<Output&>(self);
  output.scale = factor;
  output.zero_point = zero;
  output.is_quantized = true;
  return nb::borrow(self);
}

nb::object with_anchors(nb::handle self, const nb::object& anchors) {
  auto& output = nb::cast<Output&>(self);
  if (!compat::may_have_anchors(output.kind))
    raise(Errc::invalid_argument, "with_anchors() is only valid for detection outputs");
  std::vector<std::array<float, 2>> sizes;
  const std::size_t count =
      for_each_item(anchors, "anchors", "a sequence of (width, height)", DocumentLimits::outputs,
                    [&](nb::handle anchor, std::size_t) {
                      floats_from(anchor, "anchors", sizes.emplace_back());
                    });
  if (count > DocumentLimits::outputs)
    raise(Errc::invalid_argument,
          "anchors: must be at most " + std::to_string(DocumentLimits::outputs));
  output.anchors.clear();
  for (const auto& size : sizes)
    output.anchors.push_back({size[0], size[1]});
  return nb::borrow(self);
}

nb::object with_normalized(nb::handle self, bool normalized) {
  auto& output = nb::cast<Output&>(self);
  if (!compat::may_be_normalized(output.kind))
    raise(Errc::invalid_argument, "with_normalized() is only valid for detection or boxes outputs");
  output.normalized = normalized;
  return nb::borrow(self);
}

constexpr std::pair<const char*, OutputKind> kinds[] = {
    {"detection", OutputKind::detection},
    {"boxes", OutputKind::boxes},
    {"scores", OutputKind::scores},
    {"protos", OutputKind::protos},
    {"segmentation", OutputKind::segmentation},
    {"mask_coefficients", OutputKind::mask_coefficients},
    {"mask", OutputKind::mask},
    {"classes", OutputKind::classes},
};

std::string output_repr(const Output& output) {
  std::string text =
      std::string("Output.") + kinds[static_cast<std::size_t>(output.kind)].first + "(shape=[";
  for (std::size_t i = 0; i < output.shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(output.shape[i]);
  return text + "])";
}

// A Tensor of the decoder's module, or None.
nb::object taken_result(const PyProtoData& self, std::optional<Tensor> taken) {
  if (!taken) return nb::none();
  return self.is_reference ? tensor_result<PyReferenceTensor>(*std::move(taken))
                           : tensor_result(*std::move(taken));
}

void bind_protos(nb::module_& m) {
  nb::class_<PyProtoData>(m, "ProtoData",
                          "The data of masks: prototypes that all boxes share, and a row of\n"
                          "coefficients for each. Made by Decoder.decode_proto.")
      .def_prop_ro(
          "layout",
          [](PyProtoData& self) {
            return self.value.layout() == compat::ProtoLayout::nhwc ? "nhwc" : "nchw";
          },
          "\"nhwc\": prototypes are (H, W, K); \"nchw\": (K, H, W).")
      .def(
          "take_protos",
          [](PyProtoData& self) {
            auto taken = released([&] {
              const std::lock_guard lock(self.mutex);
              return self.value.take_protos();
            });
            return taken_result(self, std::move(taken));
          },
          "The prototypes as a Tensor, with their quantization; once, then None.")
      .def(
          "take_mask_coefficients",
          [](PyProtoData& self) {
            auto taken = take(released([&] {
              const std::lock_guard lock(self.mutex);
              return self.value.take_mask_coefficients();
            }));
            return taken_result(self, std::move(taken));
          },
          "The coefficients as a Tensor (N, K); once, then None.")
      .def(
          "__len__", [](PyProtoData& self) { return self.value.size(); }, "Rows of coefficients.");
}

}  // namespace

void bind_outputs(nb::module_& m) {
  bind_protos(m);
  nb::class_<Output> type(
      m, "Output",
      "One output of a model: made by the functions named after its role, each\n"
      "with its shape, or with pairs of (DimName, extent). The calls with_...()\n"
      "change it and return it.");
  for (const auto& [name, kind] : kinds) {
    const std::string signature =
        std::string("def ") + name +
        "(shape: Sequence[int] | None = None, dshape: Sequence[tuple[DimNameLike, int]] | None = "
        "None, decoder: DecoderTypeLike = DecoderType.Ultralytics) -> Output";
    type.def_static(
        name,
        [kind = kind](nb::handle shape, nb::handle dshape, nb::handle decoder) {
          return make(kind, shape, dshape, decoder);
        },
        nb::arg("shape").none() = nb::none(), nb::arg("dshape").none() = nb::none(),
        nb::arg("decoder") = enum_to(compat::OutputFamily::ultralytics), nb::sig(signature.c_str()),
        "Args:\n    shape: list of extents, outermost first.\n"
        "    dshape: list of (DimName, extent) instead.\n"
        "    decoder: family of the model.");
  }
  type.def("with_quantization", &with_quantization, nb::arg("scale"), nb::arg("zero_point"),
           nb::sig("def with_quantization(self, scale: float, zero_point: int) -> Output"),
           "For integer tensors: value = (stored - zero_point) * scale. Returns this object.")
      .def("with_anchors", &with_anchors, nb::arg("anchors"),
           nb::sig("def with_anchors(self, anchors: Sequence[Sequence[float]]) -> Output"),
           "For detection outputs: pairs (width, height) in fractions. Returns this object.")
      .def("with_normalized", &with_normalized, nb::arg("normalized"),
           nb::sig("def with_normalized(self, normalized: bool) -> Output"),
           "Whether boxes are fractions of the input. Returns this object.")
      .def("__repr__", &output_repr);
}

}  // namespace halyard::python
