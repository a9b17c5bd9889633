// SPDX-License-Identifier: Apache-2.0
// Font over FreeType. A glyph is rendered once per size and kept.
#include "draw/font.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/text/format_error.h"
#include "base/text/utf8.h"

namespace halyard::draw {
namespace {

constexpr std::size_t max_code_points = 512;
constexpr std::size_t max_cached = 4096;  // glyphs; above, the cache is cleared
constexpr const char* what_to_install =
    "install the package fonts-dejavu-core or name a font file in OverlayOptions::font";

constexpr const char* fonts[] = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/ttf-dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf",
    "/usr/share/fonts/truetype/liberation2/LiberationSans-Bold.ttf",
    "/usr/share/fonts/liberation-sans/LiberationSans-Bold.ttf",
    "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf",
    "/usr/share/fonts/truetype/freefont/FreeSansBold.ttf",
};

struct Glyph {
  std::shared_ptr<const CoverageBitmap> bitmap;  // null: nothing is visible
  int left = 0;                                  // from the pen to the bitmap
  int top = 0;                                   // from the baseline up to the bitmap
  int advance = 0;
};

Result<std::string> find(const std::string& path, std::span<const char* const> candidates) {
  if (!path.empty()) {
    if (::access(path.c_str(), R_OK) == 0) return path;
    if (errno == EACCES) return fail(Errc::permission, "font: file cannot be read", "{}", path);
    return fail(Errc::not_found, "font: file not found", "tried {}; {}", path, what_to_install);
  }
  std::string tried;
  for (const char* candidate : candidates) {
    if (::access(candidate, R_OK) == 0) return std::string(candidate);
    tried += tried.empty() ? "" : ", ";
    tried += candidate;
  }
  return fail(Errc::not_found, "font: no packaged font found", "tried {}; {}",
              tried.empty() ? "no path" : tried, what_to_install);
}

}  // namespace

std::span<const char* const> packaged_fonts() noexcept {
  return fonts;
}

struct Font::Impl {
  FT_Library library = nullptr;
  FT_Face face = nullptr;
  int size_px = 0;
  std::unordered_map<std::uint64_t, Glyph> glyphs;  // size << 32 | code point

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (face != nullptr) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }

  const Glyph& glyph(char32_t code, int size);
  Glyph render(char32_t code, int size);
};

// A glyph that the font cannot render is empty: labels come from outside and must not fail a frame.
Glyph Font::Impl::render(char32_t code, int size) {
  Glyph glyph;
  if (size != size_px) {
    if (FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(size)) != 0) return glyph;
    size_px = size;
  }
  if (FT_Load_Char(face, code, FT_LOAD_RENDER | FT_LOAD_TARGET_LIGHT) != 0) return glyph;
  const FT_GlyphSlot slot = face->glyph;
  const FT_Bitmap& bitmap = slot->bitmap;
  glyph.advance = static_cast<int>((slot->advance.x + 32) >> 6);
  if (bitmap.pixel_mode != FT_PIXEL_MODE_GRAY || bitmap.pitch <= 0) return glyph;
  // A damaged font may have glyphs of any size; no valid glyph is larger than this.
  const auto maximum = 8 * static_cast<unsigned>(size);
  if (bitmap.width > maximum || bitmap.rows > maximum) return glyph;
  glyph.left = slot->bitmap_left;
  glyph.top = slot->bitmap_top;
  const auto own =
      make_coverage_bitmap(static_cast<int>(bitmap.width), static_cast<int>(bitmap.rows));
  for (std::size_t y = 0; y < bitmap.rows; ++y) {
    std::memcpy(own->bytes.data() + y * bitmap.width,
                bitmap.buffer + static_cast<std::ptrdiff_t>(y) * bitmap.pitch, bitmap.width);
  }
  glyph.bitmap = own;
  return glyph;
}

const Glyph& Font::Impl::glyph(char32_t code, int size) {
  if (code < 0x20 || code == 0x7F) code = ' ';
  const std::uint64_t key = (static_cast<std::uint64_t>(size) << 32U) | code;
  const auto found = glyphs.find(key);
  if (found != glyphs.end()) return found->second;
  if (glyphs.size() >= max_cached) glyphs.clear();
  return glyphs.emplace(key, render(code, size)).first->second;
}

Font::Font(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Font::Font(Font&&) noexcept = default;
Font& Font::operator=(Font&&) noexcept = default;
Font::~Font() = default;

Result<Font> Font::open(const std::string& path, std::span<const char* const> candidates) {
  HALYARD_TRY(const std::string file, find(path, candidates));
  auto impl = std::make_unique<Impl>();
  if (FT_Init_FreeType(&impl->library) != 0) {
    return fail(Errc::no_memory, "font: FreeType cannot be started");
  }
  const FT_Error error = FT_New_Face(impl->library, file.c_str(), 0, &impl->face);
  if (error != 0) {
    return fail(Errc::malformed, "font: file is not a font that FreeType reads",
                "{}, FreeType error {}", file, error);
  }
  if (!FT_IS_SCALABLE(impl->face)) {
    return fail(Errc::malformed, "font: file holds no scalable outlines", "{}", file);
  }
  return Font(std::move(impl));
}

int Font::cap_height(int size_px) {
  return impl_->glyph(U'H', size_px).top;
}

int Font::width(std::string_view line, int size_px) {
  int width = 0;
  for (std::size_t n = 0; n < max_code_points && !line.empty(); ++n) {
    width += impl_->glyph(next_code_point(line), size_px).advance;
  }
  return width;
}

void Font::draw(const Canvas& canvas, int x, int baseline, std::string_view line, int size_px,
                const Ink& ink) {
  int pen = x;
  const int end = canvas.clip().x1;
  for (std::size_t n = 0; n < max_code_points && !line.empty() && pen < end; ++n) {
    const Glyph& g = impl_->glyph(next_code_point(line), size_px);
    if (g.bitmap != nullptr) {
      const CoverageBitmap& b = *g.bitmap;
      canvas.blend_coverage(pen + g.left, baseline - g.top,
                            {b.bytes.data(), b.width, b.height, b.width, &g.bitmap}, ink);
    }
    pen += g.advance;
  }
}

}  // namespace halyard::draw
