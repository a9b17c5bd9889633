// SPDX-License-Identifier: Apache-2.0
// Calls functions of Python on a pipeline's threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/item.h"

namespace halyard::python {

/// The functions of one pipeline and the results that they share. Its Python objects are used with
/// the interpreter's lock; close() drops them, so that any thread may destroy it.
class PythonStages {
 public:
  /// A thread that waits for a frame and calls result_of(). Made and destroyed with the lock, which
  /// its thread may release between: close() drops nothing before the last one has ended.
  class Taking {
   public:
    explicit Taking(PythonStages& stages) : stages_(stages) { ++stages_.takings_; }
    ~Taking() {
      --stages_.takings_;
      if (stages_.is_closed_) stages_.drop();
    }
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;

   private:
    PythonStages& stages_;
  };

  /// `make`: makes a PipelineResult from a _PipelineItem. `on_error`: None or a function.
  PythonStages(std::shared_ptr<const PipelineFacts> facts, nb::object make, nb::object on_error);
  /// Returns the number by which run() and name() know it.
  std::size_t add(std::string name, nb::object function);
  /// A name that lives as long as this.
  const char* name(std::size_t stage) const { return names_[stage]->c_str(); }
  /// After the last add(): `lanes` of the pipeline.
  void prepare(std::size_t lanes) { slots_.resize(lanes); }

  /// Without the interpreter's lock.
  Status run(std::size_t stage, PipelineFrame& frame);
  void report(std::string_view what, const Error& error);
  bool reports() const { return has_on_error_; }

  /// The PipelineResult of a frame that has left the pipeline. With the lock, in a Taking.
  nb::object result_of(Pipeline::Taken taken);
  /// With the lock, when the pipeline calls no more stages.
  void close();

 private:
  struct Slot {
    nb::object result, item;
  };
  void ensure(Slot& slot) const;
  Status call(std::size_t stage, Slot& slot) const;
  void drop();

  std::shared_ptr<const PipelineFacts> facts_;
  nb::object make_, on_error_;
  bool has_on_error_;
  bool is_closed_ = false;
  std::size_t takings_ = 0;
  std::vector<std::unique_ptr<std::string>> names_;
  std::vector<nb::object> functions_;
  std::vector<Slot> slots_;  ///< by lane: the results of frames that stages have seen
};

}  // namespace halyard::python
