#include "harness/report/finding.h"

#include <fmt/format.h>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

// Where a graph that ends its process was cut down to a part.
std::string place_text(const Reproducer& part) {
  if (part.first_node == part.last_node) return "node " + part.first_node;
  return fmt::format("{}, {} to {}", counted(part.num_nodes, "node"), part.first_node,
                     part.last_node);
}

// "crashed in execute: ...", "execute failed: ...", with the first line of the message.
std::string failure_line(const Failure& failure) {
  const std::string_view kind = failure_kind_name(failure.kind);
  const std::string_view stage = stage_name(failure.stage);
  std::string line(kind);
  // Most kinds contain the name of their stage.
  if (!kind.starts_with(stage)) line.append(" in ").append(stage);
  return line + ": " + headline(failure.message);
}

Finding at_value(const ValueDetail& value) {
  return {short_operator(value.op_type), place_text(value), cause_text(value)};
}

Finding of_failure(const Result& result) {
  const Failure& failure = *result.failure;
  const bool is_mismatch = failure.kind == FailureKind::kOutputMismatch;
  if (is_mismatch && result.nodes && result.nodes->first_divergence) {
    return at_value(result.nodes->first_divergence->node);
  }
  if (result.call) {
    const std::string text = result.own_error ? systematic_text(*result.own_error) : "";
    return {.op = short_operator(result.call->op_type),
            .cause = !text.empty() ? text
                                   : first_clause(is_mismatch ? headline(failure.message)
                                                              : failure_line(failure))};
  }
  const bool has_place = result.reproducer && !result.is_reproduced_by_whole_graph();
  const std::string place = has_place ? place_text(*result.reproducer) : "";
  const Trial* worst = result.worst_trial();
  if (!is_mismatch || worst == nullptr) return {.place = place, .cause = failure_line(failure)};
  if (const std::string& problem = worst->verification.graph_problem; !problem.empty()) {
    return {.place = place,
            .cause = "the graph does not match the model: " + first_clause(problem)};
  }
  for (const ValueDetail& output : worst->verification.output_details) {
    if (!output.problem.empty()) {
      const bool is_agreed = worst->verification.criterion.agreed.has_value();
      return {.place = place.empty() ? "output " + output.value : place,
              .cause = is_agreed ? output.problem : cause_text(output)};
    }
  }
  return {.place = place, .cause = headline(failure.message)};
}

// Escapes what would end a property or a line of a workflow command.
std::string in_command(const std::string& text, bool is_property) {
  std::string safe;
  for (const char c : text) {
    const bool is_special =
        c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
    safe += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return safe;
}

}  // namespace

std::string Finding::what() const {
  return op.empty() || cause.empty() ? op + cause : op + ", " + cause;
}

std::string Finding::text() const {
  // An error, which has no statistics, says by itself what to do.
  if (place.empty()) return printable(cause);
  // Of both, the cause is the more important.
  constexpr size_t kMaxCause = 100;
  const std::string how =
      cause.empty() ? "" : ": " + printable(printable(cause, SIZE_MAX), kMaxCause);
  constexpr size_t kDots = 3;
  return printable(printable(place, SIZE_MAX), kMaxFinding - how.size() - kDots) + how;
}

Finding finding_of(const Result& result) {
  const bool is_mismatch = result.failure && result.failure->kind == FailureKind::kOutputMismatch;
  if (is_mismatch && !result.varies.empty()) {
    Finding finding = of_failure(result);
    // The part that failed may be any.
    if (!result.nodes || !result.nodes->first_divergence) finding.place.clear();
    finding.cause = "differs from run to run (" + result.varies + "), " + finding.cause;
    return finding;
  }
  if (result.failure) return of_failure(result);
  if (result.status() == Status::kUnexpectedPass) {
    return {.cause =
                "passes, but is expected to fail: " + expectation_text(*result.expected_failure)};
  }
  if (result.nodes && !result.nodes->exonerated.empty()) {
    Finding finding = at_value(result.nodes->exonerated.front());
    finding.cause = "was only returned wrong, " + finding.cause;
    return finding;
  }
  return {.op = result.call ? short_operator(result.call->op_type) : "", .cause = result.reason()};
}

std::string annotation(const Result& result) {
  std::string place;
  if (result.nodes && result.nodes->first_divergence) {
    // The line that is not in a package comes last.
    const std::string& source = result.nodes->first_divergence->node.source;
    constexpr std::string_view kCalled = ", called at ";
    const size_t called = source.rfind(kCalled);
    const size_t start = called == std::string::npos ? 0 : called + kCalled.size();
    const size_t colon = source.rfind(':');
    if (colon != std::string::npos) {
      place = fmt::format("file={},line={},",
                          in_command(printable(source.substr(start, colon - start)), true),
                          in_command(source.substr(colon + 1), true));
    }
  }
  return fmt::format("::error {}title={}::{}\n", place, in_command(printable(result.name), true),
                     in_command(finding_of(result).text(), false));
}

}  // namespace torch_ir
