// SPDX-License-Identifier: Apache-2.0
// reconcile(): 8 parties with 40 keys each and 16 layouts that all accept; what agrees and what
// does not.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "halyard/reconcile.h"

namespace {

using namespace halyard;

void must(const Status& status) {
  if (!status) std::abort();
}

/// 40 values, among them those of arrays; `layouts` blocks of channels, each with a key of its own.
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

}  // namespace

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
