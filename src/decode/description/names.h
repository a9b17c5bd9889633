// SPDX-License-Identifier: Apache-2.0
// Names of enumerators in description documents: one table per enumeration.
#pragma once

#include <optional>
#include <string_view>

#include "halyard/description.h"

namespace halyard::decode {

/// Accept every spelling that documents use. Empty for an unknown name.
std::optional<OutputRole> role_of(std::string_view word) noexcept;
std::optional<AxisName> axis_of(std::string_view word) noexcept;
std::optional<Family> family_of(std::string_view word) noexcept;
std::optional<BoxEncoding> encoding_of(std::string_view word) noexcept;
std::optional<ScoreFormat> score_format_of(std::string_view word) noexcept;
std::optional<Activation> activation_of(std::string_view word) noexcept;
std::optional<Task> task_of(std::string_view word) noexcept;
std::optional<Nms> nms_of(std::string_view word) noexcept;
std::string_view name_of(Nms nms) noexcept;
std::string_view name_of(DType dtype) noexcept;
/// The values of decoder_version that a document can have.
inline constexpr std::string_view decoder_versions[] = {"yolov5", "yolov8", "yolo11", "yolo26"};

}  // namespace halyard::decode
