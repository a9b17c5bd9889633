// SPDX-License-Identifier: Apache-2.0
// The tables of enums.h, and the names of element types.
#include "enums.h"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "args.h"
#include "kept.h"
#include "tensor/tensor_class.h"
#include "words.h"

namespace halyard::python {
namespace {

using Row = EnumClass::Row;

template <class E>
constexpr Row row(const char* name, E value) {
  return {name, static_cast<std::uint8_t>(value)};
}

constexpr Row pixel_formats[] = {
    row("Rgb", PixelFormat::rgb),
    row("Rgba", PixelFormat::rgba),
    row("Bgra", PixelFormat::bgra),
    row("Grey", PixelFormat::grey),
    row("Yuyv", PixelFormat::yuyv),
    row("Vyuy", PixelFormat::vyuy),
    row("Nv12", PixelFormat::nv12),
    row("Nv16", PixelFormat::nv16),
    row("PlanarRgb", PixelFormat::planar_rgb),
    row("PlanarRgba", PixelFormat::planar_rgba),
    row("Nv24", PixelFormat::nv24),
    row("Uyvy", PixelFormat::uyvy),
    row("Yvyu", PixelFormat::yvyu),
    row("Nv21", PixelFormat::nv21),
    row("I420", PixelFormat::i420),
    row("Bgr", PixelFormat::bgr),
    row("BayerRggb", PixelFormat::bayer_rggb),
    row("BayerBggr", PixelFormat::bayer_bggr),
    row("BayerGrbg", PixelFormat::bayer_grbg),
    row("BayerGbrg", PixelFormat::bayer_gbrg),
};
constexpr Row memories[] = {row("DMA", Memory::dma), row("SHM", Memory::shm),
                            row("PBO", Memory::pbo), row("MEM", Memory::mem)};
constexpr Row normalizations[] = {
    row("DEFAULT", Normalization::automatic), row("SIGNED", Normalization::with_sign),
    row("UNSIGNED", Normalization::without_sign), row("RAW", Normalization::raw)};
constexpr Row rotations[] = {row("Rotate0", Rotation::none), row("Clockwise90", Rotation::cw90),
                             row("Rotate180", Rotation::cw180),
                             row("CounterClockwise90", Rotation::cw270)};
constexpr Row flips[] = {row("NoFlip", Flip::none), row("Horizontal", Flip::horizontal),
                         row("Vertical", Flip::vertical)};
constexpr Row color_modes[] = {row("Class", ColorBy::label), row("Instance", ColorBy::instance),
                               row("Track", ColorBy::track)};
constexpr Row egl_display_kinds[] = {row("Gbm", EglDisplayKind::gbm),
                                     row("PlatformDevice", EglDisplayKind::platform_device),
                                     row("Default", EglDisplayKind::standard)};
constexpr Row nms_modes[] = {row("ClassAgnostic", compat::Nms::class_agnostic),
                             row("ClassAware", compat::Nms::class_aware),
                             row("Auto", compat::Nms::automatic)};
constexpr Row decoder_types[] = {row("Ultralytics", compat::OutputFamily::ultralytics),
                                 row("ModelPack", compat::OutputFamily::modelpack)};
constexpr Row decoder_versions[] = {
    row("Yolov5", compat::DecoderVersion::yolov5), row("Yolov8", compat::DecoderVersion::yolov8),
    row("Yolo11", compat::DecoderVersion::yolo11), row("Yolo26", compat::DecoderVersion::yolo26)};
constexpr Row dim_names[] = {row("Batch", compat::DimName::batch),
                             row("Height", compat::DimName::height),
                             row("Width", compat::DimName::width),
                             row("NumClasses", compat::DimName::num_classes),
                             row("NumFeatures", compat::DimName::num_features),
                             row("NumBoxes", compat::DimName::num_boxes),
                             row("NumProtos", compat::DimName::num_protos),
                             row("NumAnchorsXFeatures", compat::DimName::num_anchors_x_features),
                             row("Padding", compat::DimName::padding),
                             row("BoxCoords", compat::DimName::box_coords)};
constexpr Row fits[] = {row("Stretch", Fit::stretch), row("Letterbox", Fit::letterbox),
                        row("Cover", Fit::cover), row("TopLeft", Fit::top_left)};
constexpr Row match_metrics[] = {row("Iou", MergeMetric::iou), row("Ios", MergeMetric::ios)};
constexpr Row color_spaces[] = {row("Bt709", ColorSpace::bt709), row("Bt2020", ColorSpace::bt2020),
                                row("Srgb", ColorSpace::srgb),
                                row("Smpte170m", ColorSpace::smpte170m)};
constexpr Row color_transfers[] = {row("Bt709", ColorTransfer::bt709),
                                   row("Srgb", ColorTransfer::srgb), row("Pq", ColorTransfer::pq),
                                   row("Hlg", ColorTransfer::hlg),
                                   row("Linear", ColorTransfer::linear)};
constexpr Row color_encodings[] = {row("Bt601", ColorEncoding::bt601),
                                   row("Bt709", ColorEncoding::bt709),
                                   row("Bt2020", ColorEncoding::bt2020)};
constexpr Row color_ranges[] = {row("Full", ColorRange::full), row("Limited", ColorRange::limited)};
constexpr Row dct_methods[] = {row("Accurate", DctMethod::accurate), row("Fast", DctMethod::fast)};
constexpr Row filters[] = {row("Nearest", Filter::nearest), row("Bilinear", Filter::bilinear),
                           row("Bicubic", Filter::bicubic), row("Lanczos3", Filter::lanczos3),
                           row("Box", Filter::box)};
constexpr Row letterbox_rules[] = {row("Hal", LetterboxRule::hal),
                                   row("Ultralytics", LetterboxRule::ultralytics),
                                   row("UltralyticsVal", LetterboxRule::ultralytics_val)};

struct DTypeName {
  DType dtype;
  const char* name;
};
constexpr DTypeName dtype_names[] = {
    {DType::u8, "uint8"},     {DType::i8, "int8"},     {DType::u16, "uint16"},
    {DType::i16, "int16"},    {DType::u32, "uint32"},  {DType::i32, "int32"},
    {DType::u64, "uint64"},   {DType::i64, "int64"},   {DType::f16, "float16"},
    {DType::f32, "float32"},  {DType::f64, "float64"}, {DType::bf16, "bfloat16"},
    {DType::boolean, "bool"},
};
std::array<PyObject*, std::size(dtype_names)> dtype_strings{};
// numpy.dtypes, each made at its first use.
std::array<PyObject*, std::size(dtype_names)> dtype_objects{};

void fill(EnumClass& table, const nb::module_& module) {
  const nb::object type = module.attr(table.name);
  table.type = nb::object(type).release().ptr();
  table.native.fill(-1);
  table.words = nb::object(type.attr("_words")()).release().ptr();
  for (const Row& row : table.rows) {
    nb::object member = type.attr(row.name);
    table.native.at(nb::cast<std::size_t>(nb::int_(member))) = row.native;
    table.member.at(row.native) = member.release().ptr();
  }
}

}  // namespace

#define HALYARD_ENUM_CLASS(E, python_name, table)                        \
  template <>                                                            \
  EnumClass& enum_class<E>() {                                           \
    static EnumClass made{python_name, table, nullptr, nullptr, {}, {}}; \
    return made;                                                         \
  }
HALYARD_ENUM_CLASS(PixelFormat, "PixelFormat", pixel_formats)
HALYARD_ENUM_CLASS(Memory, "TensorMemory", memories)
HALYARD_ENUM_CLASS(Normalization, "Normalization", normalizations)
HALYARD_ENUM_CLASS(Rotation, "Rotation", rotations)
HALYARD_ENUM_CLASS(Flip, "Flip", flips)
HALYARD_ENUM_CLASS(ColorBy, "ColorMode", color_modes)
HALYARD_ENUM_CLASS(EglDisplayKind, "EglDisplayKind", egl_display_kinds)
HALYARD_ENUM_CLASS(compat::Nms, "Nms", nms_modes)
HALYARD_ENUM_CLASS(compat::OutputFamily, "DecoderType", decoder_types)
HALYARD_ENUM_CLASS(compat::DecoderVersion, "DecoderVersion", decoder_versions)
HALYARD_ENUM_CLASS(compat::DimName, "DimName", dim_names)
HALYARD_ENUM_CLASS(Fit, "Fit", fits)
HALYARD_ENUM_CLASS(MergeMetric, "MatchMetric", match_metrics)
HALYARD_ENUM_CLASS(ColorSpace, "ColorSpace", color_spaces)
HALYARD_ENUM_CLASS(ColorTransfer, "ColorTransfer", color_transfers)
HALYARD_ENUM_CLASS(ColorEncoding, "ColorEncoding", color_encodings)
HALYARD_ENUM_CLASS(ColorRange, "ColorRange", color_ranges)
HALYARD_ENUM_CLASS(DctMethod, "DctMethod", dct_methods)
HALYARD_ENUM_CLASS(Filter, "Filter", filters)
HALYARD_ENUM_CLASS(LetterboxRule, "LetterboxRule", letterbox_rules)
#undef HALYARD_ENUM_CLASS

std::uint8_t enum_value(nb::handle object, const EnumClass& in, const char* argument) {
  nb::object named;
  if (PyUnicode_Check(object.ptr())) {
    PyObject* member = PyDict_GetItemWithError(in.words, object.ptr());
    if (member == nullptr) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      // Another spelling of the name; raises for an unknown one.
      named = nb::handle(in.type).attr("_of_word")(object, argument);
      member = named.ptr();
    }
    object = member;
  }
  if (&in == &enum_class<Rotation>() && PyLong_CheckExact(object.ptr()) != 0) {
    named = nb::handle(in.type).attr("_of_degrees")(object, argument);
    object = named;
  }
  if (reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) != in.type)
    raise_wrong_type(argument, nb::cast<std::string>(nb::handle(in.type).attr("_wanted")()).c_str(),
                     object);
  const long number = PyLong_AsLong(object.ptr());
  return static_cast<std::uint8_t>(in.native.at(static_cast<std::size_t>(number)));
}

