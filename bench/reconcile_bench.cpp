// SPDX-License-Identifier: Apache-2.0
// reconcile(): 8 parties with 40 keys each and 16 layouts that all accept, with and without
// conflicts; and locks of the resulting buffers.
#include <benchmark/benchmark.h>

#include <shared_mutex>
#include <string>
#include <vector>

#include "halyard/buffer_exchange.h"
#include "halyard/import.h"
#include "halyard/negotiated_buffer.h"

namespace {

using namespace halyard;

void must(const Status& status) {
  if (!status) std::abort();
}

/// 40 values, some in arrays; `layouts` blocks of channels, each with a key of its own.
AttributeList party(int number, int layouts) {
  AttributeList list("party" + std::to_string(number));
  const auto n = static_cast<std::uint64_t>(number);
  const std::pair<Key, std::uint64_t> numbers[] = {
      {Key::kind, 4},          {Key::cpu, 1},
      {Key::policy, n % 4},    {Key::domains, 15},
      {Key::perm, n % 2},      {Key::heaps, 7},
      {Key::contig, 0},        {Key::addr_bits, 64},
      {Key::is_protected, 0},  {Key::base_align, 64},
      {Key::size_min, 1},      {Key::size_max, 1 << 30},
      {Key::size_align, 64},   {Key::tail_slack, 64},
      {Key::camp, 1},          {Key::slack, 0},
      {Key::shared_slack, 1},  {Key::count_min, 1},
      {Key::count_max, 64},    {Key::attach, 1},
      {Key::addr_pinned, 0},   {Key::exported, 0},
      {Key::pad_fill, 0},      {Key::pad_clobber, 0},
      {Key::cpad, 1},          {Key::row_align, std::uint64_t{16} << (n % 3)},
      {Key::surf_align, 64},   {Key::batch_align, 64},
      {Key::rows_mult, 2},     {Key::row_min, 1},
      {Key::row_max, 1 << 20}, {Key::px_integral, 0},
      {Key::offset_align, 1},  {Key::dtype, 1}};
  for (const auto& [key, value] : numbers)
    must(list.set(key, value));
  must(list.set_shape({1, 48, 224, 224}));
  must(list.set(Key::max_axis, {8192, 0}, 0, {}));
  must(list.set(Key::max_axis, {8192, 0}, 1, {}));
  for (int k = 0; k < layouts; ++k) {
    AttributeList own("own");
    must(own.set(Key::surf_align, 32));
    must(list.accept(LayoutTag::tensor(AxisOrder::nc_hwx, static_cast<std::uint32_t>(k + 1)),
                     static_cast<std::uint32_t>(k % 3), own));
  }
  return list;
}

void reconcile_parties(benchmark::State& state) {
  std::vector<AttributeList> lists;
  for (int k = 0; k < state.range(0); ++k)
    lists.push_back(party(k, static_cast<int>(state.range(1))));
  for (auto _ : state) {
    auto result = reconcile(lists);
    if (!result) state.SkipWithError(result.error().message().c_str());
    benchmark::DoNotOptimize(result);
  }
}

void report_conflict(benchmark::State& state) {
  std::vector<AttributeList> lists;
  for (int k = 0; k < state.range(0); ++k)
    lists.push_back(party(k, static_cast<int>(state.range(1))));
  lists.emplace_back("camera");
  must(lists.back().set(Key::row_exact, 999));
  for (auto _ : state) {
    Conflict conflict;
    if (reconcile(lists, {}, &conflict)) state.SkipWithError("they agree");
    benchmark::DoNotOptimize(conflict);
  }
}

NegotiatedBuffer buffer_in(Heap heap) {
  AttributeList list("app");
  must(list.set_dtype(DType::u8));
  must(list.set_shape({1, 1, 64, 64}));
  must(list.set_cpu(CpuAccess::read_write));
  must(list.set_heaps({heap}));
  const auto result = reconcile(std::span(&list, 1));
  if (!result) std::abort();
  auto buffers = allocate_negotiated(*result);
  if (!buffers) std::abort();
  return buffers->front();
}

void lock_buffer(benchmark::State& state, Heap heap, Access access) {
  NegotiatedBuffer buffer = buffer_in(heap);
  for (auto _ : state) {
    auto lock = buffer.lock(access);
    benchmark::DoNotOptimize(lock->bytes().data());
    if (!lock->unlock()) state.SkipWithError("it was not locked");
  }
}

/// Parties as party() makes them, one of them in another process, over shared memory.
std::vector<AttributeList> exported_parties(int count) {
  std::vector<AttributeList> lists;
  for (int k = 0; k < count; ++k)
    lists.push_back(party(k, 1));
  lists.emplace_back("app");
  must(lists.back().set(Key::exported, 1));
  return lists;
}

/// A camera, a program, an engine and a viewer in another process, as in real programs.
std::vector<AttributeList> camera_parties() {
  std::vector<AttributeList> lists{AttributeList("viewer"), AttributeList("app"),
                                   AttributeList("camera"), AttributeList("blitter")};
  must(lists[0].set_cpu(CpuAccess::read));
  must(lists[1].set_image(1920, 1080));
  must(lists[1].accept(LayoutTag::image(PixelFormat::nv12)));
  must(lists[1].set_cpu(CpuAccess::read_write));
  must(lists[1].set(Key::exported, 1));
  must(lists[2].set(Key::pitch_exact, 1920));
  must(lists[2].set(Key::camp, 4));
  must(lists[2].set(Key::pad_clobber, 1));
  must(lists[3].set(Key::pitch_align, 64));
  must(lists[3].set(Key::base_align, 64));
  must(lists[3].set(Key::height_mult, 2));
  return lists;
}

std::vector<AttributeList> eight_parties() {
  return exported_parties(8);
}

struct Exported {
  explicit Exported(std::vector<AttributeList> parties) : lists(std::move(parties)) {}
  std::vector<AttributeList> lists;
  Reconciled result = *reconcile(lists);
  NegotiatedBuffer buffer = (*allocate_negotiated(result))[0];
  ExportedBuffer exported = *export_buffer(buffer, lists.front().party());
  const AttributeList* own = lists.data();
};

/// All work of an importer, including the mapping.
void import_exported(benchmark::State& state, std::vector<AttributeList> (*parties)()) {
  const Exported all(parties());
  const int fd = all.exported.fd.get();
  for (auto _ : state) {
    auto imported = import_buffer(all.exported.blob, std::span(&fd, 1), std::span(&all.own, 1));
    if (!imported) state.SkipWithError(imported.error().message().c_str());
    benchmark::DoNotOptimize(imported);
  }
  state.counters["blob_bytes"] = double(all.exported.blob.size());
}

/// The kernel's part of it: duplicates a descriptor, maps and unmaps memory.
void map_alone(benchmark::State& state) {
  const Exported all(eight_parties());
  for (auto _ : state) {
    auto buffer = Importer::shared().import_buffer(all.exported.fd.get(),
                                                   {.require_sealed = true, .read_only = true});
    if (!buffer) state.SkipWithError(buffer.error().message().c_str());
    benchmark::DoNotOptimize(buffer);
  }
}

void export_one(benchmark::State& state) {
  const Exported all(eight_parties());
  for (auto _ : state) {
    auto exported = export_buffer(all.buffer, "party0");
    if (!exported) state.SkipWithError(exported.error().message().c_str());
    benchmark::DoNotOptimize(exported);
  }
}

void validate_one(benchmark::State& state) {
  const Exported all(eight_parties());
  for (auto _ : state) {
    auto status = validate(all.result, Heap::memfd, std::span(&all.own, 1));
    if (!status) state.SkipWithError(status.error().message().c_str());
    benchmark::DoNotOptimize(status);
  }
}

/// The cost of a lock without threads, engines and timeouts.
void lock_shared_mutex(benchmark::State& state) {
  std::shared_mutex mutex;
  for (auto _ : state) {
    mutex.lock();
    benchmark::DoNotOptimize(&mutex);
    mutex.unlock();
  }
}

}  // namespace

