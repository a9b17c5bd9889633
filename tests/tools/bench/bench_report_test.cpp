// SPDX-License-Identifier: Apache-2.0
// Engines, boxes, machines and the table of halyard bench.
#include "bench/bench_report.h"

#include <gtest/gtest.h>

#include "support/result.h"

namespace halyard::tool {
namespace {

std::vector<EngineInfo> known_engines() {
  std::vector<EngineInfo> out(4);
  out[0] = {.name = "fast", .extensions = {".onnx"}};
  out[1] = {.name = "gone",
            .extensions = {".onnx"},
            .usable = make_error(Errc::unsupported, "no library"),
            .install = "pip install gone"};
  out[2] = {.name = "other", .extensions = {".tflite"}};
  out[3] = {.name = "shy", .extensions = {}, .needs_name = true};
  return out;
}

TEST(Bench_engines, without_names_are_all_with_their_reasons) {
  ASSERT_VALUE(auto chosen, choose_engines(known_engines(), {}, "m.ONNX"));
  ASSERT_EQ(chosen.size(), 4U);
  const BenchState wanted[] = {BenchState::measured, BenchState::missing, BenchState::unfit,
                               BenchState::unnamed};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(chosen[i].state, wanted[i]) << chosen[i].name;
  EXPECT_EQ(chosen[1].install, "pip install gone");
  EXPECT_EQ(chosen[2].reason, "reads .tflite");
  EXPECT_NE(chosen[3].reason.find("--engine shy"), std::string::npos);
  EXPECT_TRUE(is_complete(chosen)) << "nobody has named the others";
  chosen[0].state = BenchState::failed;
  EXPECT_FALSE(is_complete(chosen));
}

TEST(Bench_engines, that_are_named_must_all_be_measured) {
  const std::vector<std::string> names = {"shy", "fast"};
  ASSERT_VALUE(auto chosen, choose_engines(known_engines(), names, "m.onnx"));
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[1].state, BenchState::measured) << chosen[1].reason;
  EXPECT_TRUE(is_complete(chosen));
  const std::vector<std::string> gone = {"gone", "fast"};
  ASSERT_VALUE(chosen, choose_engines(known_engines(), gone, "m.onnx"));
  EXPECT_FALSE(is_complete(chosen));
  const std::vector<std::string> wrong = {"fats"};
  EXPECT_FAILS(choose_engines(known_engines(), wrong, "m.onnx"), Errc::invalid_argument,
               "did you mean fast?");
  EXPECT_FALSE(is_complete({}));
}

TEST(Box_agreement, pairs_boxes_of_one_class_once) {
  const std::vector<Detection> ours = {{.box = {0, 0, 10, 10}, .label = 1},
                                       {.box = {20, 0, 30, 10}, .label = 1},
                                       {.box = {40, 0, 50, 10}, .label = 2}};
  const std::vector<Detection> theirs = {{.box = {0, 0, 10, 10.5F}, .label = 1},
                                         {.box = {0, 0, 10, 10.25F}, .label = 1},
                                         {.box = {24, 0, 34, 10}, .label = 1},
                                         {.box = {40, 0, 50, 10}, .label = 0}};
  BoxAgreement agreement;
  compare_boxes(ours, theirs, agreement);
  EXPECT_EQ(agreement.ours, 3U);
  EXPECT_EQ(agreement.theirs, 4U);
  EXPECT_EQ(agreement.same, 1U);
  EXPECT_DOUBLE_EQ(agreement.largest_difference, 0.25) << "the best partner";
}

TEST(Machine, is_described_with_its_load) {
  EXPECT_EQ(cpu_name("processor : 0\nmodel name\t: AMD EPYC\nmodel name\t: B\n"), "AMD EPYC");
  EXPECT_EQ(cpu_name("Hardware : board\n"), "");
  EXPECT_EQ(describe_machine({"cpu", 4, 4, 0.5}), "cpu, 4 processors, load 0.50");
  EXPECT_EQ(describe_machine({"cpu", 4, 2, 1.5}),
            "cpu, 4 processors (2 for this process), load 1.50: other programs use the processors, "
            "so times vary");
}

TEST(Bench_table, has_a_line_for_each_engine) {
  BenchReport report;
  report.model = "m.onnx";
  report.input = BenchInput{false, {"a.jpg", "b.jpg"}, {640, 360}, PixelFormat::nv12};
  BenchEngine fast{.name = "fast", .runtime = "fast 1.0 CPU", .open_ms = 12.4};
  BenchRun run{.in_flight = 1, .frames = 30, .seconds = 1.5, .frames_per_s = 20};
  run.stages = {{"load", 1, 2, 3, 1.5}, {"total", 40, 50, 60, 45}};
  fast.runs = {run, run};
  fast.runs[1].in_flight = 4;
  fast.runs[1].frames_per_s = 31.25;
  fast.not_compared = "no cv2";
  BenchEngine gone{.name = "gone",
                   .state = BenchState::missing,
                   .reason = "no library",
                   .install = "pip install gone"};
  report.engines = {fast, gone};
  const std::string text = bench_text(report);
  for (const char* part :
       {"a.jpg and 1 more: 640 x 360 nv12, read for each frame\n",
        "fast 1.0 CPU, opened in 12 ms\n", "  1 frame in flight: 30 frames in 1.5 s, 20.0 a second",
        "    total        40.000   50.000   60.000   45.000\n", "  not compared: no cv2\n",
        "\nfast              40.00 ms    60.00 ms        20.0            31.2\n",
        "\ngone          missing: no library: `pip install gone`\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace halyard::tool