nb::object enum_member(std::uint8_t native, const EnumClass& in) {
  PyObject* member = native < in.member.size() ? in.member[native] : nullptr;
  return member == nullptr ? nb::none() : nb::borrow(member);
}

const char* dtype_name(DType dtype) noexcept {
  return dtype_names[static_cast<std::size_t>(dtype)].name;
}

nb::object dtype_str(DType dtype) {
  return nb::borrow(dtype_strings[static_cast<std::size_t>(dtype)]);
}

nb::object numpy_dtype(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return nb::borrow(kept(dtype_objects[index], [&]() -> nb::object {
    const nb::object name = dtype == DType::bf16 ? bfloat16_type() : dtype_str(dtype);
    return nb::module_::import_("numpy").attr("dtype")(name);
  }));
}

namespace {

std::optional<DType> dtype_of_name(std::string_view name) {
  for (const DTypeName& row : dtype_names)
    if (name == row.name) return row.dtype;
  return std::nullopt;
}

[[noreturn]] void raise_no_dtype(nb::handle object, const char* argument) {
  std::vector<std::string_view> names;
  for (const DTypeName& row : dtype_names)
    names.emplace_back(row.name);
  raise_unknown_word(argument, object, "element type", names);
}

// Converts by numpy.dtype(). NumPy is loaded only here.
DType dtype_of_numpy(nb::handle object, const char* argument) {
  nb::object dtype;
  try {
    dtype = nb::module_::import_("numpy").attr("dtype")(object);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    if (PyUnicode_Check(object.ptr()) != 0) raise_no_dtype(object, argument);
    const std::string text = std::string(argument) +
                             ": must be an element type, as numpy.dtype() "
                             "takes it, not " +
                             text_of(object.type().attr("__name__"));
    nb::raise_from(error, PyExc_TypeError, "%s", text.c_str());
  }
  const nb::object native = dtype.attr("isnative");
  if (!truth_from(native))
    raise(Errc::unsupported, std::string(argument) + ": must be in native byte order");
  const nb::object name = dtype.attr("name");
  if (const auto known = dtype_of_name(text_of(name))) return *known;
  raise_no_dtype(PyUnicode_Check(object.ptr()) != 0 ? object : nb::handle(name), argument);
}

}  // namespace