BENCHMARK_CAPTURE(lock_buffer, heap_write, Heap::heap, Access::write)
    ->Name("negotiated/lock_heap_write");
BENCHMARK_CAPTURE(lock_buffer, heap_read, Heap::heap, Access::read)
    ->Name("negotiated/lock_heap_read");
BENCHMARK_CAPTURE(lock_buffer, memfd_write, Heap::memfd, Access::write)
    ->Name("negotiated/lock_memfd_write");
BENCHMARK_CAPTURE(lock_buffer, memfd_read, Heap::memfd, Access::read)
    ->Name("negotiated/lock_memfd_read");
BENCHMARK_CAPTURE(import_exported, eight, eight_parties)
    ->Name("negotiated/import")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(import_exported, camera, camera_parties)
    ->Name("negotiated/import_camera")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(map_alone)->Name("negotiated/import_map_alone")->Unit(benchmark::kMicrosecond);
BENCHMARK(export_one)->Name("negotiated/export")->Unit(benchmark::kMicrosecond);
BENCHMARK(validate_one)->Name("negotiated/validate")->Unit(benchmark::kMicrosecond);
BENCHMARK(lock_shared_mutex)->Name("negotiated/std_shared_mutex");
BENCHMARK(reconcile_parties)
    ->Name("reconcile/parties")
    ->Args({2, 1})
    ->Args({8, 1})
    ->Args({8, 16})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(report_conflict)
    ->Name("reconcile/conflict")
    ->Args({2, 1})
    ->Args({8, 1})
    ->Unit(benchmark::kMicrosecond);
