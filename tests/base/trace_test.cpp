// SPDX-License-Identifier: Apache-2.0
// Sessions of the trace: the file parses, holds what was recorded, and nothing else.
#include "halyard/trace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/allocation_limit.h"
#include "support/folder.h"
#include "support/result.h"

namespace halyard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TraceTest : public ::testing::Test {
 protected:
  const test::Folder folder_;
  const std::string path_ = folder_ / "trace.json";
  void TearDown() override { (void)trace::stop(); }
  json events() const {
    std::ifstream file(path_);
    return json::parse(file)["traceEvents"];
  }
  std::vector<json> named(const std::string& name) const {
    std::vector<json> found;
    for (const json& event : events()) {
      if (event["name"] == name) found.push_back(event);
    }
    return found;
  }
};

TEST_F(TraceTest, records_spans_with_their_arguments) {
  ASSERT_TRUE(trace::start(path_));
  {
    trace::Span outer("test.outer");
    outer.arg("count", 3).arg("scale", 0.5).arg("format", "nv12 \"quoted\"\n");
    trace::Span inner("test.inner");
  }
  ASSERT_TRUE(trace::stop());
  const auto outer = named("test.outer");
  const auto inner = named("test.inner");
  ASSERT_EQ(outer.size(), 1U);
  ASSERT_EQ(inner.size(), 1U);
  EXPECT_EQ(outer[0]["ph"], "X");
  EXPECT_EQ(outer[0]["args"]["count"], 3);
  EXPECT_EQ(outer[0]["args"]["scale"], 0.5);
  EXPECT_EQ(outer[0]["args"]["format"], "nv12 \"quoted\"\n");
  EXPECT_TRUE(inner[0]["args"].empty());
  EXPECT_GE(inner[0]["ts"].get<double>(), outer[0]["ts"].get<double>());
  EXPECT_LE(inner[0]["dur"].get<double>(), outer[0]["dur"].get<double>());
}

TEST_F(TraceTest, arguments_added_between_children_stay_with_their_span) {
  ASSERT_TRUE(trace::start(path_));
  {
    trace::Span outer("test.outer");
    { trace::Span("test.inner").arg("which", 1); }
    outer.arg("late", 2);
  }
  ASSERT_TRUE(trace::stop());
  EXPECT_EQ(named("test.outer")[0]["args"], json({{"late", 2}}));
  EXPECT_EQ(named("test.inner")[0]["args"], json({{"which", 1}}));
}

TEST_F(TraceTest, any_number_of_sessions_each_with_its_own_events) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(trace::start(path_));
    { trace::Span("test.round").arg("round", round); }
    ASSERT_TRUE(trace::stop());
    const auto found = named("test.round");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0]["args"]["round"], round);
  }
}

TEST_F(TraceTest, nothing_is_recorded_outside_a_session) {
  { trace::Span("test.before"); }
  ASSERT_TRUE(trace::start(path_));
  auto open = std::make_unique<trace::Span>("test.left_open");
  ASSERT_TRUE(trace::stop());
  open.reset();
  EXPECT_TRUE(named("test.before").empty());
  EXPECT_TRUE(named("test.left_open").empty());
}

TEST_F(TraceTest, threads_have_tracks_and_names_of_their_own) {
  ASSERT_TRUE(trace::start(path_));
  std::thread([] {
    trace::set_thread_name("worker");
    trace::Span span("test.worker");
  }).join();
  { trace::Span("test.main"); }
  ASSERT_TRUE(trace::stop());
  const int worker = named("test.worker")[0]["tid"];
  EXPECT_NE(worker, named("test.main")[0]["tid"].get<int>());
  bool is_named = false;
  for (const json& event : named("thread_name"))
    is_named |= event["tid"] == worker && event["args"]["name"] == "worker";
  EXPECT_TRUE(is_named);
}

TEST_F(TraceTest, spans_of_many_threads_survive_stop_at_any_moment) {
  std::atomic<bool> running{true};
  std::atomic<int> recorded{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (running) {
        trace::Span span("test.busy");
        span.arg("n", 1);
        trace::counter("test.counter", 2);
        ++recorded;
        std::this_thread::yield();
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(trace::start(path_));
    for (const int enough = recorded + 1000 + 10 * round; recorded < enough;)
      std::this_thread::yield();
    ASSERT_TRUE(trace::stop());
    std::ifstream file(path_);
    EXPECT_TRUE(json::accept(file));
  }
  running = false;
  for (auto& thread : threads)
    thread.join();
}

std::atomic<bool> is_held{false};

// A handler of a signal: holds its thread wherever it is, while stop() runs. If the thread has its
// log's lock, stop() waits until the time is over.
void hold_thread(int) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  is_held = true;
  while (is_held && std::chrono::steady_clock::now() < end) {
  }
}

TEST_F(TraceTest, an_event_that_comes_after_stop_leaves_open_spans_where_they_are) {
  const auto before = std::signal(SIGUSR1, hold_thread);
  std::atomic<bool> running{true};
  std::thread thread([&] {
    while (running) {
      trace::counter("test.first", 1);
      trace::Span span("test.busy");  // the second event of the log, where it comes first
      span.arg("n", 1);
      for (int n = 0; n < 100; ++n)
        trace::counter("test.counter", 2);
    }
  });
  for (int round = 0; round < 200; ++round) {
    EXPECT_TRUE(trace::start(path_));
    EXPECT_EQ(::pthread_kill(thread.native_handle(), SIGUSR1), 0);
    while (!is_held)
      std::this_thread::yield();
    EXPECT_TRUE(trace::stop());
    is_held = false;
    std::ifstream file(path_);
    EXPECT_TRUE(json::accept(file));
  }
  running = false;
  thread.join();
  std::signal(SIGUSR1, before);
}