DType dtype_from(nb::handle object, const char* argument) {
  for (std::size_t i = 0; i < dtype_strings.size(); ++i)
    if (object.ptr() == dtype_strings[i] || object.ptr() == dtype_objects[i])
      return dtype_names[i].dtype;
  if (object.is_none()) raise_wrong_type(argument, "an element type", object);
  if (PyUnicode_Check(object.ptr()) != 0)
    if (const auto known = dtype_of_name(text_of(object))) return *known;
  return dtype_of_numpy(object, argument);
}

void bind_enums(nb::module_&) {
  const nb::module_ module = nb::module_::import_("halyard._enums");
  for (EnumClass* table : {&enum_class<PixelFormat>(),
                           &enum_class<Memory>(),
                           &enum_class<Normalization>(),
                           &enum_class<Rotation>(),
                           &enum_class<Flip>(),
                           &enum_class<ColorBy>(),
                           &enum_class<EglDisplayKind>(),
                           &enum_class<compat::Nms>(),
                           &enum_class<compat::OutputFamily>(),
                           &enum_class<compat::DecoderVersion>(),
                           &enum_class<compat::DimName>(),
                           &enum_class<Fit>(),
                           &enum_class<MergeMetric>(),
                           &enum_class<ColorSpace>(),
                           &enum_class<ColorTransfer>(),
                           &enum_class<ColorEncoding>(),
                           &enum_class<ColorRange>(),
                           &enum_class<DctMethod>(),
                           &enum_class<Filter>(),
                           &enum_class<LetterboxRule>()})
    fill(*table, module);
  for (std::size_t i = 0; i < dtype_strings.size(); ++i)
    dtype_strings[i] = PyUnicode_InternFromString(dtype_names[i].name);
}

}  // namespace halyard::python
