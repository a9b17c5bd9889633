// SPDX-License-Identifier: Apache-2.0
// Several runs of a network at once: while the engine works on one image, the next is prepared.
// Usage: runs_in_flight MODEL IMAGE COUNT
#include <halyard/halyard.h>

#include <cstdio>
#include <cstdlib>
#include <deque>

using namespace halyard;

struct Numbers {
  std::size_t runs = 0;
  std::size_t objects = 0;
  double engine_ms = 0;
};

static Status finish(InferenceRequest& run, const Decoder& decoder, Numbers& numbers) {
  HALYARD_TRY(const auto outputs, run.wait());
  HALYARD_TRY(const auto found, decoder.decode(outputs));
  ++numbers.runs;
  numbers.objects += found.size();
  numbers.engine_ms += std::chrono::duration<double, std::milli>(run.times().run).count();
  return {};
}

static Result<Numbers> see_many(Engine& engine, const Decoder& decoder, const Tensor& image,
                                std::size_t count) {
  HALYARD_TRY(auto processor, Processor::create());
  // As many inputs as runs may be in flight: an input is free when its run has ended.
  constexpr std::size_t most = 3;
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < most; ++i) {
    HALYARD_TRY(auto made, engine.make_inputs());
    inputs.push_back(made[0]);
  }
  Numbers numbers;
  std::deque<InferenceRequest> flying;
  for (std::size_t i = 0; i < count; ++i) {
    if (flying.size() == most) {
      HALYARD_RETURN_IF_ERROR(finish(flying.front(), decoder, numbers));
      flying.pop_front();
    }
    const Tensor& input = inputs[i % most];
    HALYARD_RETURN_IF_ERROR(processor.convert({.src = image, .dst = input, .fit = Fit::letterbox}));
    HALYARD_TRY(auto run, engine.submit({&input, 1}));
    flying.push_back(std::move(run));
  }
  for (InferenceRequest& run : flying)
    HALYARD_RETURN_IF_ERROR(finish(run, decoder, numbers));
  return numbers;
}

static Status see(const char* model, const char* file, std::size_t count) {
  HALYARD_TRY(auto engine, Engine::open(model, {.requests = 4}));
  HALYARD_TRY(const auto decoder, decoder_for(engine));
  HALYARD_TRY(const auto image, load_image(file));
  HALYARD_RETURN_IF_ERROR(engine.warm_up());
  HALYARD_TRY(const auto numbers, see_many(engine, decoder, image, count));
  std::printf("%s: %zu runs, %zu objects, %.1f ms each\n", engine.runtime().c_str(), numbers.runs,
              numbers.objects, numbers.engine_ms / double(numbers.runs));
  return {};
}

int main(int argc, char** argv) {
  const int count = argc == 4 ? std::atoi(argv[3]) : 0;
  if (count < 1) return std::fprintf(stderr, "usage: runs_in_flight MODEL IMAGE COUNT\n"), 2;
  if (auto done = see(argv[1], argv[2], std::size_t(count)); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
