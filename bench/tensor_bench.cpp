// SPDX-License-Identifier: Apache-2.0
// Memory: allocating, recycling, mapping and importing, compared with the raw system calls of the
// same work. The two run in turn; raw_ns is the peer's median, ratio is raw / ours (above 1: ours
// is faster), time is ours.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "halyard/dmabuf.h"
#include "halyard/import.h"
#include "halyard/recycler.h"
#include "halyard/tensor.h"

namespace {

using halyard::Access;
using halyard::Memory;
using halyard::PixelFormat;
using halyard::Tensor;

constexpr std::size_t page = 4096;
constexpr std::size_t hd = std::size_t{1920} * 1080 * 4;

template <class Work>
double ns_of(int rounds, Work& work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i)
    work();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / rounds;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// `rounds` of each at a time: enough to make the clock's own time negligible.
template <class Ours, class Raw>
void in_turns(benchmark::State& state, int rounds, Ours ours, Raw raw) {
  std::vector<double> ours_ns;
  std::vector<double> raw_ns;
  ns_of(rounds, ours);
  ns_of(rounds, raw);
  for (auto _ : state) {
    ours_ns.push_back(ns_of(rounds, ours));
    raw_ns.push_back(ns_of(rounds, raw));
    state.SetIterationTime(ours_ns.back() * 1e-9);
  }
  const double mine = median(ours_ns);
  const double theirs = median(raw_ns);
  state.counters["ours_ns"] = mine;
  state.counters["raw_ns"] = theirs;
  state.counters["ratio"] = theirs / mine;
}

// Counting users is cheaper in a process that has never had a second thread: not measured here.
void as_in_a_threaded_process() {
  static const bool once = (std::thread([] {}).join(), true);
  benchmark::DoNotOptimize(once);
}

void touch(std::byte* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; i += page)
    bytes[i] = std::byte{1};
}

template <class T>
bool refused(benchmark::State& state, const halyard::Result<T>& result) {
  if (!result) state.SkipWithError(result.error().message().c_str());
  return !result;
}

// ---- allocation and release ----

void allocate_and_drop(std::size_t size, Memory memory) {
  const auto buffer = halyard::allocate(size, memory);
  benchmark::DoNotOptimize((*buffer)->id());
}

void mem_and_calloc(benchmark::State& state, std::size_t size) {
  in_turns(
      state, 16, [size] { allocate_and_drop(size, Memory::mem); },
      [size] {
        void* block = std::calloc(1, size);
        benchmark::DoNotOptimize(block);
        std::free(block);
      });
}

void mem_and_mmap(benchmark::State& state, std::size_t size) {
  in_turns(
      state, 16, [size] { allocate_and_drop(size, Memory::mem); },
      [size] {
        void* block =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        benchmark::DoNotOptimize(block);
        ::munmap(block, size);
      });
}

// Memory as it is used: each page is written once.
void mem_and_mmap_touched(benchmark::State& state, std::size_t size) {
  in_turns(
      state, 1,
      [size] {
        const auto buffer = *halyard::allocate(size, Memory::mem);
        touch(buffer->map(Access::write)->writable_bytes().data(), size);
      },
      [size] {
        void* block =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        touch(static_cast<std::byte*>(block), size);
        ::munmap(block, size);
      });
}

int raw_memfd(std::size_t size, int seals) {
  const int fd = ::memfd_create("raw", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0) std::abort();
  if (seals != 0) ::fcntl(fd, F_ADD_SEALS, seals);
  return fd;
}

void* map_fd(int fd, std::size_t size) {
  return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

// `alike`: with the mode and the seals of ours, without which no reader is safe from others.
void shm_and_memfd(benchmark::State& state, std::size_t size, bool alike) {
  in_turns(
      state, 16, [size] { allocate_and_drop(size, Memory::shm); },
      [size, alike] {
        const int fd = raw_memfd(size, alike ? F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL : 0);
        if (alike) ::fchmod(fd, 0600);
        void* block = map_fd(fd, size);
        benchmark::DoNotOptimize(block);
        ::munmap(block, size);
        ::close(fd);
      });
}

// The raw calls keep the device open: opening it is part of our time.
int raw_udmabuf(int device, std::size_t size) {
  const std::size_t whole = (size + page - 1) / page * page;
  udmabuf_create request = {};
  request.memfd = static_cast<__u32>(raw_memfd(whole, F_SEAL_SHRINK));
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = whole;
  const int fd = ::ioctl(device, UDMABUF_CREATE, &request);
  ::close(static_cast<int>(request.memfd));
  return fd;
}

int raw_heap(int heap, std::size_t size) {
  dma_heap_allocation_data request = {};
  request.len = size;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  return ::ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &request) == 0 ? static_cast<int>(request.fd) : -1;
}

