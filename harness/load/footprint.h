// What a piece of a load takes: time, memory from malloc and from the system, descriptors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/benchmark/allocation_counter.h"

namespace torch_ir {

struct Footprint {
  double seconds = 0;
  // Nothing where nobody can count them, as under a sanitizer, which also keeps what is freed: no
  // bound on memory is checked then, and the figures say so.
  std::optional<Allocations> allocations = std::nullopt;
  // What the process had in memory before and after, in bytes.
  int64_t resident_before = 0;
  int64_t resident_after = 0;

  int64_t resident_growth() const { return resident_after - resident_before; }
  // The most that it took, as far as that is known.
  int64_t peak_bytes() const { return allocations ? allocations->peak_bytes : resident_growth(); }
};

Footprint measure(const std::function<void()>& action);

// "12.3 s, heap 2 MiB at most, 16 B left, resident 210 MiB -> 211 MiB".
std::string footprint_text(const Footprint& footprint);

// Throws Error when more than `bytes` are left behind on the heap, or much more than that in
// memory, where they are counted.
void require_flat(const Footprint& footprint, int64_t bytes);

// The files, pipes and sockets that this process has open.
int64_t count_descriptors();

// "1.5 MiB", "12 B".
std::string size_text(double bytes);

}  // namespace torch_ir
