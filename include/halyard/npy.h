// SPDX-License-Identifier: Apache-2.0
// Reads and writes NumPy's .npy files (NumPy Enhancement Proposal 1, formats 1.0 to 3.0) as
// tensors: recorded network outputs, calibration data, test vectors.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Returns the array of a whole file as a new contiguous tensor in heap memory. An array without
/// axes gets the shape [1]. Element types: little-endian integers, f16, f32, f64 and bool. Errors:
/// malformed (not an .npy file; a header that ends early or contradicts itself; an empty array;
/// data whose length differs from the header's; more than 8 axes), unsupported (big-endian, Fortran
/// order, structures, objects, complex numbers, text), no_memory. Reentrant.
Result<Tensor> decode_npy(std::span<const std::byte> file);
/// The same from a file of at most `max_bytes`. Errors: those of decode_npy() and read_file().
Result<Tensor> load_npy(const std::string& path, std::size_t max_bytes = std::size_t{1} << 30);

/// Returns a whole file with the elements of `tensor` in C order. Any strides are accepted. Format,
/// quantization and name are not written. Errors: unsupported (bf16, for which NumPy has no type;
/// an image whose planes do not form one array, such as nv12), those of map(). Reentrant.
Result<std::vector<std::byte>> encode_npy(const Tensor& tensor);
/// As above for `bytes`, which hold the elements of `shape` in C order. Errors: unsupported (bf16),
/// invalid_argument (the length of `bytes` does not fit `shape`).
Result<std::vector<std::byte>> encode_npy(DType dtype, std::span<const std::size_t> shape,
                                          std::span<const std::byte> bytes);
/// Writes the file of encode_npy() through OutputFile. Errors: those of both.
Status save_npy(const Tensor& tensor, const std::string& path);

}  // namespace halyard
HALYARD_EXPORTS_END
