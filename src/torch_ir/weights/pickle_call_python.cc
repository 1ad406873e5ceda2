// Calls of Python's own classes and functions.
#include <utility>

#include "torch_ir/weights/pickle_call.h"
#include "torch_ir/weights/pickle_text.h"

namespace torch_ir {
namespace {

using Dict = PickleValue::Dict;
using Items = std::vector<PickleValue::Pointer>;

// The items of a list, a tuple or a set; null for anything else.
const Items* items_of(const PickleValue& value) {
  if (const auto* list = value.get_if<PickleValue::List>()) return &list->items;
  if (const auto* tuple = value.get_if<PickleValue::Tuple>()) return &tuple->items;
  if (const auto* set = value.get_if<PickleValue::Set>()) return &set->items;
  return nullptr;
}

const Items& get_items(const PickleCall& call, size_t index) {
  const Items* items = items_of(*call.arguments[index]);
  if (items == nullptr) fail_argument(call, index);
  call.arena.charge(items->size() * sizeof(PickleValue::Pointer));
  return *items;
}

// The bytes of a text whose characters are all below U+0100: how pickles before protocol 3 have
// bytes.
std::string latin1_bytes(const PickleCall& call, const std::string& text) {
  call.arena.charge(text.size());
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
      bytes += static_cast<char>(lead << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    } else {
      fail_call(call, "a text that is not Latin-1");
    }
  }
  return bytes;
}

std::string encode(const PickleCall& call) {
  const auto& text = get_argument<std::string>(call, 0);
  const auto& encoding = get_argument<std::string>(call, 1);
  if (encoding == "latin1" || encoding == "latin-1") return latin1_bytes(call, text);
  if (encoding != "utf-8" && encoding != "utf8") fail_call(call, "an encoding other than Latin-1");
  call.arena.charge(text.size());
  return text;
}

double get_number(const PickleCall& call, size_t index) {
  const PickleValue& value = *call.arguments[index];
  if (const auto* integer = value.get_if<int64_t>()) return static_cast<double>(*integer);
  return get_argument<double>(call, index);
}

PickleValue* make_bytes(const PickleCall& call, std::string content) {
  return call.arena.make({PickleValue::Bytes{std::move(content)}});
}

}  // namespace

PickleValue* call_dict(const PickleCall& call) {
  check_count(call, 0, 1);
  if (call.arguments.empty()) return call.arena.make({Dict()});
  if (const auto* other = call.arguments[0]->get_if<Dict>()) {
    call.arena.charge(other->items.size() * sizeof(other->items[0]));
    return call.arena.make({*other});
  }
  Dict dict;
  for (const PickleValue* item : get_items(call, 0)) {
    const Items* pair = items_of(*item);
    if (pair == nullptr || pair->size() != 2) fail_call(call, item->kind() + " as an item");
    call.arena.charge(sizeof(dict.items[0]));
    dict.items.emplace_back((*pair)[0], (*pair)[1]);
  }
  return call.arena.make({std::move(dict)});
}

PickleValue* call_default_dict(const PickleCall& call) {
  check_count(call, 0, 1);
  return call.arena.make({Dict()});
}

PickleValue* call_set(const PickleCall& call) {
  check_count(call, 0, 1);
  if (call.arguments.empty()) return call.arena.make({PickleValue::Set()});
  return call.arena.make({PickleValue::Set{get_items(call, 0)}});
}

PickleValue* call_bytes(const PickleCall& call) {
  check_count(call, 0, 2);
  if (call.arguments.empty()) return make_bytes(call, {});
  if (call.arguments.size() == 2) return make_bytes(call, encode(call));
  const std::string& content = get_argument<PickleValue::Bytes>(call, 0).content;
  call.arena.charge(content.size());
  return make_bytes(call, content);
}

PickleValue* call_encode(const PickleCall& call) {
  check_count(call, 2, 2);
  return make_bytes(call, encode(call));
}

PickleValue* call_complex(const PickleCall& call) {
  check_count(call, 2, 2);
  return call.arena.make({std::complex<double>(get_number(call, 0), get_number(call, 1))});
}

}  // namespace torch_ir
