// SPDX-License-Identifier: Apache-2.0
// What an engine derives from metadata and shapes: the size of a model's image and the pixel format
// of its inputs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "halyard/format.h"
#include "halyard/geometry.h"
#include "halyard/tensor.h"
#include "model/runtime.h"

namespace halyard::model {

/// ".onnx": in lower case, with the dot.
std::string extension_of(const std::string& path);
std::optional<FileKind> file_kind(const std::string& path);

/// The size in the entry "imgsz", "[height, width]"; nullopt if it is missing or has another form.
std::optional<Size> image_size(const Metadata& metadata);

/// The format of an image input: NCHW with 1, 3 or 4 channels, or NHWC. nullopt if the shape
/// matches neither layout, or both.
std::optional<PixelFormat> image_format(DType dtype, std::span<const std::size_t> shape);
/// The format of one image of an input with any number of them in its leading axis.
std::optional<PixelFormat> item_format_of(const TensorSpec& spec);

}  // namespace halyard::model
