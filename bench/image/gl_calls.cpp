// SPDX-License-Identifier: Apache-2.0
// Conversions on OpenGL, in software too: processor time of the two threads that submit one, the
// caller's and the context's; and of the context's for the first conversions of a processor, with
// and without shaders that an earlier one compiled. They tell nothing of a GPU's speed.
#ifdef HALYARD_HAVE_GL
#include <benchmark/benchmark.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/mapped.h"
#include "gl/display/worker.h"
#include "work.h"

namespace halyard::bench {
namespace {

constexpr int rounds = 11;
constexpr int calls_of_a_round = 10;

/// Memory that software OpenGL imports, where the machine has no heap of DMA-BUFs.
class MemoryFile final : public Buffer {
 public:
  static std::shared_ptr<Buffer> create(std::size_t size_bytes) {
    if (auto real = allocate(size_bytes, Memory::dma)) return *real;
    Fd fd = create_sealed_memory("bench", size_bytes).value();
    MappedMemory bytes = MappedMemory::create(fd.get(), size_bytes, true).value();
    return std::make_shared<MemoryFile>(std::move(fd), std::move(bytes), size_bytes);
  }
  MemoryFile(Fd fd, MappedMemory bytes, std::size_t size_bytes)
      : Buffer(size_bytes, Memory::dma), fd_(std::move(fd)), bytes_(std::move(bytes)) {}
  ~MemoryFile() override { release_attachments(); }
  int fd() const noexcept override { return fd_.get(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override { return bytes_.bytes(); }
  void end_access(Access) noexcept override {}
  Fd fd_;
  MappedMemory bytes_;
};

Tensor make_image(Memory memory, Size size, PixelFormat format) {
  if (memory != Memory::dma)
    return Tensor::create_image(static_cast<std::size_t>(size.width),
                                static_cast<std::size_t>(size.height), format, DType::u8, memory)
        .value();
  const std::size_t stride = (static_cast<std::size_t>(size.width) * 4 + 255) / 256 * 256;
  const Tensor::PlaneSource whole{
      MemoryFile::create(stride * static_cast<std::size_t>(size.height) * 2), 0, stride};
  return Tensor::wrap_image({&whole, 1}, static_cast<std::size_t>(size.width),
                            static_cast<std::size_t>(size.height), format)
      .value();
}

double thread_microseconds() {
  struct timespec now {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

std::shared_ptr<gl::Worker> any_worker() {
  ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
  auto worker = gl::Worker::shared(true);
  return worker ? *worker : nullptr;
}

double worker_microseconds(gl::Worker& worker) {
  double out = 0;
  const Status done = worker.run([&]() -> Status {
    out = thread_microseconds();
    return {};
  });
  return done ? out : 0;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

/// What is timed: conversions that are waited for one by one, or a queue of them.
enum class Calls : std::uint8_t { each, queued };

void convert_all(Processor& processor, const Convert& request, Calls calls) {
  for (int i = 0; i < calls_of_a_round; ++i) {
    const bool is_done = calls == Calls::queued ? bool(processor.convert_deferred(request))
                                                : bool(processor.convert(request));
    if (!is_done) std::abort();
  }
  if (calls == Calls::queued && !processor.flush()) std::abort();
}

void submit(benchmark::State& state, Memory memory, Size source, Size target, Calls calls) {
  const auto worker = any_worker();
  if (worker == nullptr) return state.SkipWithError("no OpenGL ES on this machine");
  if (memory == Memory::dma && !worker->capabilities().dma_buf_import)
    return state.SkipWithError("this driver imports no DMA-BUFs");
  Processor processor = Processor::create({.backend = ComputeBackend::opengl}).value();
  Convert request;
  request.src = make_image(memory, source, PixelFormat::nv12);
  request.dst = make_image(memory, target, PixelFormat::rgba);
  request.fit = Fit::letterbox;
  convert_all(processor, request, calls);  // imports, compiles
  std::vector<double> callers;
  std::vector<double> workers;
  for (auto round : state) {
    const double caller = thread_microseconds();
    const double context = worker_microseconds(*worker);
    convert_all(processor, request, calls);
    workers.push_back((worker_microseconds(*worker) - context) / calls_of_a_round);
    callers.push_back((thread_microseconds() - caller) / calls_of_a_round);
    state.SetIterationTime((callers.back() + workers.back()) * 1e-6);
  }
  state.counters["caller_us"] = median(callers);
  state.counters["context_us"] = median(workers);
  state.counters["median_us"] = median(callers) + median(workers);
}

/// A folder for shaders, removed at the end.
struct ShaderFolder {
  ShaderFolder() { is_made = ::mkdtemp(path.data()) != nullptr; }
  ShaderFolder(const ShaderFolder&) = delete;
  ShaderFolder& operator=(const ShaderFolder&) = delete;
  ~ShaderFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    ::unsetenv("HALYARD_SHADER_CACHE");
  }
  std::string path = (std::filesystem::temp_directory_path() / "halyard_bench_XXXXXX").string();
  bool is_made = false;
};

// Processor time of the context's thread for three conversions of a camera, of which one has two
// passes. The processor's objects are new.
double first_conversions_us(gl::Worker& worker) {
  Processor processor = Processor::create({.backend = ComputeBackend::opengl}).value();
  Convert request;
  request.src = make_image(Memory::mem, {128, 72}, PixelFormat::nv12);
  const double start = worker_microseconds(worker);
  for (const auto& [format, antialias] : {std::pair(PixelFormat::rgb, false),
                                          {PixelFormat::planar_rgb, false},
                                          {PixelFormat::rgba, true}}) {
    request.dst = make_image(Memory::mem, {64, 64}, format);
    request.antialias = antialias;
    request.fit = Fit::letterbox;
    if (!processor.convert(request)) std::abort();
  }
  return worker_microseconds(worker) - start;
}

void first(benchmark::State& state, bool is_cached) {
  const auto worker = any_worker();
  if (worker == nullptr) return state.SkipWithError("no OpenGL ES on this machine");
  if (is_cached && !worker->capabilities().program_binaries)
    return state.SkipWithError("this driver has no binaries of programs");
  const ShaderFolder folder;
  if (!folder.is_made) return state.SkipWithError("no temporary folder");
  ::setenv("HALYARD_SHADER_CACHE", is_cached ? folder.path.c_str() : "off", 1);
  first_conversions_us(*worker);
  std::vector<double> times;
  for (auto round : state) {
    times.push_back(first_conversions_us(*worker));
    state.SetIterationTime(times.back() * 1e-6);
  }
  state.counters["median_ms"] = median(times) / 1e3;
}

template <class Body>
void add(const std::string& name, const Body& body, benchmark::TimeUnit unit) {
  benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(rounds)->UseManualTime()->Unit(unit);
}

const int all = [] {
  for (const auto& [name, calls] : {std::pair("", Calls::each), {"/queued", Calls::queued}}) {
    for (const Memory memory : {Memory::dma, Memory::pbo, Memory::mem}) {
      for (const auto& [row, source, target] :
           {std::tuple("nv12_64_rgba_32", Size{64, 64}, Size{32, 32}),
            {"nv12_1080p_rgba_32", Size{1920, 1080}, Size{32, 32}},
            {"nv12_1080p_letterbox_640_rgba", Size{1920, 1080}, Size{640, 640}}}) {
        add(
            "gl/submit_" + std::string(row) + "/" + std::string(to_string(memory)) + name,
            [=](benchmark::State& state) { submit(state, memory, source, target, calls); },
            benchmark::kMicrosecond);
      }
    }
  }
  add(
      "gl/first/compiled", [](benchmark::State& state) { first(state, false); },
      benchmark::kMillisecond);
  add(
      "gl/first/cached", [](benchmark::State& state) { first(state, true); },
      benchmark::kMillisecond);
  return 0;
}();

}  // namespace
}  // namespace halyard::bench
#endif
