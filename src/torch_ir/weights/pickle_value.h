// The content of a pickle, as plain data.
//
// A value is a finite tree: without cycles, at most kMaxPickleDepth levels deep, and with at most
// kMaxPickleTreeSize values, counting shared values each time (limits.h), so readers may recurse.
// Values shared in a pickle are one object here too.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace torch_ir {

struct PickleValue {
  using Pointer = const PickleValue*;

  struct None {};
  // Also torch.Size.
  struct Tuple {
    std::vector<Pointer> items;
  };
  struct List {
    std::vector<Pointer> items;
  };
  // Also collections.OrderedDict, without attributes (`_metadata`). In order; for equal strings or
  // integers as keys, the last value wins.
  struct Dict {
    std::vector<std::pair<Pointer, Pointer>> items;
  };
  // A Python name that is a value: "torch.float32", "torch.strided", "torch.per_tensor_affine",
  // "torch.preserve_format".
  struct Name {
    std::string text;
  };
  // A TorchScript object, as its attributes.
  struct Object {
    std::string class_name;
    std::vector<std::pair<std::string, Pointer>> attributes;
  };
  // A storage without a tensor; its bytes are not read.
  struct Storage {
    size_t number;
  };
  // Known and harmless, but not read: "a sparse tensor", "a quantized tensor", "a tensor on the
  // meta device", "a NumPy scalar", "bytes", "a set". Readers that need it report it by this name.
  struct Unsupported {
    std::string what;
    bool is_tensor = false;
    // The class of an object, or the name of a function, that is not known and thus not read.
    std::string foreign = {};
    // What the pickle calls the class with and adds to the object, in order, with
    // ForeignNames::kOpened.
    std::vector<Pointer> parts = {};
  };
  // Tensors that have a shape and no values, as Unsupported::what.
  static constexpr const char* kMetaTensor = "a tensor on the meta device";
  static constexpr const char* kFakeTensor = "a tensor of FakeTensorMode";

  std::variant<None, bool, int64_t, double, std::string, Tuple, List, Dict, Name, Object,
               at::Tensor, Storage, Unsupported>
      value = None();

  // The value if it has this type, or null: `value.get_if<PickleValue::Dict>()`.
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value);
  }
  bool is_none() const { return get_if<None>() != nullptr; }
  // Also true for tensors that are not read.
  bool is_tensor() const;
  bool is_foreign() const;

  // The values under string keys of a dict, or the attributes of an object.
  std::vector<std::pair<std::string_view, Pointer>> members() const;
  // The first of these with the name `key`, or null. Searches linearly.
  Pointer find(std::string_view key) const;

  // "a dict", "a tensor", "an int", "a sparse tensor", "torch.float32": for messages.
  std::string kind() const;
};

// Whether names of Python that are not allowed are refused, kept as foreign values, or kept with
// the parts of their objects.
enum class ForeignNames { kRefused, kKept, kOpened };

// A value with all that it refers to. It keeps the whole pickle alive.
using PickleDocument = std::shared_ptr<const PickleValue>;

// The memory of one pickle. All its values lie here and point to each other, so cycles and depth
// cost nothing when they are freed. The memory is limited: a file may name one thing in a few bytes
// and have it copied a million times.
class PickleArena {
 public:
  PickleArena();
  PickleArena(const PickleArena&) = delete;
  PickleArena& operator=(const PickleArena&) = delete;

  // Makes a value that lives as long as the arena. Throws WeightError beyond the limit.
  PickleValue* make(PickleValue value);
  PickleValue* none() { return none_; }
  PickleValue* boolean(bool value) { return value ? true_ : false_; }

  // Counts `bytes` that a value will hold. Throws WeightError beyond the limit.
  void charge(size_t bytes);

 private:
  std::deque<PickleValue> values_;
  size_t charged_ = 0;
  PickleValue* none_;
  PickleValue* true_;
  PickleValue* false_;
};

// Makes the tree below `root` fit the description above; equal keys of a dict become one. Throws
// WeightError for a cycle, or for too many levels or values.
void check_tree(PickleValue& root);

// The first foreign value in `root`; null if there is none.
const PickleValue* find_foreign(const PickleValue& root);

// The first place of `value` below `root`, such as "['model']['fc.weight']"; empty if it is absent.
std::string find_place(const PickleValue& root, const PickleValue& value);

}  // namespace torch_ir
