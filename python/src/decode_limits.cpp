// SPDX-License-Identifier: Apache-2.0
// DecodeLimits: the limits of decoding image files.
#include "decode_limits.h"

#include <nanobind/operators.h>

#include "args.h"

namespace halyard::python {
namespace {

void set(std::size_t& field, nb::handle value, const char* name) {
  if (!value.is_none()) field = size_from(value, name);
}

void add_fields(nb::class_<DecodeLimits>& cls) {
  cls.def_prop_rw(
         "max_width", [](const DecodeLimits& l) { return l.max_width; },
         [](DecodeLimits& l, nb::handle value) { l.max_width = size_from(value, "max_width"); },
         nb::sig("def max_width(self) -> int"), "Columns.")
      .def_prop_rw(
          "max_height", [](const DecodeLimits& l) { return l.max_height; },
          [](DecodeLimits& l, nb::handle value) { l.max_height = size_from(value, "max_height"); },
          nb::sig("def max_height(self) -> int"), "Rows.")
      .def_prop_rw(
          "max_pixels", [](const DecodeLimits& l) { return l.max_pixels; },
          [](DecodeLimits& l, nb::handle value) { l.max_pixels = size_from(value, "max_pixels"); },
          nb::sig("def max_pixels(self) -> int"), "Columns times rows.")
      .def_prop_rw(
          "max_bytes", [](const DecodeLimits& l) { return l.max_bytes; },
          [](DecodeLimits& l, nb::handle value) { l.max_bytes = size_from(value, "max_bytes"); },
          nb::sig("def max_bytes(self) -> int"),
          "Bytes of the pixels and of the other memory of decoding.")
      .def_prop_rw(
          "max_expansion", [](const DecodeLimits& l) { return l.max_expansion; },
          [](DecodeLimits& l, nb::handle value) {
            l.max_expansion = size_from(value, "max_expansion");
          },
          nb::sig("def max_expansion(self) -> int"),
          "Decoded bytes for each byte of the file, above expansion_floor.")
      .def_prop_rw(
          "expansion_floor", [](const DecodeLimits& l) { return l.expansion_floor; },
          [](DecodeLimits& l, nb::handle value) {
            l.expansion_floor = size_from(value, "expansion_floor");
          },
          nb::sig("def expansion_floor(self) -> int"),
          "Decoded bytes up to which max_expansion does not apply.")
      .def_prop_rw(
          "max_scans", [](const DecodeLimits& l) { return l.max_scans; },
          [](DecodeLimits& l, nb::handle value) { l.max_scans = size_from(value, "max_scans"); },
          nb::sig("def max_scans(self) -> int"), "Scans of a JPEG.")
      .def_prop_rw(
          "max_scan_passes", [](const DecodeLimits& l) { return l.max_scan_passes; },
          [](DecodeLimits& l, nb::handle value) {
            l.max_scan_passes = size_from(value, "max_scan_passes");
          },
          nb::sig("def max_scan_passes(self) -> int"),
          "Visits of each block of a JPEG by its scans, on average.");
}

nb::object repr(const DecodeLimits& l) {
  return nb::str(
             "DecodeLimits(max_width={}, max_height={}, max_pixels={}, max_bytes={}, "
             "max_expansion={}, expansion_floor={}, max_scans={}, max_scan_passes={})")
      .format(l.max_width, l.max_height, l.max_pixels, l.max_bytes, l.max_expansion,
              l.expansion_floor, l.max_scans, l.max_scan_passes);
}

}  // namespace

DecodeLimits limits_from(nb::handle object) {
  if (object.is_none()) return DecodeLimits::defaults();
  const DecodeLimits* limits = nullptr;
  if (!nb::try_cast(object, limits) || limits == nullptr)
    raise_wrong_type("limits", "a DecodeLimits", object);
  return *limits;
}

void bind_limits(nb::module_& m) {
  nb::class_<DecodeLimits> cls(
      m, "DecodeLimits",
      "Limits of decoding, checked before pixels are decoded or memory is\n"
      "allocated. The message of the error names the limit and both "
      "numbers.\n"
      "The default of each limit is the process's: see "
      "set_default_decode_limits().");
  cls.def(
      "__init__",
      [](DecodeLimits* self, nb::handle max_width, nb::handle max_height, nb::handle max_pixels,
         nb::handle max_bytes, nb::handle max_expansion, nb::handle expansion_floor,
         nb::handle max_scans, nb::handle max_scan_passes) {
        DecodeLimits made = DecodeLimits::defaults();
        set(made.max_width, max_width, "max_width");
        set(made.max_height, max_height, "max_height");
        set(made.max_pixels, max_pixels, "max_pixels");
        set(made.max_bytes, max_bytes, "max_bytes");
        set(made.max_expansion, max_expansion, "max_expansion");
        set(made.expansion_floor, expansion_floor, "expansion_floor");
        set(made.max_scans, max_scans, "max_scans");
        set(made.max_scan_passes, max_scan_passes, "max_scan_passes");
        new (self) DecodeLimits(made);
      },
      nb::kw_only(), nb::arg("max_width") = nb::none(), nb::arg("max_height") = nb::none(),
      nb::arg("max_pixels") = nb::none(), nb::arg("max_bytes") = nb::none(),
      nb::arg("max_expansion") = nb::none(), nb::arg("expansion_floor") = nb::none(),
      nb::arg("max_scans") = nb::none(), nb::arg("max_scan_passes") = nb::none(),
      nb::sig("def __init__(self, *, max_width: int | None = None, max_height: int | "
              "None = None, max_pixels: int | None = None, max_bytes: int | None = "
              "None, max_expansion: int | None = None, expansion_floor: int | None = "
              "None, max_scans: int | None = None, max_scan_passes: int | None = "
              "None) -> None"));
  add_fields(cls);
  cls.def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", &repr);
  m.def(
      "default_decode_limits", [] { return DecodeLimits::defaults(); },
      "The limits of calls without `limits`.");
  m.def(
      "set_default_decode_limits",
      [](nb::handle limits) {
        set_default_decode_limits(limits.is_none() ? DecodeLimits{} : limits_from(limits));
      },
      nb::arg("limits").none(),
      nb::sig("def set_default_decode_limits(limits: DecodeLimits | None) -> None"),
      "Sets the limits of calls without `limits`, on all threads; None: the library's own.\n"
      "Services that take untrusted files call it once at start.");
}

}  // namespace halyard::python
