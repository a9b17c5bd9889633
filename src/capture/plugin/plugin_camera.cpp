// SPDX-License-Identifier: Apache-2.0
// Calls a plugin's functions and checks what they give.
#include "capture/plugin/plugin_camera.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>

#include "base/text/format_error.h"
#include "capture/plugin/plugin_error.h"
#include "capture/v4l2/camera_choice.h"
#include "capture/v4l2/pixel_codes.h"
#include "halyard/import.h"

namespace halyard::capture {
namespace {

// Lists are cut here: a plugin that never ends one must not hang the program.
constexpr std::size_t max_list = 1024;

template <std::size_t size>
std::string text_in(const char (&field)[size]) {
  return std::string(field, ::strnlen(field, size));
}

// DRM's RGB565 has the code that V4L2 gives to a Bayer format.
std::uint32_t v4l2_code_of(std::uint32_t drm) noexcept {
  if (const auto layout = layout_from_drm(drm)) return v4l2_pixel_format(*layout).value_or(drm);
  if (drm == v4l2_fourcc('R', 'G', '1', '6')) return V4L2_PIX_FMT_RGB565;
  return drm;
}

CameraSize size_of_plugin(const hal_capture_size& from) {
  CameraSize size;
  size.width = from.max_width;
  size.height = from.max_height;
  size.min_width = std::min(from.min_width, from.max_width);
  size.min_height = std::min(from.min_height, from.max_height);
  size.step_width = std::max(from.step_width, 1U);
  size.step_height = std::max(from.step_height, 1U);
  if (!(from.max_rate > 0)) return size;
  size.is_rate_range = from.min_rate > 0 && from.min_rate < from.max_rate;
  size.rates = {from.max_rate};
  if (size.is_rate_range) size.rates.push_back(from.min_rate);
  return size;
}

CameraControl control_of_plugin(const hal_capture_control& from) {
  CameraControl control;
  control.id = from.id;
  control.name = text_in(from.name);
  control.description = text_in(from.description);
  control.kind =
      from.kind == HAL_CAPTURE_BOOLEAN ? CameraControlKind::boolean : CameraControlKind::integer;
  control.minimum = from.minimum;
  control.maximum = from.maximum;
  control.step = from.step;
  control.default_value = from.default_value;
  control.value = from.value;
  control.is_read_only = (from.flags & HAL_CAPTURE_CONTROL_READ_ONLY) != 0;
  return control;
}

CameraInfo info_of_plugin(const hal_capture_plugin& table, const hal_capture_info& from) {
  CameraInfo info;
  info.path = std::string(table.name) + ":" + text_in(from.id);
  info.name = text_in(from.name);
  info.driver = text_in(from.driver);
  info.bus = text_in(from.bus);
  return info;
}

// The strides that a format's planes have where only that of the first is told.
Result<std::vector<DriverFormat::Plane>> planes_of_mode(const hal_capture_mode& answer,
                                                        PixelLayout layout) {
  std::vector<DriverFormat::Plane> planes;
  for (std::uint32_t i = 0; i < answer.planes; ++i) {
    HALYARD_TRY(const PlaneGeometry plane, plane_geometry(layout.format, layout.dtype, answer.width,
                                                          answer.height, answer.stride[0], i));
    planes.push_back({answer.stride[i] > 0 ? answer.stride[i] : plane.stride_bytes, 0});
  }
  return planes;
}

// Whether the planes lie as plane_geometry() has them, in one object.
bool are_joined(const hal_capture_buffer& buffer, const PluginMode& mode, PixelLayout layout) {
  const auto& planes = mode.format.planes;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const auto place = plane_geometry(layout.format, layout.dtype, mode.format.width,
                                      mode.format.height, planes[0].stride_bytes, i);
    if (!place || buffer.planes[i].fd != buffer.planes[0].fd ||
        buffer.planes[i].offset != buffer.planes[0].offset + place->offset_bytes ||
        planes[i].stride_bytes != place->stride_bytes)
      return false;
  }
  return true;
}

// Planes in one object share its Buffer.
Result<PluginBuffer> import_planes(std::span<const hal_capture_plane> planes) {
  PluginBuffer buffer;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    if (i > 0 && planes[i].fd == planes[i - 1].fd) {
      buffer.memory.push_back(buffer.memory.back());
    } else {
      HALYARD_TRY(auto memory, Importer::shared().import_buffer(planes[i].fd));
      buffer.memory.push_back(std::move(memory));
    }
    buffer.offset_bytes.push_back(planes[i].offset);
  }
  return buffer;
}

}  // namespace

