// SPDX-License-Identifier: Apache-2.0
// halyard doctor: reports what works on this machine, and why the rest does not.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "commands/commands.h"
#include "halyard/buffer.h"
#include "halyard/camera.h"
#include "halyard/capture.h"
#include "halyard/codec.h"
#include "halyard/draw.h"
#include "halyard/gl.h"
#include "halyard/image.h"
#include "halyard/model.h"
#include "halyard/version.h"
#include "halyard/video_codec.h"
#include "input/json_document.h"
#include "report.h"

extern char** environ;

namespace halyard::tool {
namespace {

namespace fs = std::filesystem;

/// One finding: a part of the machine, whether it works, and a remark.
struct Finding {
  std::string group;
  std::string name;
  bool works = true;
  std::string remark;
};
using Findings = std::vector<Finding>;

void check_buffers(Findings& findings) {
  for (const Memory memory : {Memory::mem, Memory::shm, Memory::dma, Memory::pbo}) {
    const Status status = memory_available(memory);
    findings.push_back({"buffer", std::string(to_string(memory)), status.has_value(),
                        status ? "" : status.error().message()});
  }
}

/// Reports which backends would letterbox a camera image into a network's input.
void check_backends(Findings& findings) {
  const auto explain = []() -> Result<std::string> {
    HALYARD_TRY(auto processor, Processor::create());
    Convert request;
    // In the memory that the processor prefers, so that a GPU is seen where there is one.
    HALYARD_TRY(request.src, processor.create_image(64, 64, PixelFormat::nv12));
    HALYARD_TRY(request.dst, processor.create_image(32, 32, PixelFormat::rgb));
    return processor.explain(request);
  };
  const auto text = explain();
  if (!text) {
    findings.push_back({"backend", "processor", false, text.error().message()});
    return;
  }
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    const std::size_t colon = line.find(':');
    const std::string_view remark =
        colon == std::string_view::npos ? "" : line.substr(std::min(colon + 2, line.size()));
    findings.push_back({"backend", std::string(line.substr(0, colon)),
                        remark.starts_with("runs it"), std::string(remark)});
  }
}

void check_opengl(Findings& findings, bool is_whole) {
  const auto displays = probe_gl_displays();
  if (!displays) {
    findings.push_back({"opengl", "displays", false, displays.error().message()});
    return;
  }
  for (const GlDisplay& display : *displays) {
    const std::string name =
        display.name.empty() ? std::string(to_string(display.kind)) : display.name;
    findings.push_back({"opengl", name, bool(display.status),
                        display.status ? display.renderer : display.status.error().message()});
  }
  if (!is_whole) return;
  const auto report = describe_gl();
  if (!report) {
    findings.push_back({"opengl", "context", false, report.error().message()});
    return;
  }
  findings.push_back(
      {"opengl", "context", true,
       fmt::format("{}, {}, EGL {}", report->renderer, report->version, report->egl_version)});
  for (const GlReport::Property& property : report->properties)
    findings.push_back({"opengl", property.name, property.value != "no", property.value});
}

void check_simd(Findings& findings) {
  std::string names;
  for (std::uint64_t rest = static_cast<std::uint64_t>(hwy::SupportedTargets()); rest != 0;
       rest &= rest - 1) {
    const std::uint64_t lowest = rest & (~rest + 1);
    names += (names.empty() ? "" : " ") +
             std::string(hwy::TargetName(static_cast<std::int64_t>(lowest)));
  }
  findings.push_back({"cpu", "instruction sets", true, names});
  findings.push_back({"cpu", "threads", true, std::to_string(std::thread::hardware_concurrency())});
}

/// An engine that cannot be used: why, and the command that brings it.
void check_engines(Findings& findings) {
  for (const EngineInfo& engine : engines()) {
    if (engine.usable) {
      findings.push_back({"engine", engine.name, true,
                          fmt::format("{}: {}", engine.version, fmt::join(engine.devices, ", "))});
      continue;
    }
    const std::string reason = engine.usable.error().message();
    findings.push_back(
        {"engine", engine.name, false,
         engine.install.empty() ? reason : fmt::format("{}: `{}`", reason, engine.install)});
  }
}

void check_images(Findings& findings) {
  for (const ImageFileKind& kind : image_file_kinds()) {
    const char* remark = kind.is_written ? "read and written"
                         : kind.is_read  ? "read"
                                         : "not in this build: scripts/install-deps.sh images";
    findings.push_back({"picture", std::string(kind.name), kind.is_read, remark});
  }
}

/// Creates a video writer but never finishes a video, so no file appears.
void check_video(Findings& findings) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  const std::string name = fmt::format("halyard-doctor-{}.mp4", ::getpid());
  const auto writer = VideoWriter::create((folder / name).string(), {64, 64}, 25);
  findings.push_back({"video", "files", writer.has_value(),
                      writer ? "read and written" : writer.error().message()});
}

