// JSON from outside as nlohmann's tree, within the limits of parse_json.
//
// For those who read with nlohmann's means: results and cases. Its own parser takes any number of
// values, the last of equal keys, and the square of the time for an object with many.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace torch_ir {

// Throws SerializationError, as parse_json, and for more than kMaxDocumentValues values.
nlohmann::ordered_json parse_json_document(std::string_view text);

}  // namespace torch_ir
