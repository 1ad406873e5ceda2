// The level `fast` as the core sees it: a library that registers itself where a program links it
// (torch_ir/fast).
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace torch_ir {

struct Trace;

// Rewrites a trace before its memory is planned.
using TraceRewrite = std::function<void(Trace& trace)>;

struct FastLevel {
  // The version of oneDNN; nothing if its library cannot be opened.
  std::optional<std::string> (*onednn_version)() = nullptr;
  // The traces that one of these rewrites share weights that it has packed.
  TraceRewrite (*make_rewrite)() = nullptr;
};

// Without the library, all of it is null.
FastLevel& fast_level();

// Thrown by a call of a rewritten trace that meets values for which only eager's arithmetic is
// right: NaN, infinities and numbers above 2^50.
struct NeedsExact : std::exception {
  // The node of the call, once it has left the replay.
  size_t node = 0;
};

}  // namespace torch_ir
