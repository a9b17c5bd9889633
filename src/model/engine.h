// SPDX-License-Identifier: Apache-2.0
// What an engine knows of a model file and its inputs before a runtime reads it.
#pragma once

#include "model/session.h"

namespace halyard::model {

std::optional<FileKind> file_kind(const std::string& path);

/// Size from the entry "imgsz", "[height, width]"; nothing when there is none, or another text.
std::optional<Size> image_size(const Metadata& metadata);

/// Gives an image input its format: NCHW with 1, 3 or 4 channels, or NHWC. Nothing where the shape
/// fits neither, or both.
std::optional<PixelFormat> image_format(DType dtype, std::span<const std::size_t> shape);

}  // namespace halyard::model
