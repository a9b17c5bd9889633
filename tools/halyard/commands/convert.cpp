// SPDX-License-Identifier: Apache-2.0
// halyard convert: converts an image to another format, size, element type and file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "commands/commands.h"
#include "halyard/npy.h"
#include "input/input_file.h"
#include "input/raw_image.h"
#include "options/convert_options.h"
#include "options/limit_options.h"
#include "options/paths.h"
#include "options/values.h"
#include "report.h"

namespace halyard::tool {
namespace {

/// Reads a raw image: an .npy array, or the bytes of any other file.
Result<Tensor> load_raw(const ConvertOptions& options) {
  HALYARD_TRY(const auto file, read_input(options.in));
  std::span<const std::byte> bytes = file;
  DType dtype = options.input_bits ? DType::u16 : DType::u8;
  Tensor array;
  TensorMap map;
  if (extension_of(options.in) == ".npy") {
    HALYARD_TRY(array, decode_npy(file));
    dtype = array.dtype();
    if (dtype != DType::u8 && dtype != DType::u16)
      return make_error(Errc::unsupported, "raw image must hold u8 or u16",
                        std::string(to_string(dtype)));
    if (options.input_bits && dtype == DType::u8)
      return make_error(Errc::invalid_argument, "--input-bits: is for 16-bit samples",
                        "the array holds u8");
    HALYARD_TRY(map, array.map(Access::read));
    bytes = {map.data(), array.size_bytes()};
  }
  return image_from_raw(bytes, *options.input_size, *options.input_format, dtype);
}

Result<Tensor> load_source(const ConvertOptions& options) {
  Tensor source;
  if (options.input_format) {
    HALYARD_TRY(source, load_raw(options));
  } else {
    HALYARD_TRY(const auto file, read_input(options.in));
    HALYARD_TRY(source, load_image(file));
    if (options.keeps_orientation) source.set_orientation({});
  }
  if (options.input_colorimetry) source.set_colorimetry(*options.input_colorimetry);
  return source;
}

/// The best format for a file of this kind, used if no format is given.
PixelFormat default_format(const Tensor& source, std::optional<ImageFileType> type) {
  const FormatInfo& known = info(*source.format());
  if (known.model == ColorModel::grey) return PixelFormat::grey;
  return known.has_alpha && type && type != ImageFileType::jpeg ? PixelFormat::rgba
                                                                : PixelFormat::rgb;
}

/// One pixel per pixel of the source, used if no size is given.
Size default_size(const ConvertOptions& options, const Tensor& source, const Convert& request) {
  Size shown = source.upright_size();
  if (request.crop && !options.affine) {
    const auto whole = [](double extent) {
      return static_cast<std::int32_t>(std::clamp(std::round(extent), 1.0, 65535.0));
    };
    shown = {whole(request.crop->width), whole(request.crop->height)};
  }
  return oriented(shown, options.turn());
}

Result<Tensor> make_target(const ConvertOptions& options, const Tensor& source, Size size) {
  const auto type = options.writes_raw() ? std::nullopt : image_file_type(options.out);
  const PixelFormat format = options.format.value_or(default_format(source, type));
  HALYARD_TRY(auto target,
              Tensor::create_image(static_cast<std::size_t>(size.width),
                                   static_cast<std::size_t>(size.height), format, options.dtype));
  if (options.colorimetry) target.set_colorimetry(*options.colorimetry);
  // The samples of a JPEG file are BT.601, full range, whatever the source's are.
  if (type == ImageFileType::jpeg) target.set_colorimetry(Colorimetry::jpeg());
  HALYARD_RETURN_IF_ERROR(target.set_quantization(options.quantization));
  return target;
}

/// Fills all of the request but the destination.
Convert make_request(const ConvertOptions& options, const Tensor& source) {
  const Orientation turn = options.turn();
  Convert request;
  request.src = source;
  request.crop = options.crop;
  request.flip = turn.flip;
  request.rotation = turn.rotation;
  request.fit = options.fit;
  request.letterbox = options.letterbox.value_or(LetterboxRule::hal);
  request.place = options.place;
  request.pad = options.pad;
  request.filter = options.filter;
  request.antialias = options.is_antialiased;
  request.chroma = options.smooth_chroma ? Chroma::bilinear : Chroma::replicate;
  request.alpha = options.alpha;
  request.bgr = options.is_bgr;
  request.affine = options.affine;
  if (source.dtype() == DType::u16)
    request.source_bits = static_cast<std::uint8_t>(options.input_bits.value_or(0));
  if (options.mean || options.deviation)
    request.normalize =
        Normalize::mean_std(options.mean.value_or(std::array<float, 3>{}),
                            options.deviation.value_or(std::array{1.0F, 1.0F, 1.0F}));
  return request;
}

Status save(const ConvertOptions& options, const Tensor& image, const std::string& path) {
  if (options.writes_raw()) {
    HALYARD_TRY(const auto raw, raw_image(image));
    if (extension_of(path) != ".npy") return write_file(path, raw.bytes);
    HALYARD_TRY(const auto file, encode_npy(image.dtype(), raw.shape, raw.bytes));
    return write_file(path, file);
  }
  SaveOptions saving;
  saving.jpeg.quality = saving.webp.quality = options.quality;
  return save_image(image, path, saving);
}

/// Converts into a new image and saves it as a file.
int convert_one(const ConvertOptions& options, const Tensor& source, Convert request,
                Processor& processor, const std::string& path) {
  const Size size = options.size.value_or(default_size(options, source, request));
  auto target = make_target(options, source, size);
  if (!target) return report("convert " + options.in, target.error());
  request.dst = *std::move(target);
  if (options.explains) {
    const auto text = processor.explain(request);
    if (!text) return report("convert " + options.in, text.error());
    print_lines(*text);
  }
  if (auto placed = processor.convert(request); !placed)
    return report("convert " + options.in, placed.error());
  if (auto saved = save(options, request.dst, path); !saved)
    return report("OUT " + path, saved.error());
  return exit_ok;
}

/// "dir/name.png" -> "dir/name_0007.png".
std::string tile_path(const std::string& out, std::size_t index) {
  const std::filesystem::path path(out);
  const std::string name =
      fmt::format("{}_{:04}{}", path.stem().string(), index, path.extension().string());
  return (path.parent_path() / name).string();
}

/// Checks all paths before the first tile is written.
int check_tile_paths(const ConvertOptions& options, std::span<const Tile> tiles) {
  PathCheck paths;
  paths.stream_input("IN", options.in);
  for (const Tile& tile : tiles)
    paths.output("OUT", tile_path(options.out, tile.index));
  return paths.run();
}

int convert_tiles(const ConvertOptions& options, const Tensor& source, Convert request,
                  Processor& processor) {
  const auto tiles = plan_tiles(source.upright_size(), *options.tiles);
  if (!tiles) return report("--tiles", tiles.error());
  if (const int code = check_tile_paths(options, *tiles); code != exit_ok) return code;
  for (const Tile& tile : *tiles) {
    request.crop = tile.region;
    const std::string path = tile_path(options.out, tile.index);
    if (const int code = convert_one(options, source, request, processor, path); code != exit_ok)
      return code;
    print_line(fmt::format("{} {},{},{},{}", path, tile.region.x, tile.region.y, tile.region.width,
                           tile.region.height));
  }
  return exit_ok;
}

int convert(const ConvertOptions& options) {
  if (const int code = check(options); code != exit_ok) return code;
  if (!options.tiles) {
    PathCheck paths;
    paths.stream_input("IN", options.in).output("OUT", options.out);
    if (const int code = paths.run(); code != exit_ok) return code;
  }
  const auto source = load_source(options);
  if (!source) return report(options.in, source.error());
  auto processor = Processor::create(
      {.colorimetry_mode = options.is_exact ? ColorimetryMode::exact : ColorimetryMode::fast});
  if (!processor) return report("convert", processor.error());
  const Convert request = make_request(options, *source);
  if (options.tiles) return convert_tiles(options, *source, request, *processor);
  return convert_one(options, *source, request, *processor, options.out);
}

constexpr const char* convert_examples =
    "Steps: EXIF rotation (see --no-orient), crop, flip, rotate, fit, place. Crops, tiles and\n"
    "affine maps are in pixels of the upright image. --tiles prints each file's name and its\n"
    "X,Y,W,H in that image.\n"
    "\n"
    "Examples:\n"
    "  halyard convert photo.jpg small.png --size 640x640 --fit letterbox\n"
    "  halyard convert photo.jpg input.npy --size 224x224 --fit cover --format planar_rgb \\\n"
    "    --dtype f32 --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
    "  halyard convert frame.nv12 frame.png --input-format nv12 --input-size 1920x1080\n"
    "  halyard convert raw10.bin seen.png --input-format bayer_rggb --input-size 1920x1080 \\\n"
    "    --input-bits 10\n"
    "  halyard convert large.jpg tile.jpg --tiles 640x640,0.2";

}  // namespace

CommandSpec convert_command() {
  auto options = std::make_shared<ConvertOptions>();
  CommandSpec spec{"convert", "Convert an image to another format and size", convert_examples};
  add_convert_options(spec, *options);
  add_limit_options(spec);
  spec.action = [options] { return convert(*options); };
  return spec;
}

}  // namespace halyard::tool
