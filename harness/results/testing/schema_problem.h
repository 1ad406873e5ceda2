// What the schema of results.json has against a file: for tests that write one.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace torch_ir {

// Visits every object in `value`.
void for_each_object(nlohmann::json& value, const std::function<void(nlohmann::json&)>& visit);

// Empty when `results` are valid. The schema lets keys be added; here all of them have to be in it.
std::string schema_problem(const nlohmann::json& results);

}  // namespace torch_ir
