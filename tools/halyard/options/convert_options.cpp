// SPDX-License-Identifier: Apache-2.0
// The options of `halyard convert`. The library checks values that depend on the image.
#include "options/convert_options.h"

#include "options/command_spec.h"
#include "options/out_formats.h"
#include "options/values.h"
#include "report.h"

namespace halyard::tool {
namespace {

constexpr std::array<DType, 6> dtypes{DType::u8,  DType::i8,   DType::u16,
                                      DType::f16, DType::bf16, DType::f32};

std::optional<DType> parse_dtype(std::string_view text) {
  const auto dtype = dtype_from_string(text);
  for (const DType known : dtypes)
    if (dtype == known) return known;
  return std::nullopt;
}

std::optional<int> parse_rotation(std::string_view text) {
  for (const int degrees : {0, 90, 180, 270})
    if (text == std::to_string(degrees)) return degrees;
  return std::nullopt;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const FormatInfo& row : all_formats())
    names.emplace_back(row.name);
  return names;
}

void add_region_options(CommandSpec& spec, ConvertOptions& options) {
  spec.parsed("--size", options.size, parse_size, "WxH with 1..65535 each", "WxH of the result");
  spec.parsed("--crop", options.crop, parse_region_f, "X,Y,W,H with W and H above 0",
              "X,Y,W,H in the upright image, before --flip and --rotate; may lie between pixels");
  spec.option("--no-orient", &options.keeps_orientation, "Ignore the EXIF orientation");
  spec.word("--flip", options.flip, {"none", "horizontal", "vertical"},
            "none, horizontal or vertical; before --rotate");
  spec.choice("--rotate", options.rotate, parse_rotation, {"0", "90", "180", "270"},
              "0, 90, 180 or 270 degrees clockwise");
  spec.choice("--fit", options.fit, parse_fit, {"stretch", "letterbox", "cover", "top-left"},
              "stretch (default); keeping the aspect ratio: letterbox, cover or top-left");
  spec.choice("--letterbox-rule", options.letterbox, parse_letterbox_rule,
              {"hal", "ultralytics", "ultralytics-val"},
              "How --fit letterbox rounds: hal (default), ultralytics or ultralytics-val");
  spec.parsed("--place", options.place, parse_region, "X,Y,W,H with 0..65535 each",
              "X,Y,W,H of the result where the image is placed");
  spec.parsed("--affine", options.affine, parse_affine, "six finite numbers",
              "M0,..,M5: maps stored (x, y) to (M0 x + M1 y + M2, M3 x + M4 y + M5)");
  spec.parsed("--tiles", options.tiles, parse_tiles, "WxH[,OVERLAP] with an overlap in [0, 1)",
              "WxH[,OVERLAP] in stored pixels: one file a tile, OUT_0000 and so on; default "
              "overlap 0.2");
}

void add_sampling_options(CommandSpec& spec, ConvertOptions& options) {
  spec.parsed("--pad", options.pad, parse_color, "R,G,B with 0..255 each",
              "R,G,B around the image; default 114,114,114");
  spec.choice("--filter", options.filter, parse_filter,
              {"nearest", "bilinear", "bicubic", "lanczos3", "box"},
              "nearest, bilinear (default), bicubic, lanczos3 or box");
  spec.option("--antialias", &options.is_antialiased, "Widen the filter when shrinking");
  spec.option("--smooth-chroma", &options.smooth_chroma,
              "Interpolate chroma at 1:1 instead of repeating it");
  spec.option("--exact", &options.is_exact, "Colours by the formula, not within 1 of it; slower");
  spec.choice("--alpha", options.alpha, parse_alpha, {"keep", "premultiply", "unpremultiply"},
              "keep (default), premultiply or unpremultiply");
}

void add_output_options(CommandSpec& spec, ConvertOptions& options, const std::string& names) {
  const auto parse_format = [](std::string_view text) { return format_from_string(text); };
  spec.choice("--format", options.format, parse_format, format_names(),
              "Pixel format of the result: " + names);
  spec.option("--bgr", &options.is_bgr, "Store blue where the format has red, and red for blue");
  spec.choice("--dtype", options.dtype, parse_dtype, {"u8", "i8", "u16", "f16", "bf16", "f32"},
              "u8 (default), i8, u16, f16, bf16 or f32; other than u8 for .npy and --raw");
  spec.parsed("--mean", options.mean, parse_rgb, "R,G,B or one number for all",
              "R,G,B of the result: (value / 255 - mean) / std");
  spec.parsed("--std", options.deviation, parse_deviation, "R,G,B above 0, or one for all",
              "R,G,B of the result, see --mean");
  spec.parsed("--quant", options.quantization, parse_quantization,
              "SCALE,ZERO_POINT with a scale above 0",
              "SCALE,ZERO_POINT of an integer result: number / SCALE + ZERO_POINT is stored");
  spec.parsed("--colorimetry", options.colorimetry, parse_colorimetry,
              "bt601, bt709 or bt2020, and full or limited", "Of a YUV result: bt709,limited");
  spec.option("--raw", &options.is_raw, "Write bare samples, planes one after the other");
  spec.option("--quality", &options.quality, "Of a JPEG or WebP file").in(1, 100).shown();
}

void add_input_options(CommandSpec& spec, ConvertOptions& options) {
  const auto parse_format = [](std::string_view text) { return format_from_string(text); };
  spec.choice("--input-format", options.input_format, parse_format, format_names(),
              "IN is raw samples of this format (.npy or bare)");
  spec.parsed("--input-size", options.input_size, parse_size, "WxH with 1..65535 each",
              "WxH of raw samples");
  spec.parsed("--input-bits", options.input_bits, parse_bits, "a whole number in 8..16",
              "Raw grey or Bayer samples are 16-bit, this many of them used, the low ones");
  spec.parsed("--input-colorimetry", options.input_colorimetry, parse_colorimetry,
              "bt601, bt709 or bt2020, and full or limited", "Of the input: bt601,full");
  spec.option("--explain", &options.explains, "Report which backend converts, and why");
}

int check_files(const ConvertOptions& options) {
  const std::string extension = extension_of(options.out);
  if (options.out == "-")
    return report_usage("OUT -", "must name a file; with --raw /dev/stdout is standard output");
  if (!is_image_name(options.out) && !options.writes_raw()) {
    return report_usage("OUT " + options.out,
                        "must end in one of " + image_extensions() + " .npy, or need --raw");
  }
  const std::string dtype(to_string(options.dtype));
  if (!options.writes_raw() && options.dtype != DType::u8)
    return report_usage("--dtype " + dtype, "image files hold u8; use an .npy file");
  if (extension == ".npy" && options.dtype == DType::bf16)
    return report_usage("--dtype bf16", "NumPy has no such type; use --raw and another extension");
  if (options.input_format.has_value() != options.input_size.has_value())
    return report_usage("--input-format", "must be given together with --input-size");
  if (options.input_bits && !options.input_format)
    return report_usage("--input-bits", "is for raw samples, see --input-format");
  if (!options.input_format && extension_of(options.in) == ".npy")
    return report_usage("IN " + options.in, "an .npy file needs --input-format and --input-size");
  return exit_ok;
}

int check_values(const ConvertOptions& options) {
  const bool is_real = is_float(options.dtype);
  if (options.quantization && is_real)
    return report_usage("--quant", "is for --dtype u8, i8 and u16");
  if ((options.mean || options.deviation) && !is_real && !options.quantization)
    return report_usage(options.mean ? "--mean" : "--std",
                        "needs --dtype f16, bf16 or f32, or --quant");
  return exit_ok;
}

int check_geometry(const ConvertOptions& options) {
  if (options.letterbox && options.fit != Fit::letterbox)
    return report_usage("--letterbox-rule", "is for --fit letterbox");
  if (options.affine && (options.fit != Fit::stretch || options.turn() != Orientation{}))
    return report_usage("--affine", "takes the place of --fit, --flip and --rotate");
  if (options.tiles && (options.crop || options.affine))
    return report_usage("--tiles", "cannot be combined with --crop or --affine");
  return exit_ok;
}

}  // namespace

Orientation ConvertOptions::turn() const {
  Orientation turn;
  if (flip == "horizontal") turn.flip = Flip::horizontal;
  if (flip == "vertical") turn.flip = Flip::vertical;
  turn.rotation = static_cast<Rotation>(rotate / 90);
  return turn;
}

bool ConvertOptions::writes_raw() const {
  return is_raw || extension_of(out) == ".npy";
}

void add_convert_options(CommandSpec& spec, ConvertOptions& options) {
  std::string names;
  for (const std::string& name : format_names())
    names += (names.empty() ? "" : " ") + name;
  spec.option("in", &options.in,
              "Image file, raw samples with --input-format, or - for standard input")
      .required();
  spec.option("out", &options.out, image_extensions() + " .npy, or any file with --raw").required();
  add_region_options(spec, options);
  add_sampling_options(spec, options);
  add_output_options(spec, options, names);
  add_input_options(spec, options);
}

int check(const ConvertOptions& options) {
  for (const auto part : {check_files, check_values, check_geometry})
    if (const int code = part(options); code != exit_ok) return code;
  return exit_ok;
}

}  // namespace halyard::tool