void dma_and_raw(benchmark::State& state, std::size_t size, std::string heap) {
  halyard::AllocateOptions options;
  options.memory = Memory::dma;
  options.dma_heaps = {heap};
  if (refused(state, halyard::allocate(size, options))) return;
  const bool is_udmabuf = heap == "udmabuf";
  const std::string node = is_udmabuf ? "/dev/udmabuf" : "/dev/dma_heap/" + heap;
  const halyard::Fd device(::open(node.c_str(), O_RDWR | O_CLOEXEC));
  in_turns(
      state, 1, [&] { benchmark::DoNotOptimize((*halyard::allocate(size, options))->id()); },
      [&] {
        ::close(is_udmabuf ? raw_udmabuf(device.get(), size) : raw_heap(device.get(), size));
      });
}

// ---- recycling ----

void recycled_and_memfd(benchmark::State& state, Memory memory, bool touched) {
  as_in_a_threaded_process();
  halyard::Recycler recycler({.shared_kinds = true});
  if (refused(state,
              recycler.create_image(1920, 1080, PixelFormat::rgba, halyard::DType::u8, memory))) {
    return;
  }
  in_turns(
      state, touched ? 1 : 64,
      [&] {
        const auto frame =
            *recycler.create_image(1920, 1080, PixelFormat::rgba, halyard::DType::u8, memory);
        if (touched) touch(frame.map(Access::write)->writable(), hd);
      },
      [&] {
        const int fd = raw_memfd(hd, 0);
        void* block = map_fd(fd, hd);
        if (touched) touch(static_cast<std::byte*>(block), hd);
        benchmark::DoNotOptimize(block);
        ::munmap(block, hd);
        ::close(fd);
      });
}

// The buffer alone, without making an image over it.
void recycled_buffer_and_memfd(benchmark::State& state) {
  as_in_a_threaded_process();
  halyard::Recycler recycler;
  in_turns(
      state, 64, [&] { benchmark::DoNotOptimize((*recycler.allocate(hd))->id()); },
      [] {
        const int fd = raw_memfd(hd, 0);
        void* block = map_fd(fd, hd);
        benchmark::DoNotOptimize(block);
        ::munmap(block, hd);
        ::close(fd);
      });
}

// ---- mapping ----

void map_buffer(benchmark::State& state, Memory memory, Access access) {
  as_in_a_threaded_process();
  const auto buffer = halyard::allocate(page, memory);
  if (refused(state, buffer)) return;
  for (auto _ : state) {
    const auto map = (*buffer)->map(access);
    benchmark::DoNotOptimize(map->bytes().data());
  }
}

void map_tensor(benchmark::State& state, Access access) {
  as_in_a_threaded_process();
  const auto tensor = *Tensor::create(halyard::DType::f32, {32, 32}, Memory::mem);
  for (auto _ : state) {
    const auto map = tensor.map(access);
    benchmark::DoNotOptimize(map->data());
  }
}

void map_nv12(benchmark::State& state, Access access) {
  as_in_a_threaded_process();
  const auto image =
      *Tensor::create_image(64, 64, PixelFormat::nv12, halyard::DType::u8, Memory::mem);
  for (auto _ : state) {
    const auto map = image.map(access);
    benchmark::DoNotOptimize(map->plane(1).data);
  }
}

void sync(int fd, std::uint64_t flags) {
  dma_buf_sync request = {flags};
  ::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request);
}

