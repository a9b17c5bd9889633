// SPDX-License-Identifier: Apache-2.0
// Tensor.normalize_to_numpy: bytes of an image as a network's numbers.
#include <string>

#include "args.h"
#include "enums.h"
#include "halyard/normalize.h"
#include "tensor/array_view.h"
#include "tensor/tensor_class.h"

namespace halyard::python {
namespace {

// What normalization DEFAULT means, and a refusal of what a dtype does not take.
ByteNormalization normalization_of(Normalization mode, DType dtype) {
  if (mode == Normalization::automatic)
    mode = dtype == DType::u8 ? Normalization::raw : Normalization::with_sign;
  const auto needed = dtype == DType::u8 ? Normalization::raw : Normalization::with_sign;
  if (!is_float(dtype) && mode != needed)
    raise(Errc::unsupported, std::string("normalization: uint8 takes RAW, int8 SIGNED (") +
                                 nb::str(enum_to(mode)).c_str() + ", " + dtype_name(dtype) + ")");
  ByteNormalization out;
  out.scale = mode == Normalization::raw            ? ByteScale::none
              : mode == Normalization::without_sign ? ByteScale::unit
                                                    : ByteScale::symmetric;
  return out;
}

void check_image(const Tensor& source, const Layout& to) {
  if (source.dtype() != DType::u8 || source.rank() != 3)
    raise(Errc::unsupported, "tensor: must be a packed image of uint8, shape [H,W,C]");
  const bool drops_alpha =
      source.format() == PixelFormat::rgba && to.shape[2] == 3 && source.shape()[2] == 4;
  if (to.shape[0] != source.shape()[0] || to.shape[1] != source.shape()[1] ||
      (to.shape[2] != source.shape()[2] && !drops_alpha))
    raise(Errc::invalid_argument, "dst: its shape must be the tensor's, [H,W,C]");
}

Status fill_normalized(const Tensor& source, const Layout& to, std::byte* out,
                       const ByteNormalization& how) {
  HALYARD_TRY(const TensorMap map, source.map_unclaimed(Access::read));
  if (!map.planes_adjacent())
    return make_error(Errc::unsupported, "tensor: its planes lie in several places");
  return normalize_bytes(map.layout(), map.data(), to, out, how);
}

// The array comes last: the Python code of the other arguments has run when it is opened.
void normalize(const PyTensor& self, nb::handle dst, nb::handle normalization,
               nb::handle zero_point) {
  const bool has_zero_point = !zero_point.is_none();
  const std::int32_t zero = has_zero_point ? int_from(zero_point, "zero_point") : 0;
  const auto mode = enum_from<Normalization>(normalization, "normalization");
  const Tensor source = self.value;
  ArrayView output;
  if (!output.open(dst, "dst", ArrayUse::write)) raise_wrong_type("dst", "a writable array", dst);
  if (output.rank() != 3) throw nb::type_error("dst: must have 3 axes");
  const Layout to = output.layout("dst");
  if (!(is_float(to.dtype) || to.dtype == DType::u8 || to.dtype == DType::i8))
    throw nb::type_error("dst: must be uint8, int8, float16, float32 or float64");
  check_image(source, to);
  ByteNormalization how = normalization_of(mode, to.dtype);
  if (zero != 0 && how.scale != ByteScale::symmetric)
    raise(Errc::invalid_argument, "zero_point: only with SIGNED");
  if (has_zero_point) how.zero_point = zero;
  check(released([&] { return fill_normalized(source, to, output.writable(), how); }));
}

}  // namespace

void add_normalize(TensorClass& cls) {
  cls.def(
      "normalize_to_numpy", &normalize, nb::arg("dst"),
      nb::arg("normalization") = enum_to(Normalization::automatic),
      nb::arg("zero_point") = nb::none(),
      nb::sig("def normalize_to_numpy(self, dst: numpy.ndarray, normalization: NormalizationLike = "
              "Normalization.DEFAULT, zero_point: int | None = None) -> None"),
      "Writes a packed uint8 image into an array [H,W,C] of uint8 (RAW), int8 (SIGNED: v -\n"
      "zero_point, 128 by default) or floats (SIGNED: v / 127.5 - zero_point / 127.5, 1 by\n"
      "default; UNSIGNED: v / 255; RAW: v). Rgba may drop its alpha into 3 channels. Strides\n"
      "may be any on both sides; dst may share bytes with the image. Raises TypeError for\n"
      "another dst, RuntimeError if shapes differ or elements of dst share bytes.");
}

}  // namespace halyard::python