/// Opens each camera for a moment, and does not start it.
void check_cameras(Findings& findings) {
  const auto cameras = list_cameras();
  if (cameras.empty())
    findings.push_back({"camera", "V4L2", false, "none: there is no /dev/video that captures"});
  for (const CameraInfo& camera : cameras) {
    std::string text = camera.name + ":";
    for (const CameraFormat& format : camera.formats)
      if (format.is_readable()) text.append(" ").append(fourcc_to_string(format.fourcc));
    findings.push_back({"camera", camera.path, camera.usable.has_value(),
                        camera.usable ? text : camera.usable.error().message()});
  }
}

void check_camera_plugins(Findings& findings) {
  for (const CameraPluginInfo& plugin : list_camera_plugins())
    findings.push_back(
        {"camera", plugin.name, plugin.usable.has_value(),
         plugin.usable ? "plugin, version " + plugin.version : plugin.usable.error().message()});
}

void check_codecs(Findings& findings) {
  const auto codecs = list_video_codecs();
  if (codecs.empty())
    findings.push_back({"codec", "V4L2", false, "none: no /dev/video decodes or encodes"});
  for (const VideoCodecInfo& info : codecs) {
    std::string text = info.name + (info.is_encoder ? " encodes:" : " decodes:");
    for (const auto& coded : info.coded)
      text.append(" ").append(to_string(coded.codec));
    findings.push_back({"codec", info.path, info.usable.has_value(),
                        info.usable ? text : info.usable.error().message()});
  }
}

void check_font(Findings& findings) {
  const auto overlay = Overlay::create();
  findings.push_back(
      {"draw", "font", overlay.has_value(), overlay ? "found" : overlay.error().message()});
}

/// Device nodes that backends and cameras need.
void check_devices(Findings& findings) {
  for (const char* folder : {"/dev/dma_heap", "/dev/dri"}) {
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    if (error) {
      findings.push_back({"device", folder, false, error.message()});
      continue;
    }
    for (const auto& entry : entries) {
      if (entry.is_directory(error)) continue;
      const std::string path = entry.path().string();
      const bool is_open = ::access(path.c_str(), R_OK | W_OK) == 0;
      findings.push_back({"device", path, is_open, is_open ? "" : std::strerror(errno)});
    }
  }
}

void check_environment(Findings& findings) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("HALYARD_") && !text.starts_with("EDGEFIRST_")) continue;
    const std::size_t equals = text.find('=');
    findings.push_back({"environment", std::string(text.substr(0, equals)), true,
                        std::string(text.substr(equals + 1))});
  }
}

void print_json(const Findings& findings) {
  Json out = json_document(Json::object());
  out["version"] = version();
  out["findings"] = Json::array();
  for (const Finding& finding : findings)
    out["findings"].push_back({{"group", finding.group},
                               {"name", finding.name},
                               {"works", finding.works},
                               {"remark", finding.remark}});
  print_lines(json_text(out, 2));
}

int examine(bool is_json, bool has_gl) {
  Findings findings;
  check_buffers(findings);
  check_backends(findings);
  check_opengl(findings, has_gl);
  check_simd(findings);
  check_engines(findings);
  check_images(findings);
  check_video(findings);
  check_cameras(findings);
  check_camera_plugins(findings);
  check_codecs(findings);
  check_font(findings);
  check_devices(findings);
  check_environment(findings);
  if (is_json) {
    print_json(findings);
    return exit_ok;
  }
  print_line(std::string("halyard ") + version());
  for (const Finding& finding : findings)
    print_line(fmt::format("{:<12} {:<18} {:<4} {}", finding.group, finding.name,
                           finding.works ? "yes" : "no", finding.remark));
  return exit_ok;
}

}  // namespace

CommandSpec doctor_command() {
  auto is_json = std::make_shared<bool>(false);
  auto has_gl = std::make_shared<bool>(false);
  CommandSpec spec{"doctor",
                   "Which buffers, backends, engines and devices work here, and why others do not",
                   "Examples:\n  halyard doctor\n  halyard doctor --json\n  halyard doctor --gl"};
  spec.option("--json", is_json.get(), "JSON on standard output");
  spec.option("--gl", has_gl.get(), "Also the limits and extensions of OpenGL");
  spec.action = [is_json, has_gl] { return examine(*is_json, *has_gl); };
  return spec;
}

}  // namespace halyard::tool
