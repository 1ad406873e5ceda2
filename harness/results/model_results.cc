#include "harness/results/model_results.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/results/json_fields.h"
#include "harness/results/result_fields.h"
#include "torch_ir/base/error.h"

namespace torch_ir {

// What reports say of a value that a graph takes or gives.
template <class Visit>
void fields(const Visit& visit, TensorMeta& value) {
  visit("name", value.name);
  visit("shape", value.shape);
  visit("dtype", value.dtype);
  visit("symbolic_shape", value.symbolic_shape);
  visit("is_scalar", value.is_scalar);
}

template <class Visit>
void fields(const Visit& visit, IRSummary& summary) {
  std::vector<std::string> operators;
  std::vector<int64_t> counts;
  for (const auto& [name, count] : summary.op_distribution) {
    operators.push_back(name);
    counts.push_back(count);
  }
  visit("model_name", summary.model_name);
  visit("num_nodes", summary.num_nodes);
  visit("num_edges", summary.num_edges);
  visit("num_inputs", summary.num_inputs);
  visit("num_outputs", summary.num_outputs);
  visit("num_weights", summary.num_weights);
  visit("total_parameters", summary.total_parameters);
  visit("inputs", summary.inputs);
  visit("outputs", summary.outputs);
  visit("operators", operators);
  visit("counts", counts);
  if constexpr (Visit::kReads) {
    summary.op_distribution.clear();
    for (size_t i = 0; i < operators.size(); ++i) {
      summary.op_distribution.emplace_back(operators[i], counts.at(i));
    }
  }
}

template <class Visit>
void fields(const Visit& visit, GraphSummary& summary) {
  visit("figures", summary.figures);
  visit("costs", summary.costs);
  visit("fingerprint", summary.fingerprint);
}

// A result, and what of it results.json does not have.
struct KeptResult {
  ModelResult result = {};
};

template <class Visit>
void fields(const Visit& visit, KeptResult& kept) {
  visit("result", kept.result);
  visit("num_passed_stages", kept.result.num_passed_stages);
  visit("summary", kept.result.summary);
  visit("picture_problem", kept.result.picture_problem);
}

using ResultBytes = std::vector<uint8_t>;

// In memory, or in a file.
class ModelResults::Bytes {
 public:
  Bytes() = default;
  explicit Bytes(const std::string& directory) : path_(directory + "/results") {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor_ < 0) fail("write");
    ::unlink(path_.c_str());
  }
  ~Bytes() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  // Where they begin.
  int64_t append(const ResultBytes& bytes) {
    if (descriptor_ < 0) {
      memory_.insert(memory_.end(), bytes.begin(), bytes.end());
    } else {
      transfer(bytes.size(), "write", [&](size_t done) {
        return ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                        size_ + static_cast<int64_t>(done));
      });
    }
    return std::exchange(size_, size_ + static_cast<int64_t>(bytes.size()));
  }

  ResultBytes read(int64_t begin, size_t size) const {
    if (descriptor_ < 0) {
      const auto first = memory_.begin() + begin;
      return {first, first + static_cast<int64_t>(size)};
    }
    ResultBytes bytes(size);
    transfer(size, "read", [&](size_t done) {
      return ::pread(descriptor_, bytes.data() + done, size - done,
                     begin + static_cast<int64_t>(done));
    });
    return bytes;
  }

 private:
  template <class Step>
  void transfer(size_t size, const char* what, const Step& step) const {
    for (size_t done = 0; done < size;) {
      const ssize_t more = step(done);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) fail(what);
      done += static_cast<size_t>(more);
    }
  }
  [[noreturn]] void fail(const char* what) const {
    throw Error(std::string("cannot ") + what + " '" + path_ + "': " + strerror(errno));
  }

  std::string path_;
  int descriptor_ = -1;
  ResultBytes memory_;
  int64_t size_ = 0;
};

ModelResults::ModelResults() : bytes_(std::make_shared<Bytes>()) {}

ModelResults::ModelResults(const std::string& directory)
    : bytes_(std::make_shared<Bytes>(directory)) {}

ModelResults::ModelResults(const std::vector<ModelResult>& results) : ModelResults() {
  for (const ModelResult& result : results) add(result);
}

ModelResults::ModelResults(std::initializer_list<ModelResult> results)
    : ModelResults(std::vector<ModelResult>(results)) {}

void ModelResults::add(ModelResult result, size_t rank) {
  result.drop_graph();
  Entry entry{.rank = rank, .name = result.name, .status = result.status()};
  // Text may be any bytes in it, and numbers stay what they are.
  const ResultBytes bytes =
      json_fields::Json::to_msgpack(json_fields::write(KeptResult{std::move(result)}));
  entry.begin = bytes_->append(bytes);
  entry.size = bytes.size();
  entries_.insert(std::ranges::upper_bound(entries_, rank, {}, &Entry::rank), std::move(entry));
}

ModelResult ModelResults::operator[](size_t index) const {
  const Entry& entry = entries_.at(index);
  KeptResult kept;
  json_fields::read(json_fields::Json::from_msgpack(bytes_->read(entry.begin, entry.size)), kept);
  return std::move(kept.result);
}

std::vector<std::string> ModelResults::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

std::optional<size_t> ModelResults::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found == entries_.end()) return std::nullopt;
  return static_cast<size_t>(found - entries_.begin());
}

int64_t ModelResults::count(Status status) const {
  return std::ranges::count(entries_, status, &Entry::status);
}

}  // namespace torch_ir
