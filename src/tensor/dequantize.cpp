// SPDX-License-Identifier: Apache-2.0
// Dequantizes whole tensors.
#include "halyard/dequantize.h"

#include <span>
#include <type_traits>

#include "base/text/format_error.h"

namespace halyard {
namespace {

struct Coding {
  float scale = 1;
  std::int32_t zero_point = 0;
};

template <class T>
Status fill(const TensorMap& from, Coding coding, std::span<float> to) {
  HALYARD_TRY(const auto stored, from.flat<const T>());
  // So that the difference of a narrow integer fits 32 bits.
  constexpr std::int32_t limit = 1 << 30;
  [[maybe_unused]] const bool is_narrow =
      sizeof(T) < 4 && coding.zero_point >= -limit && coding.zero_point <= limit;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      to[i] = static_cast<float>(stored[i]);
    } else if (is_narrow) {
      to[i] = static_cast<float>(static_cast<std::int32_t>(stored[i]) - coding.zero_point) *
              coding.scale;
    } else {  // above 24 bits a float would round before the zero point is subtracted
      to[i] = static_cast<float>(static_cast<double>(std::int64_t{stored[i]} - coding.zero_point) *
                                 static_cast<double>(coding.scale));
    }
  }
  return {};
}

Status fill(const Tensor& tensor, Coding coding, Tensor& out) {
  HALYARD_TRY(const TensorMap from, tensor.map(Access::read));
  HALYARD_TRY(const TensorMap map, out.map(Access::write));
  HALYARD_TRY(const auto to, map.flat<float>());
  switch (tensor.dtype()) {
    case DType::u8:
      return fill<std::uint8_t>(from, coding, to);
    case DType::i8:
      return fill<std::int8_t>(from, coding, to);
    case DType::u16:
      return fill<std::uint16_t>(from, coding, to);
    case DType::i16:
      return fill<std::int16_t>(from, coding, to);
    case DType::u32:
      return fill<std::uint32_t>(from, coding, to);
    case DType::i32:
      return fill<std::int32_t>(from, coding, to);
    case DType::f64:
      return fill<double>(from, coding, to);
    default:
      return fail(Errc::invalid_argument, "input: must be integers of 8, 16 or 32 bits", "{}",
                  to_string(tensor.dtype()));
  }
}

}  // namespace

Status dequantize(const Tensor& input, float scale, std::int32_t zero_point, Tensor& output) {
  if (!is_integer(input.dtype()) || output.dtype() != DType::f32 ||
      input.element_count() != output.element_count()) {
    return fail(Errc::invalid_argument, "dequantize: needs integers and as many f32 outputs",
                "{} of {} to {} of {}", input.element_count(), to_string(input.dtype()),
                output.element_count(), to_string(output.dtype()));
  }
  if (aliases(input, output))
    return fail(Errc::invalid_argument, "dequantize: input and output must not share bytes");
  return fill(input, {scale, zero_point}, output);
}

Result<Tensor> dequantized(const Tensor& tensor, const std::optional<Quantization>& described) {
  const auto& quantization = tensor.quantization() ? tensor.quantization() : described;
  Coding coding;
  if (is_integer(tensor.dtype())) {
    if (!quantization)
      return fail(Errc::invalid_argument,
                  "dequantize: an integer tensor needs quantization, its own or the description's",
                  "{}: dtype {}", tensor.name(), to_string(tensor.dtype()));
    if (!quantization->is_per_tensor())
      return fail(Errc::unsupported, "dequantize: must have quantization per tensor", "{}",
                  tensor.name());
    coding = {quantization->scale_at(0), quantization->zero_point_at(0)};
  }
  HALYARD_TRY(Tensor out, Tensor::create(DType::f32, tensor.shape(), Memory::mem));
  out.set_name(tensor.name());
  HALYARD_RETURN_IF_ERROR(fill(tensor, coding, out));
  return out;
}

}  // namespace halyard
