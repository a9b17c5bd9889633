// SPDX-License-Identifier: Apache-2.0
// Hands the frames of a Python iterator to the pipeline's thread, one by one.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "halyard/pipeline.h"

namespace halyard::python {

/// A Python thread puts, the pipeline's thread takes. The iterator runs on a thread of Python, so
/// the pipeline can end while the iterator waits. No function uses Python objects.
class Feed {
 public:
  using Item = Result<std::optional<Frame>>;
  /// Waits until there is room. False: nobody takes frames any more.
  bool put(Item item);
  Item take();
  /// Ends both waits, for ever.
  void cancel() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Item> item_;
  bool is_cancelled_ = false;
};

/// Python's _PipelineFeed.
struct PyFeed {
  std::shared_ptr<Feed> feed = std::make_shared<Feed>();
};

PipelineSource feed_source(const PyFeed& feed, std::string name);

}  // namespace halyard::python
