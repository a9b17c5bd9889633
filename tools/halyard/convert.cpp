// SPDX-License-Identifier: Apache-2.0
// halyard convert: any picture to any format, size, element type and file.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "halyard/codec.h"
#include "halyard/image.h"
#include "npy.h"
#include "output_file.h"
#include "report.h"
#include "values.h"

namespace halyard::tool {
namespace {

struct ConvertCommand {
  std::string in;
  std::string out;
  std::optional<PixelFormat> format;
  std::optional<PixelFormat> input_format;
  std::optional<Size> size;
  std::optional<Size> input_size;
  std::optional<Region> crop;
  std::optional<Colorimetry> colorimetry;
  std::optional<Colorimetry> input_colorimetry;
  std::array<std::uint8_t, 4> pad{114, 114, 114, 255};
  Filter filter = Filter::bilinear;
  std::string fit = "stretch";
  std::string flip = "none";
  std::string dtype = "u8";
  int rotate = 0;
  int quality = JpegOptions{}.quality;
  bool is_antialiased = false;
  bool smooth_chroma = false;
  bool keeps_orientation = false;
  bool is_raw = false;
  bool explains = false;
};

struct Source {
  Tensor picture;
  Orientation orientation;
};

/// A raw picture: an .npy array, or the bare bytes of any other file.
Result<Source> load_raw(const ConvertCommand& command) {
  HALYARD_TRY(const auto file, read_file(command.in));
  Source source;
  if (extension_of(command.in) == ".npy") {
    HALYARD_TRY(const auto array, parse_npy(file));
    if (array.dtype() != DType::u8)
      return make_error(Errc::unsupported, "raw picture must hold u8",
                        std::string(to_string(array.dtype())));
    HALYARD_TRY(const auto map, array.map(Access::read));
    const std::span<const std::byte> bytes(map.data(), array.size_bytes());
    HALYARD_TRY(source.picture,
                picture_from_raw(bytes, *command.input_size, *command.input_format));
  } else {
    HALYARD_TRY(source.picture, picture_from_raw(file, *command.input_size, *command.input_format));
  }
  return source;
}

Result<Source> load_source(const ConvertCommand& command) {
  Source source;
  if (command.input_format) {
    HALYARD_TRY(source, load_raw(command));
  } else {
    HALYARD_TRY(const auto file, read_file(command.in));
    HALYARD_TRY(const auto header, peek(file));
    HALYARD_TRY(source.picture, load_image(file));
    if (!command.keeps_orientation) source.orientation = header.orientation;
  }
  if (command.input_colorimetry) source.picture.set_colorimetry(*command.input_colorimetry);
  return source;
}

Orientation user_turn(const ConvertCommand& command) {
  Orientation turn;
  if (command.flip == "horizontal") turn.flip = Flip::horizontal;
  if (command.flip == "vertical") turn.flip = Flip::vertical;
  turn.rotation = static_cast<Rotation>(command.rotate / 90);
  return turn;
}

/// What a file of this kind shows best, where nobody asked for a format.
PixelFormat default_format(const Tensor& source, const std::string& extension) {
  const FormatInfo& known = info(*source.format());
  if (known.model == ColorModel::grey) return PixelFormat::grey;
  return known.has_alpha && extension == ".png" ? PixelFormat::rgba : PixelFormat::rgb;
}

Result<Convert> make_request(const ConvertCommand& command, const Source& source) {
  const Orientation turn = then(source.orientation, user_turn(command));
  Convert request;
  request.src = source.picture;
  request.crop = command.crop;
  request.flip = turn.flip;
  request.rotation = turn.rotation;
  request.fit = command.fit == "letterbox" ? Fit::letterbox : Fit::stretch;
  request.pad = command.pad;
  request.filter = command.filter;
  request.antialias = command.is_antialiased;
  request.chroma = command.smooth_chroma ? Chroma::bilinear : Chroma::replicate;
  Size shown = source.picture.size();
  if (command.crop) shown = {command.crop->width, command.crop->height};
  const Size size = command.size.value_or(turned(shown, turn));
  const PixelFormat format =
      command.format.value_or(default_format(source.picture, extension_of(command.out)));
  HALYARD_TRY(request.dst, Tensor::create_image(static_cast<std::size_t>(size.width),
                                                static_cast<std::size_t>(size.height), format,
                                                *dtype_from_string(command.dtype)));
  if (command.colorimetry) request.dst.set_colorimetry(*command.colorimetry);
  // A JPEG file's samples are BT.601, full range, whatever they were before.
  const std::string extension = extension_of(command.out);
  if (extension == ".jpg" || extension == ".jpeg") request.dst.set_colorimetry(Colorimetry::jpeg());
  return request;
}

Status save(const ConvertCommand& command, const Tensor& picture) {
  const std::string extension = extension_of(command.out);
  if (command.is_raw || extension == ".npy") {
    HALYARD_TRY(const auto raw, raw_picture(picture));
    if (extension != ".npy") return write_file(command.out, raw.bytes);
    return write_file(command.out, make_npy(picture.dtype(), raw.shape, raw.bytes));
  }
  if (extension == ".png") return save_png(picture, command.out);
  JpegOptions options;
  options.quality = command.quality;
  return save_jpeg(picture, command.out, options);
}

int check(const ConvertCommand& command) {
  const std::string extension = extension_of(command.out);
  const bool is_picture = extension == ".jpg" || extension == ".jpeg" || extension == ".png";
  const bool is_raw = command.is_raw || extension == ".npy";
  if (!is_picture && !is_raw)
    return report_usage("OUT " + command.out, "must end in .jpg, .png or .npy, or need --raw");
  if (!is_raw && command.dtype != "u8")
    return report_usage("--dtype " + command.dtype, "picture files hold u8; use an .npy file");
  if (command.input_format.has_value() != command.input_size.has_value())
    return report_usage("--input-format", "goes together with --input-size");
  if (!command.input_format && extension_of(command.in) == ".npy")
    return report_usage("IN " + command.in, "an .npy file needs --input-format and --input-size");
  return exit_ok;
}

int convert(const ConvertCommand& command) {
  if (const int code = check(command); code != exit_ok) return code;
  const auto source = load_source(command);
  if (!source) return report(command.in, source.error());
  const auto request = make_request(command, *source);
  if (!request) return report("convert", request.error());
  auto processor = Processor::create();
  if (!processor) return report("convert", processor.error());
  if (command.explains) {
    const auto text = processor->explain(*request);
    if (!text) return report("convert", text.error());
    print_line(*text);
  }
  if (auto placed = processor->convert(*request); !placed)
    return report("convert " + command.in, placed.error());
  if (auto saved = save(command, request->dst); !saved)
    return report("OUT " + command.out, saved.error());
  return exit_ok;
}

void add_geometry_options(CLI::App& sub, ConvertCommand& command) {
  const std::string extent = "WxH with 1..65535 each";
  add_parsed(sub, "--size", command.size, parse_size, extent, "WxH of the result");
  add_parsed(sub, "--crop", command.crop, parse_region, "X,Y,W,H",
             "X,Y,W,H in stored pixels, before any turn");
  sub.add_option("--flip", command.flip, "none, horizontal or vertical; before --rotate")
      ->check(CLI::IsMember({"none", "horizontal", "vertical"}));
  sub.add_option("--rotate", command.rotate, "0, 90, 180 or 270 degrees clockwise")
      ->check(CLI::IsMember({0, 90, 180, 270}));
  sub.add_flag("--no-orient", command.keeps_orientation, "Ignore the EXIF orientation");
  sub.add_option("--fit", command.fit, "stretch, or letterbox to keep the aspect ratio")
      ->check(CLI::IsMember({"stretch", "letterbox"}))
      ->capture_default_str();
  add_parsed(sub, "--pad", command.pad, parse_color, "R,G,B with 0..255 each",
             "R,G,B around a letterboxed picture; default 114,114,114");
  add_parsed(sub, "--filter", command.filter, parse_filter,
             "nearest, bilinear, bicubic, lanczos3 or box",
             "nearest, bilinear (default), bicubic, lanczos3 or box");
  sub.add_flag("--antialias", command.is_antialiased, "Widen the filter when shrinking");
  sub.add_flag("--smooth-chroma", command.smooth_chroma,
               "Interpolate chroma at 1:1 instead of repeating it");
}

void add_format_options(CLI::App& sub, ConvertCommand& command) {
  std::string names;
  for (const FormatInfo& row : all_formats())
    names += (names.empty() ? "" : " ") + std::string(row.name);
  const auto parse_format = [](std::string_view text) { return format_from_string(text); };
  add_parsed(sub, "--format", command.format, parse_format, "one of: " + names,
             "Pixel format of the result: " + names);
  sub.add_option("--dtype", command.dtype, "u8, i8, f16 or f32; other than u8 for .npy and --raw")
      ->check(CLI::IsMember({"u8", "i8", "f16", "f32"}))
      ->capture_default_str();
  add_parsed(sub, "--colorimetry", command.colorimetry, parse_colorimetry,
             "bt601, bt709 or bt2020, and full or limited", "Of a YUV result: bt709,limited");
  sub.add_flag("--raw", command.is_raw, "Write bare samples, planes one after the other");
  sub.add_option("--quality", command.quality, "Of a JPEG file")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  add_parsed(sub, "--input-format", command.input_format, parse_format, "one of: " + names,
             "IN is raw samples of this format (.npy or bare)");
  add_parsed(sub, "--input-size", command.input_size, parse_size, "WxH with 1..65535 each",
             "WxH of raw samples");
  add_parsed(sub, "--input-colorimetry", command.input_colorimetry, parse_colorimetry,
             "bt601, bt709 or bt2020, and full or limited", "Of the input: bt601,full");
  sub.add_flag("--explain", command.explains, "Say which backend converts, and why");
}

constexpr const char* convert_examples =
    "Steps: crop, flip, rotate, fit. JPEG files are turned upright first (see --no-orient).\n"
    "\n"
    "Examples:\n"
    "  halyard convert photo.jpg small.png --size 640x640 --fit letterbox\n"
    "  halyard convert photo.jpg input.npy --size 320x320 --format planar_rgb --dtype f32\n"
    "  halyard convert frame.nv12 frame.png --input-format nv12 --input-size 1920x1080";

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto command = std::make_shared<ConvertCommand>();
  CLI::App* sub = app.add_subcommand("convert", "Convert a picture to another format and size");
  sub->footer(convert_examples);
  sub->add_option("in", command->in, "JPEG or PNG file, or raw samples")->required();
  sub->add_option("out", command->out, ".jpg, .png, .npy, or any file with --raw")->required();
  add_geometry_options(*sub, *command);
  add_format_options(*sub, *command);
  sub->callback([&action, command] { action = [command] { return convert(*command); }; });
}

}  // namespace halyard::tool