Result<std::unique_ptr<PluginCamera>> PluginCamera::open(const hal_capture_plugin& table,
                                                         const std::string& id) {
  std::string path = std::string(table.name) + ":" + id;
  hal_capture_device* camera = nullptr;
  PluginReason reason;
  HALYARD_RETURN_IF_ERROR(plugin_status(table.open(id.c_str(), &camera, reason.data()), reason,
                                        "camera: its plugin cannot open it", path));
  if (camera == nullptr) return fail(Errc::device, "camera plugin: gives no camera", "{}", path);
  return std::unique_ptr<PluginCamera>(new PluginCamera(table, camera, std::move(path)));
}

std::vector<CameraFormat> PluginCamera::formats(std::vector<std::uint32_t>* codes) const {
  std::vector<CameraFormat> formats;
  hal_capture_format from{};
  from.size = sizeof from;
  for (std::size_t i = 0; i < max_list && table_.format(camera_, i, &from) == HAL_CAPTURE_OK; ++i) {
    CameraFormat format;
    format.fourcc = v4l2_code_of(from.fourcc);
    format.description = text_in(from.description);
    if (const auto code = pixel_code(format.fourcc)) {
      format.layout = code->layout;
      format.is_jpeg = code->is_jpeg;
      format.sample_bits = code->sample_bits;
    }
    hal_capture_size size{};
    size.size = sizeof size;
    for (std::size_t k = 0;
         k < max_list && table_.frame_size(camera_, i, k, &size) == HAL_CAPTURE_OK; ++k)
      format.sizes.push_back(size_of_plugin(size));
    formats.push_back(std::move(format));
    if (codes != nullptr) codes->push_back(from.fourcc);
  }
  return formats;
}

std::vector<CameraControl> PluginCamera::controls() const {
  std::vector<CameraControl> controls;
  hal_capture_control from{};
  from.size = sizeof from;
  for (std::size_t i = 0; table_.control != nullptr && i < max_list &&
                          table_.control(camera_, i, &from) == HAL_CAPTURE_OK;
       ++i)
    controls.push_back(control_of_plugin(from));
  return controls;
}

Status PluginCamera::set_control(const CameraControl& control, std::int64_t value) const {
  PluginReason reason;
  return plugin_status(table_.set_control(camera_, control.id, value, reason.data()), reason,
                       "control: the camera refuses the value", path_ + ": " + control.name);
}

Result<PluginMode> PluginCamera::configure(const CameraOptions& options) {
  if (!options.images.empty())
    return fail(Errc::unsupported, "images: a plugin's camera writes into its own buffers only",
                "{}", path_);
  if (options.pool != nullptr)
    return fail(Errc::unsupported, "pool: a plugin's camera writes into its own buffers only", "{}",
                path_);
  std::vector<std::uint32_t> codes;
  const auto offered = formats(&codes);
  HALYARD_TRY(const CameraChoice choice, choose_mode(offered, options));
  const auto at = std::find_if(offered.begin(), offered.end(), [&](const CameraFormat& format) {
    return format.fourcc == choice.fourcc;
  });
  hal_capture_wish wish{};
  wish.size = sizeof wish;
  wish.fourcc = codes[static_cast<std::size_t>(at - offered.begin())];
  wish.width = static_cast<std::uint32_t>(choice.width);
  wish.height = static_cast<std::uint32_t>(choice.height);
  wish.rate = options.rate;
  wish.buffers = options.buffers;
  hal_capture_mode answer{};
  answer.size = sizeof answer;
  PluginReason reason;
  HALYARD_RETURN_IF_ERROR(plugin_status(table_.configure(camera_, &wish, &answer, reason.data()),
                                        reason, "camera: its plugin cannot set the size and format",
                                        path_));
  if (choice.width != 0 && (answer.width != wish.width || answer.height != wish.height))
    return fail(Errc::unsupported, "camera: its driver chooses another size or format",
                "{}: {}x{}, not {}x{}", path_, answer.width, answer.height, wish.width,
                wish.height);
  return checked_mode(answer, choice.fourcc, options.rate);
}

Result<PluginMode> PluginCamera::checked_mode(const hal_capture_mode& answer, std::uint32_t fourcc,
                                              double wanted_rate) const {
  if (wanted_rate > 0 && !(answer.rate > 0))
    return fail(Errc::unsupported, "rate: nobody can set it for this camera", "{}: {:.4g}", path_,
                wanted_rate);
  CameraSize answered;
  answered.rates = {answer.rate};
  if (wanted_rate > 0 && !answered.has_rate(wanted_rate))
    return fail(Errc::unsupported, "rate: the camera does not keep it", "{:.4g}, not {:.4g}",
                answer.rate, wanted_rate);
  const auto code = pixel_code(fourcc);
  const std::size_t most =
      code->layout ? std::max<std::size_t>(info(code->layout->format).planes, 1) : 1;
  if (answer.buffers < 2 || answer.buffers > VIDEO_MAX_FRAME || answer.planes == 0 ||
      (answer.planes != 1 && answer.planes != most) || answer.width == 0 || answer.height == 0)
    return fail(Errc::device, "camera plugin: its mode has no size, or a wrong number of buffers",
                "{}: {}x{}, {} planes, {} buffers", path_, answer.width, answer.height,
                answer.planes, answer.buffers);
  PluginMode mode;
  mode.rate = answer.rate;
  mode.buffers = answer.buffers;
  mode.format.fourcc = fourcc;
  mode.format.width = answer.width;
  mode.format.height = answer.height;
  mode.format.codes = {answer.colorspace, answer.xfer_func, answer.ycbcr_enc, answer.quantization};
  if (!code->layout) {
    mode.format.planes = {{0, 0}};
    return mode;
  }
  HALYARD_TRY(mode.format.planes, planes_of_mode(answer, *code->layout));
  return mode;
}

