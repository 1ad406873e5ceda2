#include "torch_ir/ir/json_document.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "torch_ir/base/limits.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {
namespace {

using Document = nlohmann::ordered_json;

// Takes values over, piece by piece. The parser has bounded how deep they lie in one another.
struct DocumentMaker {
  Document operator()(std::monostate) const { return nullptr; }
  template <class T>
  Document operator()(T& value) const {
    return std::move(value);
  }
  Document operator()(JsonValue::List& items) const {
    Document::array_t list;
    list.reserve(items.size());
    for (JsonValue& item : items) list.push_back(item.visit(*this));
    return list;
  }
  Document operator()(JsonValue::Object& items) const {
    Document::object_t object;
    object.reserve(items.size());
    // The keys differ, so none has to be looked for, as object[key] would.
    Document::object_t::Container& members = object;
    for (auto& [key, item] : items) members.emplace_back(std::move(key), item.visit(*this));
    return object;
  }
};

}  // namespace

Document parse_json_document(std::string_view text) {
  JsonValue root = parse_json(text, kMaxDocumentValues);
  return root.visit(DocumentMaker());
}

}  // namespace torch_ir
