// Lists of fields, each beside its struct; json_fields.h says what reads them.
#pragma once

#include <nlohmann/json.hpp>

// visit("member", value.member) for each member.
#define TORCH_IR_VISIT_MEMBER(member) visit(#member, value.member);
#define TORCH_IR_VISIT(...) \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(TORCH_IR_VISIT_MEMBER, __VA_ARGS__))

#define TORCH_IR_FIELDS(Struct, ...)               \
  template <class Visit>                           \
  void fields(const Visit& visit, Struct& value) { \
    TORCH_IR_VISIT(__VA_ARGS__)                    \
  }
