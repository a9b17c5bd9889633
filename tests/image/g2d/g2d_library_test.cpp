// SPDX-License-Identifier: Apache-2.0
// Finding libg2d: every reason why it is not used, and versions.
#include <gtest/gtest.h>

#include "image/dispatch.h"
#include "image/g2d/device.h"
#include "image/g2d/g2d_library.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;
using image::g2d::G2dLibrary;
using image::g2d::parse_version;
using image::g2d::Version;

/// What explain() says about g2d.
std::string line_about_g2d(const Processor& processor) {
  Random random(5);
  const Convert request{.src = random_image(random, 8, 8, F::rgba),
                        .dst = zero_image(8, 8, F::rgba)};
  const std::string report = processor.explain(request).value();
  const std::size_t begin = report.find("g2d: ");
  return report.substr(begin, report.find('\n', begin) - begin);
}

std::string reason_with(const std::string& library) {
  const Variable variable("HALYARD_G2D_LIBRARY", library);
  return line_about_g2d(Processor::create().value());
}

TEST(G2dLibrary, each_reason_for_its_absence_has_a_text_of_its_own) {
  EXPECT_EQ(reason_with("/nowhere/libg2d.so").find("g2d: libg2d: cannot be loaded: /nowhere/"), 0U);
  EXPECT_EQ(reason_with(fake_library("no_blit")).find("g2d: libg2d: lacks a function: g2d_blit"),
            0U);
  EXPECT_EQ(reason_with(fake_library("no_version")).find("g2d: libg2d: has no _G2D_VERSION"), 0U);
  EXPECT_EQ(reason_with(fake_library("old_text"))
                .find("g2d: libg2d: its _G2D_VERSION has an unknown form"),
            0U);
  G2dMachine machine("int");
  machine.fake().faults().refused_opens = 1;
  EXPECT_EQ(line_about_g2d(Processor::create().value()),
            "g2d: libg2d: g2d_open fails: it returns -1");
  EXPECT_EQ(machine.counts().opened, 0);
}

TEST(G2dLibrary, the_environment_switches_it_off_and_asks_for_it) {
  G2dMachine machine("int");
  const Variable off("HALYARD_DISABLE_G2D", "1");
  EXPECT_EQ(line_about_g2d(Processor::create().value()),
            "g2d: switched off by HALYARD_DISABLE_G2D");
  EXPECT_EQ(machine.counts().opened, 0);
  {
    const Variable forced("HALYARD_FORCE_BACKEND", "g2d");
    EXPECT_OK(Processor::create());
    EXPECT_EQ(machine.counts().opened, 1);
    const Variable absent("HALYARD_G2D_LIBRARY", "/nowhere/libg2d.so");
    EXPECT_FAILS(Processor::create(), Errc::unsupported, "cannot be loaded");
  }
  const Variable other("HALYARD_FORCE_BACKEND", "cpu");
  EXPECT_OK(Processor::create());
  EXPECT_EQ(machine.counts().opened, 1);
  EXPECT_EQ(machine.counts().closed, 1);
}

TEST(G2dLibrary, its_version_gives_the_layout_of_structs) {
  EXPECT_EQ(parse_version("\n\0$VERSION$6.4.3:398061:d3dac3f35d$\n"), (Version{6, 4, 3, 398061}));
  EXPECT_EQ(parse_version("$VERSION$6.4.11:1049711:x$"), (Version{6, 4, 11, 1049711}));
  for (const char* text :
       {"", "\n", "$VERSION$", "$VERSION$6.4.3$", "$VERSION$6.4:398061:x$",
        "$VERSION$6.4.3:1234567890:x$", "$VERSION$a.4.3:398061:x$", "6.4.3:398061:"})
    EXPECT_FALSE(parse_version(text)) << text;
  const auto is_wide = [](const Version& v) { return v >= image::g2d::first_wide_version; };
  EXPECT_FALSE(is_wide({6, 4, 11, 1049710}));
  EXPECT_TRUE(is_wide({6, 4, 11, 1049711}));
  EXPECT_FALSE(is_wide({6, 4, 9, 2000000}));
  EXPECT_TRUE(is_wide({7, 0, 0, 1}));
  EXPECT_FALSE(G2dLibrary::load(fake_library("int")).value()->is_wide());
  EXPECT_TRUE(G2dLibrary::load(fake_library("long")).value()->is_wide());
  EXPECT_EQ(G2dLibrary::load(fake_library("int")).value(),
            G2dLibrary::load(fake_library("int")).value());
}

}  // namespace
}  // namespace halyard::test
