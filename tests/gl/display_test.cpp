// SPDX-License-Identifier: Apache-2.0
// Displays and what is reported of them.
#include "gl/display/display.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "gl/display/capabilities.h"
#include "halyard/gl.h"
#include "support/result.h"
#include "worker.h"

namespace halyard::test {
namespace {

class GlDisplays : public testing::Test {
 protected:
  ~GlDisplays() override { allow_software(false); }
  static void allow_software(bool is_allowed) {
    if (is_allowed) {
      ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    } else {
      ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
    }
  }
};

TEST_F(GlDisplays, are_tried_in_order_and_each_has_a_renderer_or_a_reason) {
  WORKER_OR_SKIP(worker);
  allow_software(true);
  ASSERT_VALUE(const auto displays, probe_gl_displays());
  const auto rank = [](const GlDisplay& display) {
    constexpr GlDisplayKind order[] = {GlDisplayKind::surfaceless, GlDisplayKind::device,
                                       GlDisplayKind::gbm, GlDisplayKind::standard};
    return std::ranges::find(order, display.kind) - order;
  };
  EXPECT_TRUE(std::ranges::is_sorted(displays, {}, rank));
  EXPECT_EQ(rank(displays.front()), 0);
  EXPECT_EQ(rank(displays.back()), 3);
  for (const GlDisplay& display : displays) {
    EXPECT_TRUE(display.status ? !display.renderer.empty()
                               : !display.status.error().message().empty());
  }
  const auto first =
      std::ranges::find_if(displays, [](const GlDisplay& d) { return bool(d.status); });
  ASSERT_NE(first, displays.end());
  ASSERT_VALUE(const auto report, describe_gl());
  EXPECT_EQ(report.kind, first->kind);
  EXPECT_EQ(report.display, first->name);
  EXPECT_EQ(report.renderer, first->renderer);
  EXPECT_TRUE(report.version.starts_with("OpenGL ES 3")) << report.version;
  EXPECT_TRUE(report.egl_version.starts_with("1.")) << report.egl_version;
  for (const char* name : {"largest texture", "program binaries", "shader cache", "quirk"})
    EXPECT_TRUE(std::ranges::count(report.properties, name, &GlReport::Property::name)) << name;
}

TEST_F(GlDisplays, that_run_on_the_cpu_are_refused_unless_allowed) {
  WORKER_OR_SKIP(worker);
  if (!worker->capabilities().is_software) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_FAILS(describe_gl(), Errc::unsupported, "HALYARD_ALLOW_SOFTWARE_GL=1 allows it");
  ASSERT_VALUE(const auto displays, probe_gl_displays());
  for (const GlDisplay& display : displays) {
    EXPECT_FALSE(display.status) << to_string(display.kind);
    if (display.renderer.empty()) continue;
    EXPECT_FAILS(display.status, Errc::unsupported, display.renderer);
  }
  allow_software(true);
  EXPECT_OK(describe_gl());
}

TEST(GlExtensions, are_whole_words_of_a_list) {
  constexpr std::string_view list = "EGL_KHR_image_base EGL_KHR_image EGL_EXT_device_base";
  for (const char* name : {"EGL_KHR_image_base", "EGL_KHR_image", "EGL_EXT_device_base"})
    EXPECT_TRUE(gl::has_extension(list, name)) << name;
  for (const char* name :
       {"EGL_KHR", "image_base", "EGL_EXT_device", "device_base", "EGL_KHR_imag"})
    EXPECT_FALSE(gl::has_extension(list, name)) << name;
  EXPECT_FALSE(gl::has_extension("", "EGL_KHR_image"));
}

TEST(EglErrors, have_the_names_of_the_specification) {
  EXPECT_EQ(gl::egl_error_name(EGL_SUCCESS), "EGL_SUCCESS");
  EXPECT_EQ(gl::egl_error_name(EGL_BAD_ALLOC), "EGL_BAD_ALLOC");
  EXPECT_EQ(gl::egl_error_name(EGL_BAD_MATCH), "EGL_BAD_MATCH");
  EXPECT_EQ(gl::egl_error_name(EGL_CONTEXT_LOST), "EGL_CONTEXT_LOST");
  EXPECT_EQ(gl::egl_error_name(EGL_CONTEXT_LOST + 1), "an unknown error");
  EXPECT_EQ(gl::egl_error_name(0), "an unknown error");
}

}  // namespace
}  // namespace halyard::test
