// SPDX-License-Identifier: Apache-2.0
// What an engine derives from metadata and shapes: the size of a model's image and the pixel format
// of its inputs.
#pragma once

#include "model/session.h"

namespace halyard::model {

std::optional<FileKind> file_kind(const std::string& path);

/// The size in the entry "imgsz", "[height, width]"; nullopt if it is missing or has another form.
std::optional<Size> image_size(const Metadata& metadata);

/// The format of an image input: NCHW with 1, 3 or 4 channels, or NHWC. nullopt if the shape
/// matches neither layout, or both.
std::optional<PixelFormat> image_format(DType dtype, std::span<const std::size_t> shape);

}  // namespace halyard::model
