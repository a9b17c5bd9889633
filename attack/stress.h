// SPDX-License-Identifier: Apache-2.0
// Common part of the C++ programs of this folder: rounds by seed, each case in a child process, so
// that a crash is a result and the rounds continue; the same options and last line as common.py.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace halyard::attack {

using Random = std::mt19937_64;

/// The record of a child, which is readable even after it dies.
struct Shared {
  char words[512];
  std::uint64_t calls;
  std::uint64_t refused;
  std::uint64_t equal;
};

inline Shared& shared() {
  static auto* const memory = static_cast<Shared*>(
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *memory;
}

/// Records the name of the next call. Allocates nothing.
__attribute__((format(printf, 1, 2))) inline void say(const char* format, ...) {
  va_list list;
  va_start(list, format);
  std::vsnprintf(shared().words, sizeof(shared().words), format, list);
  va_end(list);
}

inline std::size_t below(Random& random, std::size_t count) {
  return count == 0 ? 0 : static_cast<std::size_t>(random() % count);
}

/// How a case ended in its child.
enum class Case : std::uint8_t { done, failed, beyond };

struct Way {
  const char* name;
  /// All cases of one seed; false if one has failed. `run` forks a child for a case and returns how
  /// it ended.
  std::function<bool(std::uint64_t seed)> round;
};

/// Whether children record their last call instead of printing it; not with --once.
inline bool& is_quiet() {
  static bool quiet = true;
  return quiet;
}

/// Runs a case in a child. A crash, a hang or an exit code that is not one of Case's is a failure.
inline Case in_child(const std::function<Case()>& body, unsigned seconds = 60) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(seconds);
    if (is_quiet()) (void)!std::freopen("/dev/null", "w", stderr);
    const rlimit none = {0, 0};
    (void)::setrlimit(RLIMIT_CORE, &none);
    ::_exit(static_cast<int>(body()));
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) <= 2) return static_cast<Case>(WEXITSTATUS(status));
  char words[400];
  std::memcpy(words, shared().words, sizeof(words));
  words[sizeof(words) - 1] = 0;
  if (WIFSIGNALED(status))
    say("%s: died of signal %d", words, WTERMSIG(status));
  else
    say("%s: exit %d", words, WEXITSTATUS(status));
  return Case::failed;
}

struct Options {
  std::uint64_t seed = static_cast<std::uint64_t>(std::time(nullptr)) * 1000;
  std::uint64_t rounds = 0;
  double seconds = 30;
  std::string way;
};

inline Options parse(int count, char** words, const std::vector<Way>& ways) {
  Options out;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = words[i];
    const char* value = i + 1 < count ? words[i + 1] : "";
    if (name == "--ways") {
      for (const Way& way : ways)
        std::printf("%s\n", way.name);
      std::exit(0);
    }
    if (name == "--once") {
      out.rounds = 1;
      is_quiet() = false;
      continue;
    }
    if (name == "--seed")
      out.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--rounds")
      out.rounds = std::strtoull(value, nullptr, 10);
    else if (name == "--seconds")
      out.seconds = std::strtod(value, nullptr);
    else if (name == "--way")
      out.way = value;
    else if (name != "--out") {
      std::fprintf(stderr, "usage: [--seed N] [--rounds N | --seconds S] [--way NAME] [--ways]\n");
      std::exit(2);
    }
    ++i;
  }
  return out;
}

inline int run_all(const char* program, int count, char** words, std::vector<Way> ways) {
  const Options options = parse(count, words, ways);
  if (!options.way.empty())
    std::erase_if(ways, [&](const Way& way) { return options.way != way.name; });
  if (ways.empty()) return 2;
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t seed = options.seed;
  std::uint64_t failures = 0;
  say("nothing yet");  // maps the memory before the first child
  const auto is_over = [&] {
    if (options.rounds != 0) return seed - options.seed >= options.rounds;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
           options.seconds;
  };
  for (; !is_over(); ++seed) {
    const Way& way = ways[seed % ways.size()];
    if (way.round(seed)) continue;
    ++failures;
    std::printf(
        "FAILURE %s seed %llu way %s\n  last call: %s\n  replay: %s --seed %llu%s%s --once\n",
        program, static_cast<unsigned long long>(seed), way.name, shared().words, words[0],
        static_cast<unsigned long long>(seed), options.way.empty() ? "" : " --way ",
        options.way.c_str());
  }
  rusage used = {};
  (void)::getrusage(RUSAGE_CHILDREN, &used);
  std::printf("seeds %llu..%llu\n", static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(seed - 1));
  std::printf(
      "%s: %llu rounds, %llu calls, %llu refused, %llu equal, %llu failures, peak %ld MiB\n",
      program, static_cast<unsigned long long>(seed - options.seed),
      static_cast<unsigned long long>(shared().calls),
      static_cast<unsigned long long>(shared().refused),
      static_cast<unsigned long long>(shared().equal), static_cast<unsigned long long>(failures),
      used.ru_maxrss >> 10);
  return failures == 0 ? 0 : 1;
}

}  // namespace halyard::attack
