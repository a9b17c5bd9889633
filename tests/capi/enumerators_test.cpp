// SPDX-License-Identifier: Apache-2.0
// The enumerators of the C interface have the names and values of those of the C++ interface, so
// that a conversion is a cast. The compiler compares them: this file has no code, and no case.
#include "halyard/enumerators.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <variant>

#include "capi/ipc/topics.h"
#include "halyard/c/camera.h"
#include "halyard/c/negotiate.h"
#include "halyard/c/pipeline.h"
#include "halyard/c/tile.h"
#include "halyard/c/video_codec.h"
#include "halyard/camera.h"
#include "halyard/compat/decode.h"
#include "halyard/hal.h"
#include "halyard/log.h"
#include "halyard/negotiated_buffer.h"
#include "halyard/pipeline.h"
#include "halyard/tile_merge.h"
#include "halyard/video_codec.h"

namespace halyard::capi {
namespace {

// A name that C spells otherwise: C++ reserves the word, or programs for EdgeFirst HAL use it.
struct Spelling {
  std::string_view of_c;
  std::string_view of_cpp;
};

constexpr bool equal_in_small_letters(std::string_view large, std::string_view small) {
  return std::ranges::equal(large, small, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

template <class C, class E>
consteval bool are_equal(const Enumerator<C>& of_c, const Enumerator<E>& of_cpp,
                         std::string_view prefix, std::initializer_list<Spelling> spellings) {
  if (static_cast<int>(of_c.value) != static_cast<int>(of_cpp.value)) return false;
  if (!of_c.name.starts_with(prefix)) return false;
  const std::string_view name = of_c.name.substr(prefix.size());
  for (const Spelling& each : spellings)
    if (each.of_c == name) return each.of_cpp == of_cpp.name;
  return equal_in_small_letters(name, of_cpp.name);
}

// Whether the enumerators of C, without `prefix`, are those of E, without the one that C lacks.
template <class C, class E>
consteval bool mirrors(std::string_view prefix, std::initializer_list<Spelling> spellings = {},
                       std::string_view lacking = {}) {
  auto of_c = enumerators<C>.begin();
  for (const Enumerator<E>& of_cpp : enumerators<E>) {
    if (of_cpp.name == lacking) continue;
    if (of_c == enumerators<C>.end() || !are_equal(*of_c++, of_cpp, prefix, spellings))
      return false;
  }
  return of_c == enumerators<C>.end();
}

template <class E>
constexpr bool has_value(E value, int number) {
  return static_cast<int>(value) == number;
}

static_assert(mirrors<hal_dtype, DType>("HAL_DTYPE_", {{"BOOL", "boolean"}}));
static_assert(mirrors<hal_tensor_memory, Memory>("HAL_TENSOR_MEMORY_"));
static_assert(has_value(Memory::automatic, HAL_TENSOR_MEMORY_AUTO));
static_assert(mirrors<hal_pixel_format, PixelFormat>("HAL_PIXEL_FORMAT_"));
static_assert(mirrors<HalCpuAccess, CpuAccess>("HAL_CPU_ACCESS_"));
static_assert(mirrors<hal_rotation, Rotation>(
    "HAL_ROTATION_", {{"ROTATE90", "cw90"}, {"ROTATE180", "cw180"}, {"ROTATE270", "cw270"}}));
static_assert(mirrors<hal_flip, Flip>("HAL_FLIP_"));
static_assert(mirrors<hal_camera_transfer, CameraTransfer>("HAL_CAMERA_TRANSFER_"));
static_assert(mirrors<hal_video_codec, VideoCodec>("HAL_VIDEO_CODEC_"));
static_assert(mirrors<hal_encoder_memory, EncoderMemory>("HAL_ENCODER_MEMORY_"));
static_assert(mirrors<hal_camera_control_kind, CameraControlKind>("HAL_CAMERA_CONTROL_KIND_"));
static_assert(has_value(Fit::stretch, HAL_FIT_STRETCH) &&
              has_value(Fit::letterbox, HAL_FIT_LETTERBOX));
static_assert(mirrors<hal_compute_backend, ComputeBackend>("HAL_COMPUTE_BACKEND_",
                                                           {{"AUTO", "automatic"}}));
static_assert(mirrors<HalCompression, Compression>("HAL_COMPRESSION_"));
static_assert(mirrors<hal_log_level, LogLevel>("HAL_LOG_LEVEL_", {}, "off"));

static_assert(mirrors<HalOutputType, compat::OutputKind>("HAL_OUTPUT_TYPE_"));
static_assert(mirrors<HalDecoderType, compat::OutputFamily>("HAL_DECODER_TYPE_",
                                                            {{"MODEL_PACK", "modelpack"}}));
static_assert(mirrors<HalDimName, compat::DimName>("HAL_DIM_NAME_"));
static_assert(mirrors<HalDecoderVersion, compat::DecoderVersion>("HAL_DECODER_VERSION_"));
static_assert(mirrors<hal_nms, compat::Nms>("HAL_NMS_", {{"AUTO", "automatic"}}));
static_assert(mirrors<hal_color_mode, ColorBy>("HAL_COLOR_MODE_", {{"CLASS", "label"}}));
static_assert(has_value(compat::ProtoLayout::nhwc, HAL_PROTO_LAYOUT_NHWC) &&
              has_value(compat::ProtoLayout::nchw, HAL_PROTO_LAYOUT_NCHW));

static_assert(mirrors<hal_overflow, Overflow>("HAL_OVERFLOW_"));
static_assert(mirrors<hal_topic_role, TopicRole>("HAL_TOPIC_"));
static_assert(mirrors<hal_scrub, Scrub>("HAL_SCRUB_"));
static_assert(mirrors<hal_image_encoding, ImageEncoding>("HAL_IMAGE_ENCODING_"));
static_assert(mirrors<hal_point_datatype, PointDatatype>("HAL_POINT_"));
static_assert(mirrors<hal_message_type, MessageKind>("HAL_MESSAGE_", {}, "plain"));

static_assert(has_value(AxisOrder::nchw, HAL_AXIS_ORDER_NCHW) &&
              has_value(AxisOrder::nhwc, HAL_AXIS_ORDER_NHWC) &&
              has_value(AxisOrder::nc_hwx, HAL_AXIS_ORDER_NC_HWX));
static_assert(has_value(OperationState::none, HAL_OPERATION_NONE) &&
              has_value(OperationState::pending, HAL_OPERATION_PENDING) &&
              has_value(OperationState::done, HAL_OPERATION_DONE) &&
              has_value(OperationState::failed, HAL_OPERATION_FAILED));

static_assert(mirrors<hal_overload_policy, OverloadPolicy>("HAL_OVERLOAD_"));
static_assert(
    std::is_same_v<std::variant_alternative_t<HAL_TRACKER_BYTETRACK, TrackerOptions>,
                   ByteTrackOptions> &&
    std::is_same_v<std::variant_alternative_t<HAL_TRACKER_SORT, TrackerOptions>, SortOptions>);

}  // namespace
}  // namespace halyard::capi
