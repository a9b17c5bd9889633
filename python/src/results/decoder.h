// SPDX-License-Identifier: Apache-2.0
// The decoder and ProtoData, for other files of the extension.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fork_mutex.h"
#include "halyard/compat/decode.h"
#include "halyard/description.h"

namespace halyard::python {

/// Python's Decoder. Decodes share `settings`, setters own it; both wait without the interpreter's
/// lock. `spare` is used only with that lock held.
struct PyDecoder {
  explicit PyDecoder(compat::Decoder made) : value(std::move(made)) {}
  compat::Decoder value;
  mutable PySharedMutex settings;
  std::vector<std::unique_ptr<compat::Found>> spare;
  nb::object names;  ///< a tuple for all results, or None; null before the first decode
};

/// The class of programs of EdgeFirst HAL: Convention::reference.
struct PyReferenceDecoder : PyDecoder {
  using PyDecoder::PyDecoder;
};

using DecoderClass = nb::class_<PyDecoder>;
using ReferenceDecoderClass = nb::class_<PyReferenceDecoder, PyDecoder>;
/// The calls that decode, for both classes.
void add_decoding(DecoderClass& type);
void add_decoding(ReferenceDecoderClass& type);
/// Decoder.for_model and explain (describe.cpp).
void add_for_model(DecoderClass& type);

/// The names of the classes; empty where the description has none.
nb::list labels_of(const PyDecoder& decoder);

/// The element of the batch that a call with one result decodes: `batch`; for None only_element,
/// which the decoder refuses where the outputs hold several.
std::size_t batch_element(const PyDecoder& decoder, std::span<const Tensor> outputs,
                          nb::handle batch);

/// Python's ProtoData: taking a part and reading it wait for each other.
struct PyProtoData {
  PyProtoData(compat::ProtoData made, bool of_reference)
      : value(std::move(made)), is_reference(of_reference) {}
  compat::ProtoData value;
  const bool is_reference;  ///< of halyard.edgefirst's Decoder
  PyMutex mutex;
};

/// A list of new uint8 arrays [height, width, channels], one for each mask.
nb::list mask_list(std::span<const compat::Segmentation> masks);

/// What a decode gives beside its boxes.
struct DecodeFacts {
  std::optional<bool> is_normalized;  ///< boxes are fractions; false: pixels
  std::optional<Size> input;          ///< of the network
  bool has_instances = false;         ///< masks, one for each box
  nb::object names = nb::none();      ///< of the classes: a tuple
};
/// A new halyard.Detections.
nb::object detections_result(const compat::Found& found, const DecodeFacts& facts);
bool has_instances(const ModelDescription& description);

/// A new Python object of the bound class T, made in its place.
template <class T, class... Args>
nb::object make_instance(Args&&... args) {
  nb::object made = nb::inst_alloc(nb::type<T>());
  new (nb::inst_ptr<T>(made)) T(std::forward<Args>(args)...);
  nb::inst_mark_ready(made);
  return made;
}

}  // namespace halyard::python
