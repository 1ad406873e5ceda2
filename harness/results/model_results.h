// ModelResults: the results of a run, of which one at a time is in memory.
//
// The runner adds each as its model finishes; the reports and whoever called the harness read them,
// from the first to the last and as often as they like. A result is put away as bytes, in a file
// without a name where the run is large, and made anew whenever it is looked at: what stays is its
// name, its status and its place, so that a run of many models takes no more memory than one of
// few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/results/result.h"

namespace torch_ir {

class ModelResults {
 public:
  // Over the results, each of which lives as long as the iterator stands on it.
  class Iterator;

  // In memory.
  ModelResults();
  ModelResults(std::initializer_list<ModelResult> results);
  ModelResults(const std::vector<ModelResult>& results);
  // In a file in `directory`, which this object keeps when the folder goes. Throws Error.
  explicit ModelResults(const std::string& directory);

  // Keeps `result`, all but its graph, of which the summary is enough. They are read in the order
  // of their `rank`, and those of equal rank as they came. Throws Error when it can not be written.
  void add(ModelResult result, size_t rank = 0);

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // Throw Error when they can not be read.
  ModelResult operator[](size_t index) const;
  Iterator begin() const;
  Iterator end() const;

  // Without reading any.
  std::vector<std::string> names() const;
  std::optional<size_t> find(std::string_view name) const;
  int64_t count(Status status) const;

 private:
  class Bytes;

  struct Entry {
    size_t rank = 0;
    std::string name = {};
    Status status = Status::kPassed;
    int64_t begin = 0;
    size_t size = 0;
  };

  // Only added to, and shared by copies.
  std::shared_ptr<Bytes> bytes_;
  std::vector<Entry> entries_;
};

class ModelResults::Iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = ModelResult;
  using difference_type = std::ptrdiff_t;

  Iterator() = default;
  Iterator(const ModelResults& results, size_t index) : results_(&results), index_(index) {
    read();
  }

  const ModelResult& operator*() const { return *result_; }
  const ModelResult* operator->() const { return &*result_; }
  Iterator& operator++() {
    ++index_;
    read();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(const Iterator& other) const { return index_ == other.index_; }

 private:
  void read() {
    result_.reset();
    if (index_ < results_->size()) result_ = (*results_)[index_];
  }

  const ModelResults* results_ = nullptr;
  size_t index_ = 0;
  std::optional<ModelResult> result_;
};

inline ModelResults::Iterator ModelResults::begin() const { return Iterator(*this, 0); }
inline ModelResults::Iterator ModelResults::end() const { return Iterator(*this, size()); }

}  // namespace torch_ir
