// SPDX-License-Identifier: Apache-2.0
// The texts of conflicts: one entry for each check that can fail.
#include "reconcile/merge/describe.h"
#include "base/text/format_error.h"
#include "reconcile/merge/conflict.h"

namespace halyard {

namespace {

void describe_contradiction(const Failure& failure, ConflictItem& item) {
  const SlotKey key = key_of(failure.slot);
  switch (key.info->rule) {
    case MergeRule::equal:
      item.rule = "all parties that set it must set the same";
      item.hint = "let one of them take the other's value, or convert between two buffers";
      return;
    case MergeRule::range:
      item.rule = "the value must lie in every party's range";
      item.hint = "ask for less, or scale between two buffers";
      return;
    case MergeRule::intersect:
      item.rule = "there must be one that all parties accept";
      item.hint = "let one of them accept one more, or copy between two buffers";
      return;
    case MergeRule::order:
      item.rule = "a strict policy allows no stronger one";
      item.hint = "let the policy be not strict, or no party ask for a stronger one";
      return;
    case MergeRule::pad:
      item.rule = "padding can hold one value only";
      item.hint = "let one of the readers skip padding";
      return;
    default:
      item.rule = "the least common multiple must be at most 2^31";
      item.hint = "let one of them ask for a power of two";
      return;
  }
}

std::string exact_hint(const Failure& failure) {
  if (failure.needed != 0)
    return fmt::format("let the producer use a stride of {} bytes and crop, or copy for a party",
                       failure.needed);
  if (failure.below != 0)
    return fmt::format("let the producer use a stride of {} bytes, or copy for a party",
                       failure.below);
  return "copy for a party: no stride is legal for all";
}

void describe_stride(const Failure& failure, ConflictItem& item) {
  if (failure.check == Check::row_exact) {
    item.rule = "an exact stride must be a multiple of every alignment";
    item.computed =
        fmt::format("{} mod {} = {}", failure.value, failure.limit, failure.value % failure.limit);
    for (const std::uint64_t legal : {failure.below, failure.needed})
      if (legal != 0) item.nearest.push_back(legal);
    item.hint = exact_hint(failure);
  } else if (failure.check == Check::row_min) {
    item.rule = "an exact stride must hold the row";
    item.computed = fmt::format("{} < {}", failure.value, failure.limit);
    item.nearest = {failure.needed};
    item.hint = fmt::format("let the producer use a stride of {} bytes", failure.needed);
  } else {
    item.rule = "the least legal stride must not exceed the largest one that is allowed";
    item.computed = fmt::format("least stride {} (a multiple of {}) > {}", failure.value,
                                failure.needed, failure.limit);
    item.nearest = {failure.value};
    item.hint = "use a narrower image, or let one party copy";
  }
}

void describe_extent(const Failure& failure, const Candidate& candidate, ConflictItem& item) {
  switch (failure.check) {
    case Check::required:
      item.rule = "what is required must lie in what is allowed";
      item.computed = fmt::format("required {}, allowed {} {}", failure.value,
                                  failure.value > failure.limit ? "<=" : ">=", failure.limit);
      item.nearest = {failure.limit};
      item.hint = "require less, or allow more";
      return;
    case Check::image_tensor:
      item.rule = "the tensor must be arranged as the image is";
      item.computed =
          fmt::format("{} is {}", to_string(candidate.image),
                      failure.limit == static_cast<unsigned>(AxisOrder::nhwc) ? "NHWC" : "NCHW");
      item.hint = "use the other layout, or a planar format, or convert between two buffers";
      return;
    case Check::image_shape:
      item.rule = "the tensor must have the extents of one of the image's planes, and N = 1";
      item.computed = fmt::format("{} is not {}", failure.value, failure.limit);
      item.nearest = {failure.limit};
      item.hint = "let the tensor have the image's height, width and channels";
      return;
    case Check::max_axis:
      item.rule = "no axis may be longer than an engine takes";
      item.computed = fmt::format("{} > {}", failure.value, failure.limit);
      item.nearest = {failure.limit};
      item.hint = "split the work into tiles";
      return;
    case Check::size_max:
      item.rule = "the buffer must not be larger than a party accepts";
      item.computed = fmt::format("needs {} bytes, at most {}", failure.value, failure.limit);
      item.nearest = {failure.limit};
      item.hint = "split the batch, or use a smaller type";
      return;
    default:
      item.rule = "sizes must stay below 2^63, alignments at most 2^31";
      item.hint = "look for a wrong extent or alignment";
      return;
  }
}

void describe_count(const Failure& failure, ConflictItem& item) {
  if (failure.check == Check::count_max) {
    item.rule = "there must be buffers for all that hold some at a time";
    item.computed = fmt::format("needs {}, at most {}", failure.value, failure.limit);
    item.nearest = {failure.limit};
    item.hint = "let a party hold fewer, or copy for one";
  } else {
    item.rule = "an engine that keeps one address works with one buffer";
    item.computed = fmt::format("needs {}", failure.value);
    item.nearest = {1};
    item.hint = "copy into the engine's buffer, or let it set g.count_max for a ring of buffers";
  }
}

void describe_memory(const Failure& failure, ConflictItem& item) {
  switch (failure.check) {
    case Check::kinds:
      item.rule = "arrays and pyramids have a buffer of their own";
      item.hint = "use two buffers";
      return;
    case Check::unmapped:
      item.rule = "a strictly unmapped buffer is not for the CPU";
      item.hint = "let no party ask for g.cpu, or let the policy not be strict";
      return;
    case Check::is_protected:
      item.rule = "protected content is not for the CPU";
      item.hint = "let no party ask for g.cpu";
      return;
    case Check::padding:
      item.rule = "nobody may write into padding that somebody reads";
      item.hint = "use a stride without padding, or copy";
      return;
    case Check::modifier:
      item.rule = "the CPU reads linear images only";
      item.hint = "accept a linear format, or let no party ask for g.cpu";
      return;
    case Check::anchor:
      item.rule = "memory that an engine takes by address only must not be cached by a CPU";
      item.hint = "accept dmabuf.uncached, or run where a render node can hold the buffer";
      return;
    default:
      item.rule = "there must be memory that serves all parties";
      item.hint = "let one of them accept another heap, or copy between two buffers";
      return;
  }
}

}  // namespace

void describe_failure(const Failure& failure, const Candidate& candidate, ConflictItem& item) {
  switch (failure.check) {
    case Check::merged:
      return describe_contradiction(failure, item);
    case Check::row_exact:
    case Check::row_min:
    case Check::row_max:
      return describe_stride(failure, item);
    case Check::required:
    case Check::image_tensor:
    case Check::image_shape:
    case Check::max_axis:
    case Check::overflow:
    case Check::size_max:
      return describe_extent(failure, candidate, item);
    case Check::count_max:
    case Check::pinned:
      return describe_count(failure, item);
    default:
      return describe_memory(failure, item);
  }
}

}  // namespace halyard
