// SPDX-License-Identifier: Apache-2.0
// reconcile(), Reconciled and plan_buffers().
#include "halyard/reconcile.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "args.h"
#include "enums.h"
#include "halyard/attribute_blob.h"
#include "halyard/buffer_plan.h"
#include "ipc/pools.h"
#include "kept.h"
#include "reconcile/negotiation.h"
#include "words.h"

namespace halyard::python {
namespace {

using ReconciledClass = nb::class_<Reconciled>;

constexpr const char* reconciled_doc =
    "A buffer that serves all parties, not allocated yet; made by reconcile().\n\n"
    "``str(result)`` is a readable line, ``outputs`` has the computed values, ``explain(key)`` "
    "who\n"
    "caused a value. Immutable; thread-safe.";

nb::object reconcile_parties(nb::handle lists, bool allow_drop, bool can_anchor) {
  const auto parties = parties_from(lists, "lists");
  Conflict conflict;
  auto result = released([&] {
    return reconcile_engines(parties, {.allow_drop = allow_drop, .can_anchor = can_anchor},
                             &conflict);
  });
  return nb::cast(take(std::move(result), conflict));
}

nb::dict dict_of(const Statement& each) {
  nb::dict made;
  made["party"] = str_of(each.party);
  made["process"] = each.process;
  made["engine"] = str_of(each.engine);
  made["key"] = str_of(each.key);
  made["value"] = str_of(each.value);
  made["origin"] = str_of(each.origin);
  made["source"] = str_of(each.source);
  return made;
}

// "t.row_align" selects all values of the key, "i.pitch_align[1]" one.
nb::list explain_key(const Reconciled& self, nb::handle key) {
  const std::string wanted = text_from(key, "key");
  const std::string name = wanted.substr(0, wanted.find('['));
  const KeyInfo* const info = key_info(name);
  if (info == nullptr) raise(Errc::not_found, "key: there is no key " + wanted);
  nb::list found;
  for (std::size_t i = 0; i < info->count; ++i)
    for (const Statement& each : self.explain(info->key, i))
      if (name == wanted || each.key == wanted) found.append(dict_of(each));
  return found;
}

nb::list heap_names(const Reconciled& self) {
  nb::list names;
  for (const Heap each : self.heaps())
    names.append(str_of(to_string(each)));
  return names;
}

nb::dict dropped_parties(const Reconciled& self) {
  nb::dict found;
  for (const DroppedParty& each : self.dropped())
    found[str_of(each.party)] = str_of(each.conflict.to_text());
  return found;
}

nb::list allocate(const Reconciled& self, nb::handle count, nb::handle party, nb::handle label) {
  NegotiatedOptions options;
  options.count = static_cast<std::uint32_t>(size_from(count, "count", UINT32_MAX));
  options.party = party_from(party, "party");
  if (!label.is_none()) options.label = text_from(label, "label");
  auto buffers = take(released([&] { return allocate_negotiated(self, options); }));
  nb::list made;
  for (NegotiatedBuffer& each : buffers)
    made.append(negotiated_result(std::move(each)));
  return made;
}

nb::object adopt(const Reconciled& self, nb::handle tensor, nb::handle party) {
  NegotiatedOptions options;
  options.party = party_from(party, "party");
  const Tensor memory = tensor_object(tensor, "tensor").value;
  if (memory.is_empty()) raise(Errc::invalid_argument, "tensor: has no memory");
  return negotiated_result(
      take(released([&] { return NegotiatedBuffer::adopt(self, memory.buffer(), options); })));
}

nb::object make_pool(const Reconciled& self, nb::handle pool_id, nb::handle count) {
  const auto id = static_cast<std::uint32_t>(size_from(pool_id, "pool_id", UINT32_MAX));
  const auto frames = static_cast<std::uint32_t>(size_from(count, "count", UINT32_MAX));
  const FrameLayout layout = take(self.frame_layout());
  const TensorPoolConfig config = take(TensorPoolConfig::for_frames(layout, frames));
  return pool_result(take(released([&] { return TensorPool::create(id, config); })));
}

Heap heap_from(nb::handle object) {
  const std::string name = text_from(object, "heap");
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < heap_count; ++i) {
    names.push_back(to_string(static_cast<Heap>(i)));
    if (name == names.back()) return static_cast<Heap>(i);
  }
  raise_unknown_word("heap", object, "memory", names);
}

void validate_lists(const Reconciled& self, nb::handle lists, nb::handle heap) {
  const auto given = lists_from(lists, "lists");
  const Heap where = heap.is_none() ? self.heap() : heap_from(heap);
  Conflict conflict;
  const Status serves =
      released([&] { return validate(self, where, pointers_to(given), &conflict); });
  if (!serves) raise_conflict(serves.error(), conflict);
}

void add_values(ReconciledClass& cls) {
  cls.def_prop_ro(
         "outputs",
         [](const Reconciled& r) { return nb::object(object_of_json(r.to_json())["outputs"]); },
         nb::sig("def outputs(self) -> dict[str, Any]"),
         "The computed values by name: \"t.strides\", \"i.planes\", \"g.heap\", \"g.size\".")
      .def("explain", &explain_key, nb::arg("key"),
           nb::sig("def explain(self, key: str) -> list[dict[str, Any]]"),
           "The parties that caused a value, with value and source; empty: nobody set it. Raises\n"
           "MissingFileError: no such key.")
      .def(
          "to_dict", [](const Reconciled& r) { return object_of_json(r.to_json()); },
          nb::sig("def to_dict(self) -> dict[str, Any]"),
          "All of it, as `halyard negotiate --json` prints it.");
}

void add_facts(ReconciledClass& cls) {
  cls.def_prop_ro(
         "size_bytes", [](const Reconciled& r) { return r.size_bytes(); },
         "Bytes that tensor and image use.")
      .def_prop_ro(
          "allocated_bytes", [](const Reconciled& r) { return r.allocated_bytes(); },
          "Bytes with slack, in whole pages where needed.")
      .def_prop_ro(
          "count", [](const Reconciled& r) { return r.count(); },
          "Buffers that all parties together need.")
      .def_prop_ro(
          "heap", [](const Reconciled& r) { return str_of(to_string(r.heap())); },
          nb::sig("def heap(self) -> str"), "The memory that fits best: \"memfd\".")
      .def_prop_ro("heaps", &heap_names, nb::sig("def heaps(self) -> list[str]"),
                   "All kinds of memory that all parties accept, best first.")
      .def_prop_ro(
          "digest",
          [](const Reconciled& r) {
            const auto digest = r.digest();
            return bytes_of(std::as_bytes(std::span(digest)));
          },
          nb::sig("def digest(self) -> bytes"), "16 bytes, equal for equal results.")
      .def_prop_ro("dropped", &dropped_parties, nb::sig("def dropped(self) -> dict[str, str]"),
                   "Parties that were left out, and the report of each.")
      .def("__str__", [](const Reconciled& r) { return str_of(r.to_text()); })
      .def("__repr__",
           [](const Reconciled& r) { return str_of("Reconciled(" + r.to_text() + ")"); });
}

void add_buffers(ReconciledClass& cls) {
  cls.def("allocate", &allocate, nb::arg("count") = 0, nb::kw_only(), nb::arg("party") = nb::none(),
          nb::arg("label") = nb::none(),
          nb::sig("def allocate(self, count: int = 0, *, party: str | None = None, label: str | "
                  "None = None) -> list[NegotiatedBuffer]"),
          "Makes buffers in the first memory of `heaps` that works here. `count`: 0 for the count "
          "that the\n"
          "parties need. `party`: the party of this process: lock() allows the access that it "
          "asked for;\n"
          "None: that of any party. Raises MissingFileError (no such party), UnsupportedError and\n"
          "AccessError (no memory works; the message has the reason of each), CapacityError\n"
          "(more than the parties allow), OutOfMemoryError.")
      .def("adopt", &adopt, nb::arg("tensor"), nb::kw_only(), nb::arg("party") = nb::none(),
           nb::sig("def adopt(self, tensor: Tensor, *, party: str | None = None) -> "
                   "NegotiatedBuffer"),
           "Applies the result to the memory of a Tensor, from its first byte. Raises\n"
           "InvalidArgumentError (too small, wrong alignment), UnsupportedError (memory that not\n"
           "all parties reach).")
      .def("pool", &make_pool, nb::arg("pool_id"), nb::arg("count"),
           nb::sig("def pool(self, pool_id: int, count: int) -> TensorPool"),
           "A pool whose alloc_frame() gives frames of this layout to all processes, `count` at a\n"
           "time. Raises UnsupportedError (not all parties reach memfd), and as TensorPool().");
}

void add_encoding(ReconciledClass& cls) {
  cls.def(
         "encode",
         [](const Reconciled& self, nb::handle party) {
           return bytes_of(take(encode_result(self, text_from(party, "party"))));
         },
         nb::arg("party"), nb::sig("def encode(self, party: str) -> bytes"),
         "The result as bytes for a party's process. Raises MissingFileError: no such party.")
      .def_static(
          "decode",
          [](nb::handle blob) {
            const BytesArg bytes(blob, "blob");
            return take(decode_result(bytes.bytes()));
          },
          nb::arg("blob"), nb::sig("def decode(blob: Buffer) -> Reconciled"),
          "The result of encode(), from anybody: computed again from the needs of the parties. "
          "Raises\n"
          "as decode_lists().")
      .def("validate", &validate_lists, nb::arg("lists"), nb::kw_only(),
           nb::arg("heap") = nb::none(),
           nb::sig("def validate(self, lists: Iterable[AttributeList], *, heap: str | None = None)"
                   " -> None"),
           "Raises ConflictError if a buffer of this result in memory of `heap` (None: the\n"
           "best) does not serve these lists unchanged.");
}

nb::object plan(nb::handle lists) {
  const auto parties = parties_from(lists, "lists");
  Conflict conflict;
  return nb::cast(take(released([&] { return plan_buffers(parties, {}, &conflict); }), conflict));
}

void bind_plan(nb::module_& m) {
  nb::class_<BufferPlan>(m, "BufferPlan", nb::type_slots(made_by_calls),
                         "Groups of parties that each share a buffer, and the copies between them; "
                         "made by plan_buffers().")
      .def_prop_ro(
          "groups",
          [](const BufferPlan& self) {
            nb::list groups;
            for (const PlanGroup& each : self.groups)
              groups.append(nb::make_tuple(each.parties, each.buffer));
            return groups;
          },
          nb::sig("def groups(self) -> list[tuple[list[str], Reconciled]]"),
          "Names of the parties, and their buffer.")
      .def_prop_ro(
          "copies",
          [](const BufferPlan& self) {
            nb::list copies;
            for (const PlanCopy& each : self.copies)
              copies.append(
                  nb::make_tuple(each.from, each.to, each.bytes, str_of(each.why.to_text())));
            return copies;
          },
          nb::sig("def copies(self) -> list[tuple[int, int, int, str]]"),
          "From a group to a group, by index; bytes; and why they cannot share.")
      .def(
          "to_dict", [](const BufferPlan& self) { return object_of_json(self.to_json()); },
          nb::sig("def to_dict(self) -> dict[str, Any]"),
          "All of it, as `halyard negotiate --plan --json` prints it.")
      .def("__str__", [](const BufferPlan& self) { return str_of(self.to_text()); });
}

}  // namespace

