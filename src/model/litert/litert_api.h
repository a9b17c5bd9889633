// SPDX-License-Identifier: Apache-2.0
// The C interface of LiteRT 2.1.4 as far as Halyard calls it, declared from its documentation. This
// interface changes between versions: only the library of that version is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halyard/result.h"

namespace halyard::model::litert {

inline constexpr char known_version[] = "2.1.4";

// Objects of the library.
struct Environment;
struct LiteModel;
struct Signature;
struct LiteTensor;
struct CompileOptions;
struct CompiledModel;
struct TensorBuffer;

/// LiteRtLayout and LiteRtRankedTensorType.
struct RankedType {
  int element_type;
  std::uint8_t rank_and_strides;  ///< rank in the lower 7 bits
  std::int32_t extents[8];        ///< below 0: open
  std::uint32_t strides[8];
};
static_assert(sizeof(RankedType) == 72 && offsetof(RankedType, extents) == 8);

struct PerTensorQuantization {
  float scale;
  std::int64_t zero_point;
};

/// LiteRtStatus, as far as it matters.
inline constexpr int litert_ok = 0;
inline constexpr int litert_cancelled = 100;
inline constexpr int quantized_per_tensor = 1;  ///< LiteRtQuantizationTypeId
inline constexpr int on_cpu = 1;                ///< LiteRtHwAccelerators
/// Host memory of buffers begins at multiples of this.
inline constexpr std::size_t buffer_alignment_bytes = 64;

struct LiteRt {
  int (*create_environment)(int count, const void* options, Environment**);
  int (*create_model)(const char* path, LiteModel**);
  void (*destroy_model)(LiteModel*);
  int (*signature)(LiteModel*, std::size_t index, Signature**);
  int (*input_count)(Signature*, std::size_t*);
  int (*output_count)(Signature*, std::size_t*);
  int (*input)(Signature*, std::size_t index, LiteTensor**);
  int (*output)(Signature*, std::size_t index, LiteTensor**);
  int (*tensor_name)(LiteTensor*, const char**);
  int (*ranked_type)(LiteTensor*, RankedType*);
  int (*quantization_kind)(LiteTensor*, int*);
  int (*quantization)(LiteTensor*, PerTensorQuantization*);
  int (*create_options)(CompileOptions**);
  void (*destroy_options)(CompileOptions*);
  int (*set_accelerators)(CompileOptions*, int set);
  int (*compile)(Environment*, LiteModel*, CompileOptions*, CompiledModel**);
  void (*destroy_compiled)(CompiledModel*);
  int (*set_cancellation)(CompiledModel*, void* self, bool (*is_cancelled)(void*));
  int (*run)(CompiledModel*, std::size_t signature, std::size_t input_count, TensorBuffer** inputs,
             std::size_t output_count, TensorBuffer** outputs);
  int (*wrap_memory)(const RankedType*, void* data, std::size_t size_bytes, void (*release)(void*),
                     TensorBuffer**);
  void (*destroy_buffer)(TensorBuffer*);

  Environment* environment;
};

/// Calls after the first success return the same library. Thread-safe. Errors: invalid_argument
/// (the variable), unsupported (missing: names the package), version (another than 2.1.4), device.
Result<const LiteRt*> load_litert_library();

}  // namespace halyard::model::litert