Result<std::vector<PluginBuffer>> PluginCamera::buffers(PluginMode& mode) const {
  const auto layout = pixel_code(mode.format.fourcc)->layout;
  const std::size_t planes = mode.format.planes.size();
  std::vector<hal_capture_buffer> all(mode.buffers);
  mode.is_joined = planes > 1;
  for (std::uint32_t i = 0; i < mode.buffers; ++i) {
    all[i].size = sizeof all[i];
    const PluginReason reason;
    HALYARD_RETURN_IF_ERROR(plugin_status(table_.buffer(camera_, i, &all[i]), reason,
                                          "camera plugin: does not give a buffer", path_));
    mode.is_joined = mode.is_joined && are_joined(all[i], mode, *layout);
  }
  std::vector<PluginBuffer> buffers;
  for (const hal_capture_buffer& from : all) {
    HALYARD_TRY(auto buffer,
                import_planes(std::span(from.planes).first(mode.is_joined ? 1 : planes)));
    buffer.pixel_planes = planes;
    buffer.last_offset_bytes = from.planes[planes - 1].offset;
    buffers.push_back(std::move(buffer));
  }
  if (mode.is_joined) mode.format.planes.resize(1);
  return buffers;
}

Status PluginCamera::start() const {
  PluginReason reason;
  return plugin_status(table_.start(camera_, reason.data()), reason,
                       "camera: its plugin cannot start it", path_);
}

Result<std::optional<hal_capture_frame>> PluginCamera::take() const {
  hal_capture_frame frame{};
  frame.size = sizeof frame;
  PluginReason reason;
  const int result = table_.take(camera_, &frame, reason.data());
  if (result == HAL_CAPTURE_END) return std::optional<hal_capture_frame>();
  HALYARD_RETURN_IF_ERROR(
      plugin_status(result, reason, "camera: its driver reports an input or output error", path_));
  return std::optional(frame);
}

Status PluginCamera::give_back(std::uint32_t index) const {
  PluginReason reason;
  return plugin_status(table_.give_back(camera_, index), reason,
                       "camera plugin: does not take a buffer back", path_);
}

Result<std::vector<CameraInfo>> cameras_of_plugin(const hal_capture_plugin& table) {
  std::vector<CameraInfo> found;
  for (std::size_t i = 0; i < max_list; ++i) {
    hal_capture_info from{};
    from.size = sizeof from;
    PluginReason reason;
    const int result = table.camera(i, &from, reason.data());
    if (result == HAL_CAPTURE_END) break;
    HALYARD_RETURN_IF_ERROR(
        plugin_status(result, reason, "camera plugin: cannot list its cameras", table.name));
    found.push_back(info_of_plugin(table, from));
  }
  return found;
}

Result<std::string> find_plugin_camera(const hal_capture_plugin& table, const std::string& camera) {
  HALYARD_TRY(const auto cameras, cameras_of_plugin(table));
  const std::string prefix = std::string(table.name) + ":";
  std::string ids;
  for (const CameraInfo& one : cameras) {
    if (one.path == prefix + camera) return camera;
    ids.append(ids.empty() ? "" : ", ").append(one.path.substr(prefix.size()));
  }
  std::size_t index = 0;
  const char* const end = camera.data() + camera.size();
  const auto [stop, bad] = std::from_chars(camera.data(), end, index);
  const bool is_number = bad == std::errc() && stop == end && !camera.empty();
  if (is_number && index < cameras.size()) return cameras[index].path.substr(prefix.size());
  return fail(Errc::not_found, "camera: there is none of this number or id", "{}{}; there is {}",
              prefix, camera, ids.empty() ? "none" : ids);
}

Result<CameraInfo> describe_plugin_camera(const hal_capture_plugin& table, const std::string& id) {
  HALYARD_TRY(const auto cameras, cameras_of_plugin(table));
  for (CameraInfo info : cameras) {
    if (info.path != std::string(table.name) + ":" + id) continue;
    HALYARD_TRY(const auto camera, PluginCamera::open(table, id));
    info.formats = camera->formats();
    info.controls = camera->controls();
    return info;
  }
  return fail(Errc::not_found, "camera: it is not plugged in", "{}:{}", table.name, id);
}

}  // namespace halyard::capture
