// SPDX-License-Identifier: Apache-2.0
// Converts stored numbers to floats, for whole tensors.
#include <type_traits>

#include "base/text/format_error.h"
#include "compat/decoder_state.h"
#include "compat/dequantize.h"

namespace halyard::compat {
namespace {

template <class T>
Status fill_real(const TensorMap& from, float scale, std::int32_t zero_point, std::span<float> to) {
  HALYARD_TRY(const auto stored, from.flat<const T>());
  for (std::size_t i = 0; i < to.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      to[i] = static_cast<float>(stored[i]);
    } else if constexpr (sizeof(T) < 4) {
      to[i] = static_cast<float>(std::int32_t{stored[i]} - zero_point) * scale;
    } else {  // above 24 bits a float would round before the zero point is subtracted
      to[i] = static_cast<float>(static_cast<double>(std::int64_t{stored[i]} - zero_point) *
                                 static_cast<double>(scale));
    }
  }
  return {};
}

Status fill_real(const Tensor& tensor, float scale, std::int32_t zero_point, std::span<float> to) {
  HALYARD_TRY(const TensorMap from, tensor.map(Access::read));
  switch (tensor.dtype()) {
    case DType::u8:
      return fill_real<std::uint8_t>(from, scale, zero_point, to);
    case DType::i8:
      return fill_real<std::int8_t>(from, scale, zero_point, to);
    case DType::u16:
      return fill_real<std::uint16_t>(from, scale, zero_point, to);
    case DType::i16:
      return fill_real<std::int16_t>(from, scale, zero_point, to);
    case DType::u32:
      return fill_real<std::uint32_t>(from, scale, zero_point, to);
    case DType::i32:
      return fill_real<std::int32_t>(from, scale, zero_point, to);
    case DType::f64:
      return fill_real<double>(from, scale, zero_point, to);
    default:
      return fail(Errc::invalid_argument, "input: must be integers of 8, 16 or 32 bits", "{}",
                  to_string(tensor.dtype()));
  }
}

}  // namespace

bool needs_widening(DType dtype) noexcept {
  return dtype == DType::f64 || dtype == DType::i32 || dtype == DType::u32;
}

Result<Tensor> widened(const Tensor& tensor, const std::optional<Quantization>& described) {
  const auto& quantization = tensor.quantization() ? tensor.quantization() : described;
  if (quantization && !quantization->is_per_tensor())
    return fail(Errc::unsupported, "outputs: 32-bit integers must have quantization per tensor");
  HALYARD_TRY(Tensor out, Tensor::create(DType::f32, tensor.shape(), Memory::mem));
  out.set_name(tensor.name());
  HALYARD_TRY(const TensorMap map, out.map(Access::write));
  HALYARD_TRY(const auto to, map.flat<float>());
  HALYARD_RETURN_IF_ERROR(fill_real(tensor, quantization ? quantization->scale_at(0) : 1.0F,
                                    quantization ? quantization->zero_point_at(0) : 0, to));
  return out;
}

Status dequantize(const Tensor& input, float scale, std::int32_t zero_point, Tensor& output) {
  if (!is_integer(input.dtype()) || output.dtype() != DType::f32 ||
      input.element_count() != output.element_count()) {
    return fail(Errc::invalid_argument, "dequantize: needs integers and as many f32 outputs",
                "{} of {} to {} of {}", input.element_count(), to_string(input.dtype()),
                output.element_count(), to_string(output.dtype()));
  }
  if (aliases(input, output))
    return fail(Errc::invalid_argument, "dequantize: input and output must not share bytes");
  HALYARD_TRY(const TensorMap map, output.map(Access::write));
  HALYARD_TRY(const auto to, map.flat<float>());
  return fill_real(input, scale, zero_point, to);
}

}  // namespace halyard::compat
