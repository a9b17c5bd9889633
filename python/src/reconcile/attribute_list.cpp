// SPDX-License-Identifier: Apache-2.0
// AttributeList: the needs of one party; lists as bytes, and from a file of parties.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

#include "args.h"
#include "enums.h"
#include "halyard/attribute_blob.h"
#include "reconcile/negotiation.h"

namespace halyard::python {
namespace {

constexpr const char* attributes_doc =
    "The needs of one party for a shared buffer; reconcile() finds that buffer.\n\n"
    "Each key is set once; names, units and rules of all keys are in docs/negotiation.md. A value\n"
    "is written as in a file of parties: a number, True, a name (\"f32\", \"cached\"), a list.\n\n"
    "Args:\n"
    "    party: its name in reports.\n"
    "    keys: values by key: {\"t.dtype\": \"f32\", \"t.shape\": [1, 3, 480, 640]}.\n"
    "    engine: a built-in engine that adds the rest: \"dla\", \"egl.dmabuf\", \"v4l2.capture\".\n"
    "    settings: numbers of the engine's table to replace: {\"pitch_align\": 256}.\n"
    "    optional: whether the party may be left out; an int is its priority, the lowest is left "
    "out\n"
    "        first.\n"
    "    process: the id of the party's process, for reports; 0: not given.\n\n"
    "One thread uses it at a time.";

PyAttributeList& list_of(nb::handle self) {
  return instance_of<PyAttributeList>(self);
}

// "detector.py:12": the line of the Python code that called; empty if there is none.
std::string caller() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (frame == nullptr) return {};
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const std::string file = text_of(code.attr("co_filename"));
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
}

// By the names of party files ("u8", "f16", which mean other types in NumPy), or as numpy.dtype()
// takes it.
DType content_from(nb::handle value) {
  if (PyUnicode_Check(value.ptr()) != 0)
    if (const auto known = dtype_from_string(text_from(value, "value"))) return *known;
  return dtype_from(value, "value");
}

// The value as JSON text, as in a file of parties.
std::string json_from(const std::string& key, nb::object value) {
  if (key == "t.dtype") value = str_of(to_string(content_from(value)));
  return text_of(nb::module_::import_("halyard._negotiation").attr("json_of")(value));
}

void set_key(AttributeList& list, nb::handle key, nb::handle value, const std::string& source) {
  const std::string name = text_from(key, "key");
  check(list.set_text(name, json_from(name, nb::borrow(value)), source));
}

void set_keys(AttributeList& list, nb::handle keys, const std::string& source) {
  if (keys.is_none()) return;
  if (!nb::isinstance<nb::dict>(keys)) raise_wrong_type("keys", "a dict or None", keys);
  for (const auto [key, value] : nb::borrow<nb::dict>(keys))
    set_key(list, key, value, source);
}

LayoutTag tag_from(nb::handle object) {
  const std::string name = nb::hasattr(object, "name") ? text_from(object.attr("name"), "tag")
                                                       : text_from(object, "tag");
  auto tag = layout_tag_from_string(name);
  if (!tag) raise(tag.error().code, "tag: " + tag.error().message());
  return *tag;
}

std::shared_ptr<const BufferEngine> engine_from(nb::handle engine, nb::handle settings) {
  if (engine.is_none()) {
    if (!settings.is_none()) raise(Errc::invalid_argument, "settings: belong to an engine");
    return nullptr;
  }
  return take(
      make_buffer_engine(text_from(engine, "engine"),
                         settings.is_none() ? "" : json_from("settings", nb::borrow(settings))));
}

void set_optional(AttributeList& list, nb::handle optional) {
  if (optional.is_none() || optional.is(nb::bool_(false))) return;
  list.set_optional(optional.is(nb::bool_(true)) ? 0 : int_from(optional, "optional"));
}

void init(PyAttributeList* self, nb::handle party, nb::handle keys, nb::handle engine,
          nb::handle settings, nb::handle optional, nb::handle process) {
  PyAttributeList made{{AttributeList(text_from(party, "party")), engine_from(engine, settings)}};
  AttributeList& list = made.party.list;
  set_optional(list, optional);
  list.set_process(static_cast<std::uint32_t>(size_from(process, "process", UINT32_MAX)));
  set_keys(list, keys, caller());
  new (self) PyAttributeList(std::move(made));
}

void accept(PyAttributeList& self, nb::handle tag, nb::handle cost, nb::handle keys) {
  const LayoutTag layout = tag_from(tag);
  const auto price = static_cast<std::uint32_t>(size_from(cost, "cost", UINT32_MAX));
  AttributeList inner("");
  set_keys(inner, keys, caller());
  check(self.party.list.accept(layout, price, inner));
}

nb::dict dict_of(std::span<const Attribute> attributes) {
  nb::dict values;
  for (const Attribute& each : attributes) {
    const KeyInfo* const info = key_info(each.key);
    std::string name(to_string(each.key));
    if (info != nullptr && info->count > 1)
      name.append(1, '[').append(std::to_string(each.index)).append(1, ']');
    values[str_of(name)] = str_of(to_string(each.key, each.value));
  }
  return values;
}

nb::list alternatives_of(const PyAttributeList& self) {
  nb::list found;
  for (const Alternative& each : self.party.list.alternatives())
    found.append(nb::make_tuple(str_of(to_string(each.tag)), each.cost, dict_of(each.attributes)));
  return found;
}

nb::list list_of_parties(std::vector<EngineParty>&& parties) {
  nb::list made;
  for (EngineParty& each : parties)
    made.append(nb::cast(PyAttributeList{std::move(each)}));
  return made;
}

nb::object parties_from_text(nb::handle object) {
  return list_of_parties(take(parties_from_json(PyUnicode_Check(object.ptr()) != 0
                                                    ? text_from(object, "parties")
                                                    : json_from("parties", nb::borrow(object)))));
}

nb::object decode(nb::handle blob) {
  const BytesArg bytes(blob, "blob");
  std::vector<EngineParty> parties;
  for (AttributeList& each : take(decode_lists(bytes.bytes())))
    parties.push_back({std::move(each), nullptr});
  return list_of_parties(std::move(parties));
}

void add_setting(nb::class_<PyAttributeList>& cls) {
  cls.def("__init__", &init, nb::arg("party"), nb::arg("keys") = nb::none(), nb::kw_only(),
          nb::arg("engine") = nb::none(), nb::arg("settings") = nb::none(),
          nb::arg("optional") = nb::none(), nb::arg("process") = 0,
          nb::sig("def __init__(self, party: str, keys: Mapping[str, Any] | None = None, *, "
                  "engine: str | None = None, settings: Mapping[str, Any] | None = None, "
                  "optional: bool | int | None = None, process: int = 0) -> None"))
      .def(
          "set",
          [](PyAttributeList& self, nb::handle key, nb::handle value, nb::handle source) {
            set_key(self.party.list, key, value,
                    source.is_none() ? caller() : text_from(source, "source"));
          },
          nb::arg("key"), nb::arg("value"), nb::kw_only(), nb::arg("source") = nb::none(),
          nb::sig("def set(self, key: str, value: Any, *, source: str | None = None) -> None"),
          "Sets a value, once. `source`: its origin, for reports; None: the line of the\n"
          "call. Raises SystemCallError with the code \"exists\" (set already),\n"
          "InvalidArgumentError (not the key's type, out of its range), MissingFileError (no such\n"
          "key).")
      .def(
          "__setitem__",
          [](PyAttributeList& self, nb::handle key, nb::handle value) {
            set_key(self.party.list, key, value, caller());
          },
          nb::arg("key"), nb::arg("value"),
          nb::sig("def __setitem__(self, key: str, value: Any, /) -> None"), "As set().")
      .def("accept", &accept, nb::arg("tag"), nb::arg("cost") = 0, nb::arg("keys") = nb::none(),
           nb::sig("def accept(self, tag: str | PixelFormat, cost: int = 0, keys: Mapping[str, "
                   "Any] | None = None) -> None"),
           "Adds a layout that the party accepts (\"NHWC\", \"NCxHWx32\", \"nv12\"), at most 64;\n"
           "without any it accepts all. The lowest sum of costs wins; `keys` apply only to this "
           "layout.\n"
           "Raises as set().");
}

void add_facts(nb::class_<PyAttributeList>& cls) {
  cls.def_prop_ro(
         "party", [](const PyAttributeList& self) { return str_of(self.party.list.party()); },
         "The party's name.")
      .def_prop_ro(
          "engine",
          [](const PyAttributeList& self) -> nb::object {
            return self.party.engine ? str_of(self.party.engine->name())
                                     : str_of(self.party.list.engine());
          },
          nb::sig("def engine(self) -> str"), "The engine's name; empty without one.")
      .def_prop_ro(
          "process", [](const PyAttributeList& self) { return self.party.list.process(); },
          "Id of the process; 0: not given.")
      .def_prop_ro(
          "optional",
          [](const PyAttributeList& self) { return self.party.list.optional_priority(); },
          nb::sig("def optional(self) -> int | None"),
          "The priority of a party that may be left out; None: it is needed.")
      .def_prop_ro(
          "attributes",
          [](const PyAttributeList& self) { return dict_of(self.party.list.attributes()); },
          nb::sig("def attributes(self) -> dict[str, str]"),
          "The values that were set, with units: {\"t.row_align\": \"64 B\"}.")
      .def_prop_ro("alternatives", &alternatives_of,
                   nb::sig("def alternatives(self) -> list[tuple[str, int, dict[str, str]]]"),
                   "Accepted layouts, their costs, and the values of each.")
      .def(
          "copy", [](const PyAttributeList& self) { return PyAttributeList(self); },
          "An independent copy.")
      .def("__repr__", [](nb::handle_t<PyAttributeList> self) {
        const AttributeList& list = list_of(self).party.list;
        return "AttributeList(" + text_of(nb::repr(str_of(list.party()))) + ", " +
               std::to_string(list.attributes().size()) + " keys)";
      });
}

void bind_class(nb::module_& m) {
  nb::class_<PyAttributeList> cls(m, "AttributeList", attributes_doc);
  add_setting(cls);
  add_facts(cls);
}

}  // namespace

