// SPDX-License-Identifier: Apache-2.0
// Construction of Python's tensors. The two classes, halyard.Tensor and halyard.edgefirst.Tensor,
// differ only in how they report sizes and how they are reshaped.
#include "tensor/tensor.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "args.h"
#include "enums.h"
#include "halyard/import.h"
#include "tensor/tensor_class.h"
#include "values.h"
#include "words.h"

namespace halyard::python {
namespace {

constexpr const char* native_doc =
    "Elements in memory that devices share, possibly an image.\n\n"
    "shape, dtype, size, nbytes, ndim, strides and reshape are NumPy's; an image also has a\n"
    "format, width, height, row stride and colorimetry. View a tensor as a NumPy array without a\n"
    "copy by ``numpy.asarray(t)`` or ``t.numpy()``, or hand it to others by DLPack; both see "
    "padded\n"
    "rows as strides. Parts (``view``, ``batch``, ``t[n]``, ``reshape``) share the bytes.\n\n"
    "Args:\n"
    "    shape: extents, outermost first, 1 to 8 of them.\n"
    "    dtype: element type: anything that ``numpy.dtype`` takes, or \"bfloat16\".\n"
    "    mem: kind of memory; None: DMA-BUF where it can be had, else the heap.\n"
    "    name: for messages; None: one is made up.\n\n"
    "All bytes start as 0. Raises RuntimeError (halyard.Error) if the shape is empty or the\n"
    "memory cannot be allocated. A Tensor may be used by several threads; the program orders\n"
    "writes to the same bytes.";
constexpr const char* reference_doc =
    "halyard.Tensor as in EdgeFirst HAL: ``shape`` is a list, ``dtype`` a str, ``size`` a "
    "count\n"
    "of bytes, ``reshape`` changes the tensor in place. Every call takes either class.\n\n"
    "Args:\n"
    "    shape: extents, outermost first, 1 to 8 of them.\n"
    "    dtype: element type: a name, or anything that ``numpy.dtype`` takes.\n"
    "    mem: kind of memory; None: DMA-BUF where it can be had, else the heap.\n"
    "    name: for messages; None: one is made up.\n\n"
    "All bytes start as 0. Raises RuntimeError when the shape is empty or the memory is not to be\n"
    "had.";

// The first kind of memory, DMA or heap, in which `make` succeeds.
template <class F>
Tensor in_best_memory(nb::handle memory, F&& make) {
  if (!memory.is_none()) return take(make(enum_from<Memory>(memory, "mem")));
  // Two threads may both probe at first, and find the same.
  static std::atomic<signed char> has_dma{-1};
  if (has_dma < 0) has_dma = memory_available(Memory::dma).has_value() ? 1 : 0;
  // automatic would prefer shared memory to the heap; it is used only to see if heap is forced.
  if (has_dma > 0) {
    Result<Tensor> made = make(Memory::automatic);
    if (made && made->memory() != Memory::shm) return *std::move(made);
  }
  return take(make(Memory::mem));
}

Tensor make_tensor(nb::handle shape, nb::handle dtype, nb::handle memory, nb::handle name) {
  const Shape extents = shape_from(shape, "shape");
  const DType type = dtype_from(dtype, "dtype");
  if (extents.rank > 0 && Layout::contiguous(type, extents.dims()))
    for (const std::size_t extent : extents.dims())
      if (extent == 0) raise(Errc::invalid_argument, "shape: must not hold 0");
  Tensor made = in_best_memory(
      memory, [&](Memory kind) { return Tensor::create(type, extents.dims(), kind); });
  if (!name.is_none()) made.set_name(text_from(name, "name"));
  return made;
}

CpuAccess access_from(nb::handle object) {
  constexpr Word<CpuAccess> words[] = {{"none", CpuAccess::none},
                                       {"read", CpuAccess::read},
                                       {"write", CpuAccess::write},
                                       {"readwrite", CpuAccess::read_write}};
  return word_from(object, "access", "access", words);
}

Compression compression_from(nb::handle object) {
  if (object.is_none()) return Compression::none;
  // Without "none", for which callers pass None.
  const std::span<const Word<Compression>> words = enumerators<Compression>;
  return word_from(object, "compression", "compression", words.subspan(1));
}

template <class Kind>
nb::object image(nb::handle width, nb::handle height, nb::handle format, nb::handle mem,
                 nb::handle access, nb::handle dtype) {
  return tensor_result<Kind>(make_image({size_from(width, "width"), size_from(height, "height"),
                                         enum_from<PixelFormat>(format, "format"),
                                         dtype_from(dtype, "dtype"), mem, access, nb::none()}));
}

template <class Kind>
void add_making(nb::class_<Kind, PyTensor>& cls) {
  cls.def(
         "__init__",
         [](Kind* self, nb::handle shape, nb::handle dtype, nb::handle mem, nb::handle name) {
           new (self) Kind{{make_tensor(shape, dtype, mem, name)}};
         },
         nb::arg("shape"), nb::arg("dtype") = "float32", nb::arg("mem") = nb::none(),
         nb::arg("name") = nb::none(),
         nb::sig("def __init__(self, shape: Sequence[int] | int, dtype: DTypeLike = 'float32', "
                 "mem: TensorMemoryLike | None = None, name: str | None = None) -> None"))
      .def_static(
          "image", &image<Kind>, nb::arg("width"), nb::arg("height"), nb::arg("format"),
          nb::arg("mem") = nb::none(), nb::arg("access") = "none", nb::arg("dtype") = "uint8",
          nb::sig("def image(width: int, height: int, format: PixelFormatLike, mem: "
                  "TensorMemoryLike | None = None, access: Literal['none', 'read', 'write', "
                  "'readwrite'] = 'none', dtype: DTypeLike = 'uint8') -> Tensor"),
          "An image of zeros. Shape: packed [H,W,C], planar [C,H,W], NV12 [H+ceil(H/2),W], NV16\n"
          "[2H,W], NV24 [3H,W]; odd sizes are legal. `access` tells what the CPU does with\n"
          "device memory: none, read, write or readwrite. It is a hint: all access works.");
}

template <class Kind>
void bind_kind(nb::module_& m, const char* name, const char* doc) {
  nb::class_<Kind, PyTensor> cls(m, name, nb::type_slots(tensor_slots()),
                                 nb::is_weak_referenceable(), doc);
  add_making(cls);
  add_sizes(cls);
  add_parts(cls);
  add_imports(cls);
  add_shared(cls);
  add_loading(cls);
}

}  // namespace

Tensor make_image(const ImageArgs& args) {
  ImageOptions options;
  options.dtype = args.dtype;
  options.compression = compression_from(args.compression);
  const CpuAccess access = access_from(args.access);
  if (options.compression != Compression::none && access != CpuAccess::none)
    raise(Errc::invalid_argument,
          "compression: needs access \"none\" (" + text_of(args.access) + ")");
  if (args.memory.is_none() && args.preferred == Memory::pbo) {
    options.memory = Memory::pbo;
    if (auto made = Tensor::create_image(args.width, args.height, args.format, options))
      return *std::move(made);
  }
  return in_best_memory(args.memory, [&](Memory kind) {
    options.memory = kind;
    // The access controls caches of device memory; heap and shared memory have no such caches.
    const bool is_device = kind == Memory::dma || kind == Memory::automatic;
    options.cpu_access =
        is_device || options.compression != Compression::none ? access : CpuAccess::read_write;
    return Tensor::create_image(args.width, args.height, args.format, options);
  });
}

PyTensor* try_tensor_object(nb::handle object) noexcept {
  PyTensor* tensor = nullptr;
  return nb::try_cast(object, tensor) ? tensor : nullptr;
}

PyTensor& tensor_object(nb::handle object, const char* argument) {
  PyTensor* tensor = try_tensor_object(object);
  if (tensor == nullptr) raise_wrong_type(argument, "a Tensor", object);
  return *tensor;
}

void bind_tensor(nb::module_& m) {
  TensorClass cls(m, "_Tensor", nb::type_slots(tensor_slots()), nb::is_weak_referenceable(),
                  "The base of halyard.Tensor and halyard.edgefirst.Tensor.");
  add_properties(cls);
  add_quantization(cls);
  add_formats(cls);
  add_mapping(cls);
  add_cuda_map(cls);
  add_exchange(cls);
  add_descriptors(cls);
  add_codec(cls);
  add_copies(cls);
  add_normalize(cls);
  bind_kind<PyNativeTensor>(m, "Tensor", native_doc);
  bind_kind<PyReferenceTensor>(m, "_ReferenceTensor", reference_doc);
}

}  // namespace halyard::python
