// SPDX-License-Identifier: Apache-2.0
// Makes the built-in engines by their names.
#include "halyard/buffer_engine.h"

#include "base/text/format_error.h"
#include "reconcile/engines/engines.h"

namespace halyard {

namespace {

struct NamedEngine {
  std::string_view name;
  MadeEngine (*make)(std::string_view name, std::string_view settings);
};
constexpr NamedEngine engine_words[] = {
    {"cpu", make_cpu},          {"cpu.simd16", make_simd},   {"cpu.simd32", make_simd},
    {"cpu.simd64", make_simd},  {"gl.pbo", make_pbo},        {"egl.dmabuf", make_egl},
    {"nxp.g2d", make_g2d},      {"v4l2.capture", make_v4l2}, {"dla", make_dla},
    {"peer.proxy", make_proxy},
};

}  // namespace

Result<std::shared_ptr<const BufferEngine>> make_buffer_engine(std::string_view name,
                                                               std::string_view settings) {
  for (const NamedEngine& each : engine_words)
    if (each.name == name) return each.make(name, settings);
  std::string names;
  for (const NamedEngine& each : engine_words)
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  return fail(Errc::not_found, "engine: the library has none of this name", "\"{}\", known: {}",
              name, names);
}

}  // namespace halyard
