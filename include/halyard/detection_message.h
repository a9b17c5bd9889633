// SPDX-License-Identifier: Apache-2.0
// DetectionMessage: what was found in one frame, as a message of a topic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/sensor_message.h"
#include "halyard/topic.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// One object, in pixels of the upright image. Plain bytes, little endian.
struct DetectionEntry {
  Box box;
  float score = 0;
  std::int32_t label = 0;
  std::uint64_t track = 0;  ///< its identity, from 1; 0: none
};
static_assert(sizeof(DetectionEntry) == 32 && offsetof(DetectionEntry, track) == 24);

/// The objects of a frame, best first. Its bytes: header (40), index (8), width (4), height (4),
/// count of entries (8), entries (32 each).
struct DetectionMessage {
  SensorHeader header;      ///< the frame's time; frame_id is the name of the model
  std::uint64_t index = 0;  ///< of the frame in its source
  std::uint32_t width = 0;  ///< of the upright image, in pixels
  std::uint32_t height = 0;
  std::vector<DetectionEntry> entries;
};

template <>
struct MessageSerializer<DetectionMessage> {
  static constexpr std::string_view name = "halyard.Detections";
  static std::size_t size(const DetectionMessage& message);
  /// Requires size() bytes.
  static void write(const DetectionMessage& message, std::span<std::byte> into);
  /// Errors: malformed (another length than the count of entries needs, a bad header).
  static Result<DetectionMessage> read(std::span<const std::byte> bytes);
};

}  // namespace halyard
HALYARD_EXPORTS_END
