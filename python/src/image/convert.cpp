// SPDX-License-Identifier: Apache-2.0
// ImageProcessor.convert() and its parameters.
#include <nanobind/stl/string.h>

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "args.h"
#include "enums.h"
#include "image/processor.h"
#include "tensor/tensor_class.h"
#include "values.h"
#include "words.h"

namespace halyard::python {
namespace {

// The arguments of convert() after source and destination, as passed; null: not given.
struct Options {
  nb::handle rotation, flip, source, letterbox;
  nb::handle src_crop, dst_crop, dst_color;
  nb::handle fit, filter, antialias, normalize, pad, place, orientation, letterbox_rule, bgr;
};

bool is_given(nb::handle option) {
  return option.is_valid() && !option.is_none();
}

// One of two names of the same argument.
nb::handle either(nb::handle a, nb::handle b, const char* names) {
  if (is_given(a) && is_given(b))
    raise(Errc::invalid_argument,
          std::string(names) + ": must not both be given, they are the same argument");
  return is_given(a) ? a : b;
}

std::array<float, 3> three_from(nb::handle object, const char* argument) {
  constexpr const char* wanted = "3 numbers, R G B";
  std::array<float, 3> values{};
  const std::size_t count =
      for_each_item(object, argument, wanted, values.size(), [&](nb::handle item, std::size_t i) {
        values[i] = static_cast<float>(number_from(item, argument));
      });
  if (count != values.size()) raise_wrong_type(argument, wanted, object);
  return values;
}

Normalize normalize_from(nb::handle object) {
  if (PyUnicode_Check(object.ptr()) != 0 && text_from(object, "normalize") == "imagenet")
    return Normalize::mean_std({0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F});
  if (PyTuple_Check(object.ptr()) != 0 && nb::len(object) == 2)
    return Normalize::mean_std(three_from(object[0], "normalize"),
                               three_from(object[1], "normalize"));
  switch (enum_from<Normalization>(object, "normalize")) {
    case Normalization::with_sign:
      return {{1 / 127.5F, 1 / 127.5F, 1 / 127.5F, 1 / 127.5F}, {-1, -1, -1, -1}};
    case Normalization::raw:
      return {{1, 1, 1, 1}, {0, 0, 0, 0}};
    default:
      return {};
  }
}

// Arguments that no program for EdgeFirst HAL uses.
void add_own(Convert& request, const Options& o) {
  if (is_given(o.fit)) request.fit = enum_from<Fit>(o.fit, "fit");
  if (is_given(o.filter)) request.filter = enum_from<Filter>(o.filter, "filter");
  if (is_given(o.antialias)) request.antialias = truth_from(o.antialias);
  if (is_given(o.bgr)) request.bgr = truth_from(o.bgr);
  if (is_given(o.normalize)) request.normalize = normalize_from(o.normalize);
  if (is_given(o.orientation)) request.orientation = orientation_from(o.orientation, "orientation");
  if (is_given(o.letterbox_rule))
    request.letterbox = enum_from<LetterboxRule>(o.letterbox_rule, "letterbox_rule");
}

// A destination rectangle without a colour keeps the pixels around it.
void add_place(Convert& request, const Options& o) {
  const nb::handle color = either(o.dst_color, o.pad, "dst_color, pad");
  if (is_given(color)) request.pad = color_from(color, "dst_color");
  if (is_given(o.place)) request.place = region_from(o.place, "place");
  if (!is_given(o.dst_crop)) return;
  const Region rectangle = region_from(o.dst_crop, "dst_crop");
  if (is_given(color))
    request.place = rectangle;
  else
    request.dst = take(request.dst.slice(rectangle));
}

// All fields except the tensors and those that depend on them.
Convert words_of(const Options& o) {
  Convert request;
  if (o.rotation.is_valid()) request.rotation = enum_from<Rotation>(o.rotation, "rotation");
  if (o.flip.is_valid()) request.flip = enum_from<Flip>(o.flip, "flip");
  const nb::handle crop = either(o.source, o.src_crop, "source, src_crop");
  if (is_given(crop)) request.crop = region_from(crop, "source");
  if (is_given(o.letterbox)) {
    request.fit = Fit::letterbox;
    request.pad = color_from(o.letterbox, "letterbox");
  }
  add_own(request, o);
  return request;
}

void check_tensors(nb::handle src, nb::handle dst) {
  tensor_object(src, "src");
  tensor_object(dst, "dst");
}

// Copies of the tensors are taken last: reading the other arguments may run Python code.
Convert request_of(nb::handle src, nb::handle dst, const Options& o, Convert words) {
  Convert request = std::move(words);
  request.dst = tensor_object(dst, "dst").value;
  add_place(request, o);
  request.src = tensor_object(src, "src").value;
  return request;
}
Convert request_of(nb::handle src, nb::handle dst, const Options& o) {
  check_tensors(src, dst);
  return request_of(src, dst, o, words_of(o));
}

std::size_t work_of(const Convert& request) {
  return request.src.size_bytes() + request.dst.size_bytes();
}

// Small images whose tensors cannot change, because the lock is kept: copies of tensors would be a
// tenth of such a call. None: not such a call, or another thread has the processor.
std::optional<Result<Placement>> convert_small(PyProcessor& self, nb::handle src, nb::handle dst,
                                               const Options& o, const Convert& words) {
  if (is_given(o.dst_crop) || is_given(o.dst_color) || is_given(o.pad) || is_given(o.place))
    return std::nullopt;
  const Tensor& from = tensor_object(src, "src").value;
  const Tensor& to = tensor_object(dst, "dst").value;
  if (from.size_bytes() + to.size_bytes() >= small_work_bytes) return std::nullopt;
  const std::unique_lock lock(self.mutex, std::try_to_lock);
  if (!lock || !self.processor) return std::nullopt;
  return self.processor->convert(words, from, to);
}

nb::object convert(PyProcessor& self, nb::handle src, nb::handle dst, const Options& options) {
  check_tensors(src, dst);
  Convert words = words_of(options);  // may run Python code
  if (auto done = convert_small(self, src, dst, options, words))
    return placement_result(take(*std::move(done)));
  const Convert request = request_of(src, dst, options, std::move(words));
  return placement_result(take(with_processor(
      self, work_of(request), [&](Processor& processor) { return processor.convert(request); })));
}

nb::object convert_deferred(PyProcessor& self, nb::handle src, nb::handle dst,
                            const Options& options) {
  const Convert request = request_of(src, dst, options);
  return placement_result(take(with_processor(self, work_of(request), [&](Processor& processor) {
    return processor.convert_deferred(request);
  })));
}

// Returns a descriptor that the caller closes, or None.
nb::object convert_with_fence(PyProcessor& self, nb::handle src, nb::handle dst,
                              const Options& options, nb::handle wait_for) {
  const int sync_file = is_given(wait_for) ? int_from(wait_for, "wait_for") : -1;
  if (is_given(wait_for) && sync_file < 0)
    raise(Errc::invalid_argument, "wait_for: must not be negative");
  const Convert request = request_of(src, dst, options);
  FencedPlacement result = take(with_processor(self, work_of(request), [&](Processor& processor) {
    return processor.convert_with_fence(request, sync_file);
  }));
  if (!result.done) return nb::none();
  return nb::int_(result.done.release());
}

nb::str explain(PyProcessor& self, nb::handle src, nb::handle dst, const Options& options) {
  const Convert request = request_of(src, dst, options);
  return str_of(take(
      with_processor(self, 0, [&](Processor& processor) { return processor.explain(request); })));
}

// Binds `call(self, src, dst, Options, more...)` with the arguments that all requests have.
template <auto call, class... More>
auto with_options(PyProcessor& self, nb::handle src, nb::handle dst, nb::handle rotation,
                  nb::handle flip, nb::handle source, nb::handle letterbox, nb::handle src_crop,
                  nb::handle dst_crop, nb::handle dst_color, nb::handle fit, nb::handle filter,
                  nb::handle antialias, nb::handle normalize, nb::handle pad, nb::handle place,
                  nb::handle orientation, nb::handle letterbox_rule, nb::handle bgr, More... more) {
  return call(self, src, dst,
              {rotation, flip, source, letterbox, src_crop, dst_crop, dst_color, fit, filter,
               antialias, normalize, pad, place, orientation, letterbox_rule, bgr},
              more...);
}

#define HALYARD_REQUEST_SIGNATURE                                                                 \
  "src: Tensor, dst: Tensor, rotation: RotationLike = Rotation.Rotate0, flip: FlipLike = "        \
  "Flip.NoFlip, source: Region | Sequence[int] | None = None, letterbox: Sequence[int] | None = " \
  "None, *, src_crop: Rect | Region | Sequence[int] | None = None, dst_crop: Rect | Region | "    \
  "Sequence[int] | None = None, dst_color: Sequence[int] | None = None, fit: FitLike | None = "   \
  "None, filter: FilterLike | None = None, antialias: bool = False, normalize: "                  \
  "NormalizationLike | tuple[Sequence[float], Sequence[float]] | Literal['imagenet'] | None = "   \
  "None, pad: Sequence[int] | None = None, place: Region | Sequence[int] | None = None, "         \
  "orientation: ImageInfo | tuple[FlipLike, RotationLike] | Literal['raw'] | None = None, "       \
  "letterbox_rule: LetterboxRuleLike | None = None, bgr: bool = False"

template <auto call, class... More>
void add_request(ProcessorClass& cls, const char* name, const char* signature, const char* doc,
                 const std::convertible_to<nb::arg> auto&... more) {
  cls.def(name, &with_options<call, More...>, nb::arg("src"), nb::arg("dst"),
          nb::arg("rotation") = enum_to(Rotation::none), nb::arg("flip") = enum_to(Flip::none),
          nb::arg("source") = nb::none(), nb::arg("letterbox") = nb::none(), nb::kw_only(),
          nb::arg("src_crop") = nb::none(), nb::arg("dst_crop") = nb::none(),
          nb::arg("dst_color") = nb::none(), nb::arg("fit") = nb::none(),
          nb::arg("filter") = nb::none(), nb::arg("antialias") = nb::none(),
          nb::arg("normalize") = nb::none(), nb::arg("pad") = nb::none(),
          nb::arg("place") = nb::none(), nb::arg("orientation") = nb::none(),
          nb::arg("letterbox_rule") = nb::none(), nb::arg("bgr") = nb::none(), more...,
          nb::sig(signature), doc);
}

constexpr const char* convert_doc =
    "Fills ``dst`` from ``src``, two images of any formats: orientation, crop, flip, rotation,\n"
    "fit, place, colours, element type, in this order. Returns a Placement, which maps boxes\n"
    "between dst and the upright src. dst is upright, and carries no orientation of its own.\n"
    "From YUV to RGB and grey, luma below black counts as black; YUV of one colorimetry becomes\n"
    "that of another by one matrix, without RGB between.\n\n"
    "Args:\n"
    "    src: the image to read.\n"
    "    dst: the image to fill; its size and format define the result. A view or an element of "
    "a\n"
    "        batch fills that part. A tensor that is not an image yet is used as one.\n"
    "    rotation, flip: a clockwise rotation, and a mirror applied before it.\n"
    "    source (src_crop): the part of the upright src to show; None: all.\n"
    "    letterbox: R G B A; keeps the aspect ratio and fills the pad with it; None: stretches.\n"
    "    dst_crop: the part of dst to fill. With dst_color the rest gets that colour (as place "
    "and\n"
    "        pad do), without it the rest keeps its pixels.\n"
    "    fit, pad, place: stretch, letterbox, cover or top left; the colour of the pad; "
    "the\n"
    "        rectangle of the result.\n"
    "    filter, antialias: resampling; antialias widens the kernel when shrinking.\n"
    "    normalize: for float and quantized dst: a Normalization, \"imagenet\", or (mean, std) of\n"
    "        R G B on the scale 0..1; None: value / 255.\n"
    "    orientation: makes src upright, applied first; None: src.orientation, which load()\n"
    "        sets. Or that of a file (ImageInfo), (Flip, Rotation), or \"raw\": as stored.\n"
    "    letterbox_rule, bgr: how a letterbox is rounded; swaps red and blue of dst.\n\n"
    "Raises RuntimeError (halyard.Error) for parts outside an image, formats that do not "
    "convert,\n"
    "and src and dst that share bytes. The interpreter is released meanwhile.";

}  // namespace

void add_convert(ProcessorClass& cls) {
  add_request<&convert>(
      cls, "convert", "def convert(self, " HALYARD_REQUEST_SIGNATURE ") -> Placement", convert_doc);
  add_request<&convert_deferred>(
      cls, "convert_deferred",
      "def convert_deferred(self, " HALYARD_REQUEST_SIGNATURE ") -> Placement",
      "As convert(), but may wait for flush(), which runs all requests that "
      "wait together: until then src\n"
      "must not change, and dst keeps its content.");
  add_request<&convert_with_fence, nb::handle>(
      cls, "convert_with_fence",
      "def convert_with_fence(self, " HALYARD_REQUEST_SIGNATURE
      ", wait_for: int | None = None) -> int | None",
      "As convert(), but the GPU may still work when it returns: then returns a sync file, a\n"
      "descriptor that becomes readable when dst is written, and that the caller closes. None:\n"
      "dst is written. Until then src must not change, and dst must not be read. wait_for: a sync\n"
      "file to wait for before the images are accessed; the caller keeps it.",
      nb::arg("wait_for") = nb::none());
  add_request<&explain>(
      cls, "explain", "def explain(self, " HALYARD_REQUEST_SIGNATURE ") -> str",
      "The backend that would run this convert(), and why others decline. One line\n"
      "each.");
  cls.def(
      "flush",
      [](PyProcessor& self) {
        check(with_processor(self, small_work_bytes,
                             [](Processor& processor) { return processor.flush(); }));
      },
      "Runs the requests of convert_deferred(); their results may be read afterwards.");
}

}  // namespace halyard::python
