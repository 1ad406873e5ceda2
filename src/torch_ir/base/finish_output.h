// finish_output: the end of a program that printed.
#pragma once

#include <iosfwd>
#include <string>

namespace torch_ir {

// Flushes `out`, and returns whether all could be written. Where it could not, `err` is told, in
// the name of `program`; but a reader of the standard output that left early, as head does, wanted
// no more, and nothing failed.
bool finish_output(std::ostream& out, std::ostream& err, const std::string& program);

// Whether `descriptor` is a pipe or a socket that nobody reads.
bool is_closed_pipe(int descriptor);

}  // namespace torch_ir