std::vector<EngineParty> parties_from(nb::handle object, const char* argument) {
  std::vector<EngineParty> parties;
  constexpr std::size_t maximum = 1024;
  const std::size_t count =
      for_each_item(object, argument, "AttributeLists", maximum, [&](nb::handle item, std::size_t) {
        const PyAttributeList* list = nullptr;
        if (!nb::try_cast(item, list) || list == nullptr)
          raise_wrong_type(argument, "AttributeLists", item);
        parties.push_back(list->party);
      });
  if (count > maximum)
    raise(Errc::invalid_argument, std::string(argument) + ": at most 1024 lists");
  return parties;
}

std::vector<AttributeList> lists_from(nb::handle object, const char* argument) {
  std::vector<AttributeList> lists;
  for (EngineParty& each : parties_from(object, argument)) {
    if (each.engine)
      raise(Errc::invalid_argument, std::string(argument) + ": the engine of " + each.list.party() +
                                        " is asked by reconcile() alone");
    lists.push_back(std::move(each.list));
  }
  return lists;
}

std::vector<const AttributeList*> pointers_to(const std::vector<AttributeList>& lists) {
  std::vector<const AttributeList*> pointers;
  for (const AttributeList& each : lists)
    pointers.push_back(&each);
  return pointers;
}

