// SPDX-License-Identifier: Apache-2.0
// OpenGL by pixel buffers and by imported DMA-BUFs; NXP's 2D engine.
#include "reconcile/engines/engines.h"
#include "reconcile/engines/table_engine.h"

namespace halyard {

namespace {

constexpr std::uint64_t dma_heaps =
    bit(Heap::dmabuf_system) | bit(Heap::dmabuf_cma) | bit(Heap::dmabuf_uncached);
constexpr auto dma = static_cast<std::uint64_t>(Attach::dma);
constexpr auto address_only = static_cast<std::uint64_t>(Attach::address_only);
constexpr auto cpu_sync = static_cast<std::uint64_t>(Coherency::cpu_sync);

/// A buffer of the GL thread: mapped and unmapped there, for no other process. Offsets of
/// glTexSubImage2D are multiples of a component (OpenGL ES 3.0, 3.7.1).
class Pbo : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest& request, AttributeList& list) const override {
    HALYARD_CHECK(set_fact(list, Key::heaps, bit(Heap::pbo)));
    HALYARD_CHECK(set_fact(list, Key::domains, cpu_sync));
    HALYARD_CHECK(set_fact(list, Key::px_integral, 1));
    return set_fact(list, Key::offset_align, request.dtype ? size_of(*request.dtype) : 1);
  }
};

/// EGL_EXT_image_dma_buf_import. The row pitch that drivers take is theirs: Mali's from the seventh
/// generation on want 64, others are set so until their driver is known.
class Egl : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest&, AttributeList& list) const override {
    HALYARD_CHECK(set_fact(list, Key::heaps, dma_heaps | bit(Heap::udmabuf)));
    HALYARD_CHECK(set_fact(list, Key::attach, dma));
    HALYARD_CHECK(
        set_fact(list, Key::domains, cpu_sync | static_cast<std::uint64_t>(Coherency::hardware)));
    return set_all(list, Key::pitch_align, "pitch_align");
  }
};

/// G2D takes physical addresses below 4 GiB and never attaches; its pitch is a number of pixels.
class G2d : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest& request, AttributeList& list) const override {
    HALYARD_CHECK(set_fact(list, Key::contig, 1));
    HALYARD_CHECK(set_fact(list, Key::addr_bits, 32));
    HALYARD_CHECK(set_fact(list, Key::heaps, dma_heaps));
    HALYARD_CHECK(set_fact(list, Key::attach, address_only));
    HALYARD_CHECK(set_fact(list, Key::px_integral, 1));
    HALYARD_CHECK(set(list, Key::base_align, "base_align"));
    HALYARD_CHECK(set(list, Key::height_mult, "rows_mult"));
    HALYARD_CHECK(set_all(list, Key::pitch_align, pitch_setting(request)));
    for (const Key extent : {Key::width, Key::height})
      if (request.width != 0)
        HALYARD_CHECK(list.set(extent, {number("min_extent"), 0xFFFFFFFF}, 0,
                               settings().source("min_extent")));
    const bool is_yuv = request.format && info(*request.format).model == ColorModel::yuv;
    return is_yuv ? set_all(list, Key::plane_align, "plane_align") : Status();
  }

 private:
  static std::string_view pitch_setting(const BufferRequest& request) {
    if (!request.format) return "pitch_align_rgb";
    const FormatInfo& format = info(*request.format);
    if (format.kind == FormatKind::tri_planar) return "pitch_align_i420";
    return format.model == ColorModel::yuv ? "pitch_align_yuv" : "pitch_align_rgb";
  }
};

}  // namespace

MadeEngine make_pbo(std::string_view name, std::string_view json) {
  HALYARD_TRY(Settings settings, Settings::read(name, {}, json));
  return std::shared_ptr<const BufferEngine>(std::make_shared<Pbo>(name, std::move(settings)));
}

MadeEngine make_egl(std::string_view name, std::string_view json) {
  constexpr Setting table[] = {{"pitch_align", 64}};
  HALYARD_TRY(Settings settings, Settings::read(name, table, json));
  return std::shared_ptr<const BufferEngine>(std::make_shared<Egl>(name, std::move(settings)));
}

MadeEngine make_g2d(std::string_view name, std::string_view json) {
  constexpr Setting table[] = {{"base_align", 16},       {"plane_align", 64},
                               {"pitch_align_rgb", 16},  {"pitch_align_yuv", 8},
                               {"pitch_align_i420", 32}, {"rows_mult", 2},
                               {"min_extent", 4}};
  HALYARD_TRY(Settings settings, Settings::read(name, table, json));
  return std::shared_ptr<const BufferEngine>(std::make_shared<G2d>(name, std::move(settings)));
}

}  // namespace halyard
