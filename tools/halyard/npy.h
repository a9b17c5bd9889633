// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files (format 1 to 3): little-endian arrays in C order, no object arrays.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard::tool {

/// Parses a whole file. Errors: malformed (no .npy, a header that is cut or says nothing sensible,
/// data of another length than the header says), unsupported (big-endian, Fortran order, a dtype
/// that tensors do not have).
Result<Tensor> parse_npy(std::span<const std::byte> file);
/// Errors also those of read_file.
Result<Tensor> read_npy(const std::string& path);

/// A whole file around `bytes`. `bytes` must hold the elements of `shape`.
std::vector<std::byte> make_npy(DType dtype, std::span<const std::size_t> shape,
                                std::span<const std::byte> bytes);

/// The picture's samples at tight strides, plane after plane, and the array shape they have.
/// NV12 and its like: rows of the tight stride, luma first. Errors: those of mapping.
struct RawPicture {
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;
};
Result<RawPicture> raw_picture(const Tensor& picture);

/// The reverse: fills a new picture from samples at tight strides. Errors: invalid_argument (length
/// of `bytes`), those of create_image.
Result<Tensor> picture_from_raw(std::span<const std::byte> bytes, Size size, PixelFormat format,
                                DType dtype = DType::u8);

}  // namespace halyard::tool
