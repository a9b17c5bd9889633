// SPDX-License-Identifier: Apache-2.0
// Engines: OpenGL with pixel buffers and with imported DMA-BUFs; NXP's 2D engine.
#include <algorithm>

#include "base/text/format_error.h"
#include "reconcile/engines/engines.h"
#include "reconcile/engines/table_engine.h"

namespace halyard {

namespace {

constexpr std::uint64_t dma_heaps =
    bit(Heap::dmabuf_system) | bit(Heap::dmabuf_cma) | bit(Heap::dmabuf_uncached);
constexpr auto dma = static_cast<std::uint64_t>(Attach::dma);
constexpr auto address_only = static_cast<std::uint64_t>(Attach::address_only);
constexpr auto cpu_sync = static_cast<std::uint64_t>(Coherency::cpu_sync);

/// A pixel buffer of the GL thread: only that thread maps it, and no other process can use it.
/// Offsets of glTexSubImage2D are multiples of a component (OpenGL ES 3.0, 3.7.1).
class Pbo : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest& request, AttributeList& list) const override {
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::heaps, bit(Heap::pbo)));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::domains, cpu_sync));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::px_integral, 1));
    return set_fact(list, Key::offset_align, request.dtype ? size_of(*request.dtype) : 1);
  }
};

/// The multiples of the row pitch that drivers import.
constexpr std::string_view unknown_driver = "unknown";
constexpr Setting drivers[] = {{"mali-v7", 64}, {"nvidia", 256}, {unknown_driver, 64}};

/// EGL_EXT_image_dma_buf_import. The row pitch that can be imported depends on the driver: Mali
/// from the seventh generation on needs 64. The same is assumed for unknown drivers.
class Egl : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest&, AttributeList& list) const override {
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::heaps, dma_heaps | bit(Heap::udmabuf)));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::attach, dma));
    HALYARD_RETURN_IF_ERROR(
        set_fact(list, Key::domains, cpu_sync | static_cast<std::uint64_t>(Coherency::hardware)));
    return set_all(list, Key::pitch_align, "pitch_align");
  }
};

/// G2D takes physical addresses below 4 GiB and never attaches buffers. Its pitch is in pixels.
class G2d : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest& request, AttributeList& list) const override {
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::contig, 1));
    HALYARD_RETURN_IF_ERROR(set(list, Key::addr_bits, "addr_bits"));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::heaps, dma_heaps));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::attach, address_only));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::px_integral, 1));
    HALYARD_RETURN_IF_ERROR(set(list, Key::base_align, "base_align"));
    HALYARD_RETURN_IF_ERROR(set(list, Key::height_mult, "rows_mult"));
    for (const Key extent : {Key::width, Key::height})
      if (request.width != 0)
        HALYARD_RETURN_IF_ERROR(list.set(extent, {number("min_extent"), 0xFFFFFFFF}, 0,
                                         settings().source("min_extent")));
    if (request.format || request.images.empty()) return set_rows(list, request.format);
    HALYARD_RETURN_IF_ERROR(accept_each(request.images, list));
    return list.accept(LayoutTag::any());
  }

 private:
  /// Accepts each format with its rows. Linear ones come first: a list has at most 64 alternatives,
  /// and the last one is the wildcard.
  Status accept_each(std::span<const LayoutTag> images, AttributeList& list) const {
    for (const bool is_linear : {true, false})
      for (const LayoutTag& each : images) {
        if (halyard::is_linear(each.modifier) != is_linear) continue;
        if (list.alternatives().size() == 63) return {};
        AttributeList own(list.party());
        HALYARD_RETURN_IF_ERROR(set_rows(own, each.format));
        HALYARD_RETURN_IF_ERROR(list.accept(each, 0, own));
      }
    return {};
  }
  /// Sets what differs between formats. Without a format: as for RGB.
  Status set_rows(AttributeList& list, std::optional<PixelFormat> format) const {
    HALYARD_RETURN_IF_ERROR(set_all(list, Key::pitch_align, pitch_setting(format)));
    const bool is_yuv = format && info(*format).model == ColorModel::yuv;
    return is_yuv ? set_all(list, Key::plane_align, "plane_align") : Status();
  }
  static std::string_view pitch_setting(std::optional<PixelFormat> format) {
    if (!format) return "pitch_align_rgb";
    if (info(*format).kind == FormatKind::tri_planar) return "pitch_align_i420";
    return info(*format).model == ColorModel::yuv ? "pitch_align_yuv" : "pitch_align_rgb";
  }
};

}  // namespace

MadeEngine make_pbo(std::string_view name, std::string_view json) {
  HALYARD_TRY(Settings settings, Settings::read(name, {}, json));
  return std::shared_ptr<const BufferEngine>(std::make_shared<Pbo>(name, std::move(settings)));
}

MadeEngine make_egl(std::string_view name, std::string_view json) {
  constexpr Setting table[] = {{"pitch_align", 64}};
  constexpr std::string_view texts[] = {"driver"};
  HALYARD_TRY(Settings settings, Settings::read(name, table, json, texts));
  const std::string driver =
      settings.source("driver") == "table" ? std::string(unknown_driver) : settings.text("driver");
  const auto* const known = std::ranges::find(drivers, driver, &Setting::name);
  if (known == std::end(drivers)) {
    std::string names;
    for (const Setting& each : drivers)
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    return fail(Errc::not_found, "driver: is unknown to the engine", "{}: \"{}\", known: {}", name,
                driver, names);
  }
  settings.set_default("pitch_align", known->value);
  return std::shared_ptr<const BufferEngine>(std::make_shared<Egl>(name, std::move(settings)));
}

MadeEngine make_g2d(std::string_view name, std::string_view json) {
  constexpr Setting table[] = {{"base_align", 16},       {"plane_align", 64},
                               {"pitch_align_rgb", 16},  {"pitch_align_yuv", 8},
                               {"pitch_align_i420", 32}, {"rows_mult", 2},
                               {"min_extent", 4},        {"addr_bits", 32}};
  HALYARD_TRY(Settings settings, Settings::read(name, table, json));
  return std::shared_ptr<const BufferEngine>(std::make_shared<G2d>(name, std::move(settings)));
}

}  // namespace halyard