void map_dma_and_sync(benchmark::State& state, std::string heap, Access access) {
  as_in_a_threaded_process();
  halyard::AllocateOptions options;
  options.memory = Memory::dma;
  options.dma_heaps = {heap};
  const auto buffer = halyard::allocate(hd, options);
  if (refused(state, buffer)) return;
  const std::uint64_t direction = access == Access::read ? DMA_BUF_SYNC_READ : DMA_BUF_SYNC_WRITE;
  const int fd = (*buffer)->fd();
  in_turns(
      state, 64, [&] { benchmark::DoNotOptimize((*buffer)->map(access)->bytes().data()); },
      [&] {
        sync(fd, DMA_BUF_SYNC_START | direction);
        sync(fd, DMA_BUF_SYNC_END | direction);
      });
}

// ---- importing of known objects ----

void import_again(benchmark::State& state) {
  as_in_a_threaded_process();
  halyard::Importer importer;
  const auto shared = halyard::allocate(hd, Memory::shm);
  if (refused(state, shared)) return;
  const auto known = importer.import_buffer((*shared)->fd());
  if (refused(state, known)) return;
  for (auto _ : state) {
    const auto again = importer.import_buffer((*shared)->fd());
    benchmark::DoNotOptimize((*again)->id());
  }
}

struct Image {
  const char* name;
  std::size_t size;
};
constexpr Image images[] = {
    {"720p", std::size_t{1280} * 720 * 4}, {"1080p", hd}, {"2160p", std::size_t{3840} * 2160 * 4}};

template <class... Args>
void add(const std::string& name, void (*run)(benchmark::State&, Args...),
         std::type_identity_t<Args>... args) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run(state, args...); });
}

// A count of turns and no minimum time: the peer may be slower by any factor.
template <class... Args>
void add_paired(const std::string& name, int turns, void (*run)(benchmark::State&, Args...),
                std::type_identity_t<Args>... args) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run(state, args...); })
      ->UseManualTime()
      ->Iterations(turns);
}

constexpr const char* heaps[] = {"udmabuf", "system"};

void add_allocations() {
  for (const auto& [name, size] : images) {
    const std::string at = std::string("/") + name;
    add_paired("memory/mem_beside_calloc" + at, 5, mem_and_calloc, size);
    add_paired("memory/mem_beside_mmap" + at, 5, mem_and_mmap, size);
    add_paired("memory/mem_touched_beside_mmap" + at, 15, mem_and_mmap_touched, size);
    add_paired("memory/shm_beside_memfd" + at, 200, shm_and_memfd, size, false);
    add_paired("memory/shm_beside_sealed_memfd" + at, 200, shm_and_memfd, size, true);
    for (const char* heap : heaps) {
      add_paired(std::string("memory/dma_") + heap + "_beside_ioctl" + at, 30, dma_and_raw, size,
                 heap);
    }
  }
}

void add_recycling() {
  add_paired("memory/recycled_buffer_beside_memfd", 500, recycled_buffer_and_memfd);
  add_paired("memory/recycled_beside_memfd", 500, recycled_and_memfd, Memory::mem, false);
  add_paired("memory/recycled_touched_beside_memfd", 15, recycled_and_memfd, Memory::mem, true);
  add_paired("memory/recycled_shm_beside_memfd", 500, recycled_and_memfd, Memory::shm, false);
  add_paired("memory/recycled_shm_touched_beside_memfd", 15, recycled_and_memfd, Memory::shm, true);
}

void add_maps() {
  for (const Access access : {Access::read, Access::write}) {
    const std::string what = access == Access::read ? "_read" : "_write";
    add("memory/map_heap" + what, map_buffer, Memory::mem, access);
    add("memory/map_shm" + what, map_buffer, Memory::shm, access);
    add("memory/map_tensor" + what, map_tensor, access);
    add("memory/map_nv12" + what, map_nv12, access);
    for (const char* heap : heaps) {
      add_paired(std::string("memory/map_dma_") + heap + what + "_beside_ioctl", 1000,
                 map_dma_and_sync, heap, access);
    }
  }
}

const bool registered = [] {
  add_allocations();
  add_recycling();
  add_maps();
  add("memory/import_again", import_again);
  return true;
}();

}  // namespace