TEST_F(TraceTest, counters_are_drawn_as_graphs) {
  ASSERT_TRUE(trace::start(path_));
  trace::counter("test.depth", 2.5);
  ASSERT_TRUE(trace::stop());
  EXPECT_EQ(named("test.depth")[0]["ph"], "C");
  EXPECT_EQ(named("test.depth")[0]["args"]["value"], 2.5);
}

TEST_F(TraceTest, at_most_eight_arguments_are_kept) {
  ASSERT_TRUE(trace::start(path_));
  {
    trace::Span span("test.many");
    for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
      span.arg(key, 1);
  }
  ASSERT_TRUE(trace::stop());
  EXPECT_EQ(named("test.many")[0]["args"].size(), 8U);
}

TEST_F(TraceTest, refuses_a_second_session_and_an_impossible_file) {
  EXPECT_FAILS(trace::start("/no/such/folder/trace.json"), Errc::not_found);
  EXPECT_FALSE(trace::is_active());
  ASSERT_TRUE(trace::start(path_));
  EXPECT_FAILS(trace::start(path_), Errc::busy);
  ASSERT_TRUE(trace::stop());
  EXPECT_TRUE(trace::stop()) << "stopping twice does nothing";
}

TEST_F(TraceTest, a_full_disk_is_an_error) {
  ASSERT_TRUE(trace::start("/dev/full"));
  { trace::Span("test.lost"); }
  EXPECT_FAILS(trace::stop(), Errc::os);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(TraceTest, file_appears_under_its_name_when_it_is_complete) {
  ASSERT_TRUE(trace::start(path_));
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(folder_.entries(), 1U);
  ASSERT_TRUE(trace::stop());
  EXPECT_TRUE(fs::exists(path_));
  EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(TraceTest, failed_session_leaves_the_old_trace) {
  std::ofstream(path_) << "old";
  fs::create_directory(folder_ / "sub");
  const std::string kept = folder_ / "sub/trace.json";
  ASSERT_TRUE(trace::start(kept));
  fs::create_directory(kept);
  EXPECT_FAILS(trace::stop(), Errc::exists);
  EXPECT_FALSE(trace::start(folder_.path()));
  EXPECT_EQ(folder_.entries(), 2U);
  ASSERT_TRUE(trace::start(path_)) << "after a failure the next session may start";
  ASSERT_TRUE(trace::stop());
  EXPECT_FALSE(events().empty());
}

TEST_F(TraceTest, pipe_gets_the_trace_and_stays_a_pipe) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] {
    std::ifstream file(pipe);
    got.assign(std::istreambuf_iterator<char>(file), {});
  });
  ASSERT_TRUE(trace::start(pipe));
  { trace::Span("test.sent"); }
  ASSERT_TRUE(trace::stop());
  reader.join();
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(json::accept(got));
  EXPECT_NE(got.find("test.sent"), std::string::npos);
  EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(TraceTest, threads_are_named_while_a_pipe_waits_for_its_reader) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread starter([&] {
    while (!trace::start(pipe))
      std::this_thread::yield();  // the other thread's session
  });
  // Busy from the moment that the other thread has begun to open the pipe.
  const auto is_busy = [&] {
    if (!trace::start(path_)) return true;
    EXPECT_TRUE(trace::stop());
    return false;
  };
  while (!is_busy())
    std::this_thread::yield();
  std::thread([] { trace::set_thread_name("free"); }).join();
  std::ifstream reader(pipe);
  starter.join();
  ASSERT_TRUE(trace::stop());
}

TEST_F(TraceTest, session_that_is_not_stopped_leaves_no_file_behind) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!trace::start(path_)) std::_Exit(1);
    std::exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(TraceTest, leaves_out_events_that_memory_is_short_for) {
  ASSERT_TRUE(trace::start(path_));
  std::size_t failures = 1;
  for (std::size_t first = 0; failures != 0 && first < 100; ++first) {
    std::thread([&] {
      const test::AllocationLimit limit(first, test::Shortage::from_there);
      trace::Span("test.short").arg("count", 3).arg("text", "some words");
      trace::counter("test.counter", 1);
      failures = limit.failures();
    }).join();
  }
  EXPECT_EQ(failures, 0U);
  ASSERT_TRUE(trace::stop());
  EXPECT_GE(named("test.short").size(), 1U);
}

void drop_one_event() {
  std::size_t failures = 0;
  {
    const test::AllocationLimit limit(0, test::Shortage::once);
    // Each is kept until the list of events has to grow.
    for (int i = 0; limit.failures() == 0 && i < 1000; ++i)
      trace::counter("test.kept", 1);
    failures = limit.failures();
  }
  EXPECT_EQ(failures, 1U);
}

TEST_F(TraceTest, each_session_counts_its_own_dropped_events) {
  for (const bool is_short : {true, false}) {
    ASSERT_TRUE(trace::start(path_));
    trace::counter("test.kept", 1);  // makes this thread's log
    if (is_short) drop_one_event();
    ASSERT_TRUE(trace::stop());
    std::ifstream file(path_);
    EXPECT_EQ(json::parse(file)["otherData"]["dropped_events"], is_short ? 1 : 0);
  }
}

}  // namespace
}  // namespace halyard