nb::bytes bytes_of(std::span<const std::byte> bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

void bind_attribute_list(nb::module_& m) {
  bind_class(m);
  m.def(
      "parties_from_json", &parties_from_text, nb::arg("parties"),
      nb::sig("def parties_from_json(parties: str | Mapping[str, Any]) -> list[AttributeList]"),
      "The lists of a file of parties, as `halyard negotiate` reads it: its text, or the object\n"
      "in it. Raises DataError (malformed JSON), InvalidArgumentError, MissingFileError (a key or\n"
      "an engine); the message names the party.");
  m.def(
      "encode_lists",
      [](nb::handle lists) { return bytes_of(take(encode_lists(lists_from(lists, "lists")))); },
      nb::arg("lists"), nb::sig("def encode_lists(lists: Iterable[AttributeList]) -> bytes"),
      "Lists as bytes, for the process that reconciles; the order does not matter. Raises\n"
      "CapacityError above 65536 bytes, InvalidArgumentError for lists with an engine.");
  m.def("decode_lists", &decode, nb::arg("blob"),
        nb::sig("def decode_lists(blob: Buffer) -> list[AttributeList]"),
        "The lists of encode_lists(), from anybody. Raises DataError (damaged, another version),\n"
        "UnsupportedError (an unknown key that must be understood), and as AttributeList.set().");
  bind_reconciled(m);
  bind_negotiated_buffer(m);
  bind_buffer_exchange(m);
}

}  // namespace halyard::python