void raise_conflict(const Error& error, const Conflict& conflict) {
  if (conflict.items.empty()) raise(error);
  static PyObject* place = nullptr;
  const nb::handle type = kept_attribute(place, "halyard._errors", "ConflictError");
  const nb::object raised =
      type(str_of(conflict.to_text()), object_of_json(conflict.to_json())["conflicts"]);
  PyErr_SetObject(type.ptr(), raised.ptr());
  throw nb::python_error();
}

nb::object object_of_json(const std::string& json) {
  return nb::module_::import_("json").attr("loads")(str_of(json));
}

void bind_reconciled(nb::module_& m) {
  ReconciledClass cls(m, "Reconciled", nb::type_slots(made_by_calls), reconciled_doc);
  add_values(cls);
  add_facts(cls);
  add_buffers(cls);
  add_encoding(cls);
  bind_plan(m);
  m.def("reconcile", &reconcile_parties, nb::arg("lists"), nb::kw_only(),
        nb::arg("allow_drop") = false, nb::arg("can_anchor") = true,
        nb::sig("def reconcile(lists: Iterable[AttributeList], *, allow_drop: bool = False, "
                "can_anchor: bool = True) -> Reconciled"),
        "Finds the buffer that serves up to 64 parties; asks their engines.\n\n"
        "Args:\n"
        "    allow_drop: leaves out optional parties that cause a conflict.\n"
        "    can_anchor: whether this machine can keep a buffer attached to a device.\n\n"
        "Raises ConflictError: the parties disagree; InvalidArgumentError: no list, or nobody "
        "states\n"
        "what the buffer holds; CapacityError: more than 64 parties.");
  m.def("plan_buffers", &plan, nb::arg("lists"),
        nb::sig("def plan_buffers(lists: Iterable[AttributeList]) -> BufferPlan"),
        "Splits the parties into the fewest groups that each agree. Raises ConflictError if a\n"
        "party agrees with nobody: element types or extents that differ.");
}

}  // namespace halyard::python
