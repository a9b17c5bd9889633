// SPDX-License-Identifier: Apache-2.0
// What is known of renderers by their names, and what is done about it.
#include "gl/display/quirks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace halyard::test {
namespace {

gl::Capabilities of(const char* renderer, const char* version = "OpenGL ES 3.1 Mesa 25.0.7") {
  gl::Capabilities out;
  out.renderer = renderer;
  out.version = version;
  out.program_binaries = true;
  gl::apply_quirks(out);
  EXPECT_EQ(out.renderer, renderer);
  return out;
}

TEST(GlQuirks, renderers_on_the_cpu_are_known_by_name) {
  for (const char* name : {"llvmpipe (LLVM 15.0.6, 256 bits)", "softpipe", "Software Rasterizer",
                           "Google SwiftShader", "SWRast"}) {
    EXPECT_TRUE(of(name).is_software) << name;
    EXPECT_EQ(of(name).quirks.size(), 1U) << name;
  }
  for (const char* name :
       {"Mali-G310", "V3D 7.1", "NVIDIA H100 80GB HBM3/PCIe", "Vivante GC7000UL", ""})
    EXPECT_FALSE(of(name).is_software) << name;
}

TEST(GlQuirks, programs_are_not_kept_for_drivers_that_load_them_wrongly) {
  constexpr const char* qualcomm = "OpenGL ES 3.0 V@95.0 AU@  (GIT@I68fa98814b)";
  for (const char* name : {"Adreno (TM) 225", "Adreno (TM) 330", "Adreno (TM) 418",
                           "Adreno (TM) 540", "Vivante GC4000", "PowerVR Rogue GE8320"})
    EXPECT_FALSE(of(name, qualcomm).program_binaries) << name;
  EXPECT_TRUE(of("Adreno (TM) 640", qualcomm).program_binaries);
  EXPECT_TRUE(of("Adreno (TM) 540").program_binaries) << "Mesa's driver";
  EXPECT_TRUE(of("PowerVR Rogue GX6650").program_binaries);
  EXPECT_TRUE(of("Vivante GC7000L").program_binaries);
}

TEST(GlQuirks, some_drivers_import_rows_of_whole_units) {
  EXPECT_EQ(of("Mali-G610 (Panfrost)").import_pitch_bytes, 64U);
  EXPECT_EQ(of("AMD Custom GPU 0405 (radeonsi, vangogh, LLVM 15.0.7)").import_pitch_bytes, 256U);
  EXPECT_EQ(of("Mali-G610", "OpenGL ES 3.2 v1.g6p0-01eac0").import_pitch_bytes, 1U);
  EXPECT_EQ(of("V3D 7.1").import_pitch_bytes, 1U);
}

TEST(GlQuirks, one_renderer_may_have_several) {
  const gl::Capabilities mali = of("Mali-G310 (Panfrost)");
  EXPECT_TRUE(mali.renderbuffer_targets);
  EXPECT_EQ(mali.import_pitch_bytes, 64U);
  EXPECT_EQ(mali.quirks.size(), 2U);
  EXPECT_FALSE(of("Mali-G610 (Panfrost)").renderbuffer_targets);
}

TEST(GlQuirks, others_keep_what_their_driver_tells) {
  const gl::Capabilities plain = of("NVIDIA H100 80GB HBM3/PCIe", "OpenGL ES 3.2 NVIDIA 570.86");
  EXPECT_TRUE(plain.quirks.empty());
  EXPECT_TRUE(plain.program_binaries);
  EXPECT_EQ(plain.import_pitch_bytes, 1U);
  EXPECT_FALSE(plain.renderbuffer_targets);
}

TEST(GlQuirks, each_row_of_the_table_changes_something) {
  for (const gl::Quirk& quirk : gl::known_quirks()) {
    SCOPED_TRACE(quirk.renderer);
    EXPECT_FALSE(quirk.effect.empty());
    for (const std::string_view part : {quirk.renderer, quirk.version})
      EXPECT_TRUE(std::ranges::none_of(part, [](unsigned char c) { return std::isupper(c); }));
    gl::Capabilities changed;
    changed.program_binaries = true;
    quirk.apply(changed);
    EXPECT_TRUE(changed.is_software || !changed.program_binaries ||
                changed.import_pitch_bytes != 1 || changed.renderbuffer_targets);
  }
}

}  // namespace
}  // namespace halyard::test
