// SPDX-License-Identifier: Apache-2.0
// Arrays of detections in Python, both ways, and other arguments that several files take.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bindings.h"
#include "halyard/detection.h"
#include "halyard/tensor.h"

namespace halyard::python {

/// The names of the three arrays as arguments.
struct DetectionNames {
  const char* boxes = "bbox";
  const char* scores = "scores";
  const char* classes = "classes";
};

/// Boxes (N, 4), scores (N,) and classes (N,) as detections. Boxes and scores are floats of 16, 32
/// or 64 bits or integers, classes integers of any width in 0..2^31-1; of any strides, read in
/// place; lists and other array-likes are converted. Raises TypeError (another dtype, byte order
/// or number of axes) and InvalidArgumentError (columns, lengths, range), naming the argument.
void detections_from(nb::handle boxes, nb::handle scores, nb::handle classes,
                     const DetectionNames& names, std::vector<Detection>& out);

/// New NumPy arrays: float32 (N, 4), float32 (N,), uintp (N,).
struct DetectionArrays {
  nb::object boxes;
  nb::object scores;
  nb::object classes;
};
DetectionArrays detection_arrays(std::span<const Detection> detections);

/// Element types of new arrays.
enum class ArrayType : std::uint8_t { f32, uintp, u8 };
/// A new NumPy array in C order, not filled; `data` is its first byte.
nb::object new_array(ArrayType type, std::span<const std::size_t> shape, void** data);

/// A tensor for each output of a model: a list or tuple of Tensors, NumPy arrays or other objects
/// that can be read without a copy. Raises TypeError or InvalidArgumentError naming "model_output".
std::vector<Tensor> outputs_from(nb::handle outputs);

/// A count. Raises OverflowError if it is negative or too large, TypeError if it is not an integer.
std::uint64_t count_from(nb::handle value, const char* argument);
/// A count of pixels. Raises also InvalidArgumentError: 2^31 and above.
std::int32_t extent_from(nb::handle value, const char* argument);
/// The four numbers of a letterbox; none for None.
std::optional<std::array<float, 4>> letterbox_from(nb::handle value);

}  // namespace halyard::python
