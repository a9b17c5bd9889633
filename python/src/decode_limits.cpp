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

struct Limit {
  const char* name;
  std::size_t DecodeLimits::*field;
  const char* doc;
};
constexpr Limit all_limits[] = {
    {"max_width", &DecodeLimits::max_width, "Columns."},
    {"max_height", &DecodeLimits::max_height, "Rows."},
    {"max_pixels", &DecodeLimits::max_pixels, "Columns times rows."},
    {"max_bytes", &DecodeLimits::max_bytes,
     "Bytes of the pixels and of the other memory of decoding."},
    {"max_expansion", &DecodeLimits::max_expansion,
     "Decoded bytes for each byte of the file, above expansion_floor."},
    {"expansion_floor", &DecodeLimits::expansion_floor,
     "Decoded bytes up to which max_expansion does not apply."},
    {"max_scans", &DecodeLimits::max_scans, "Scans of a JPEG."},
    {"max_scan_passes", &DecodeLimits::max_scan_passes,
     "Visits of each block of a JPEG by its scans, on average."},
};

void add_fields(nb::class_<DecodeLimits>& cls) {
  for (const Limit& each : all_limits) {
    const std::string signature = std::string("def ") + each.name + "(self) -> int";
    cls.def_prop_rw(
        each.name, [field = each.field](const DecodeLimits& l) { return l.*field; },
        [each](DecodeLimits& l, nb::handle value) { l.*each.field = size_from(value, each.name); },
        nb::sig(signature.c_str()), each.doc);
  }
}

void add_init(nb::class_<DecodeLimits>& cls) {
  cls.def(
      "__init__",
      [](DecodeLimits* self, nb::handle max_width, nb::handle max_height, nb::handle max_pixels,
         nb::handle max_bytes, nb::handle max_expansion, nb::handle expansion_floor,
         nb::handle max_scans, nb::handle max_scan_passes) {
        DecodeLimits made = DecodeLimits::defaults();
        const nb::handle given[] = {max_width,     max_height,      max_pixels, max_bytes,
                                    max_expansion, expansion_floor, max_scans,  max_scan_passes};
        for (std::size_t i = 0; i < std::size(all_limits); ++i)
          set(made.*all_limits[i].field, given[i], all_limits[i].name);
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
}

nb::object repr(const DecodeLimits& l) {
  return nb::str(
             "DecodeLimits(max_width={}, max_height={}, max_pixels={}, max_bytes={}, "
             "max_expansion={}, expansion_floor={}, max_scans={}, max_scan_passes={})")
      .format(l.max_width, l.max_height, l.max_pixels, l.max_bytes, l.max_expansion,
              l.expansion_floor, l.max_scans, l.max_scan_passes);
}

void bind_defaults(nb::module_& m) {
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
  add_init(cls);
  add_fields(cls);
  cls.def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", &repr);
  bind_defaults(m);
}

}  // namespace halyard::python
