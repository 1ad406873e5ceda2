// What a pickle holds, as plain data.
//
// Made by pickle.h and torch_file.h; read by whoever looks for weights, constants or example
// inputs. A value is a finite tree: at most kMaxPickleDepth levels deep, without cycles, and with
// at most kMaxPickleTreeSize values when each is counted as often as it is met (limits.h). So
// readers may recurse. Values met twice in a pickle are one object here too.
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
  // Also collections.OrderedDict, whose attributes (`_metadata`) are left out. In order; of equal
  // strings or integers as keys there is one, with the value that was set last.
  struct Dict {
    std::vector<std::pair<Pointer, Pointer>> items;
  };
  // A name of Python that is a value: "torch.float32", "torch.strided", "torch.per_tensor_affine",
  // "torch.preserve_format".
  struct Name {
    std::string text;
  };
  // An object of TorchScript, as its attributes.
  struct Object {
    std::string class_name;
    std::vector<std::pair<std::string, Pointer>> attributes;
  };
  // A storage without a tensor; its bytes are not read.
  struct Storage {
    size_t number;
  };
  // Known, harmless and not read: "a sparse tensor", "a quantized tensor", "a tensor on the meta
  // device", "a NumPy scalar", "bytes", "a set". A reader that needs it refuses it by this name.
  struct Unsupported {
    std::string what;
    bool is_tensor = false;
  };

  std::variant<None, bool, int64_t, double, std::string, Tuple, List, Dict, Name, Object,
               at::Tensor, Storage, Unsupported>
      value = None();

  // The value when it has this type, or null: `value.get_if<PickleValue::Dict>()`.
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value);
  }
  bool is_none() const { return get_if<None>() != nullptr; }
  // Whether it is a tensor, be it one that is not read.
  bool is_tensor() const;

  // The value under a string key of a dict, or an attribute of an object; null when there is none
  // and when this is neither. Looks at one item after the other.
  Pointer find(std::string_view key) const;

  // "a dict", "a tensor", "an int", "a sparse tensor", "torch.float32": for messages.
  std::string kind() const;
};

// A value with all that it refers to. Whoever keeps it keeps the whole pickle.
using PickleDocument = std::shared_ptr<const PickleValue>;

// The memory of one pickle. All its values lie here and point to each other, so cycles and depth
// cost nothing when they die. What a file can ask for is limited: it may name one thing in a few
// bytes and have it copied a million times.
class PickleArena {
 public:
  PickleArena();
  PickleArena(const PickleArena&) = delete;
  PickleArena& operator=(const PickleArena&) = delete;

  // A new value, which lives as long as the arena. Throws WeightError where there are too many.
  PickleValue* make(PickleValue value);
  // The one None, True and False.
  PickleValue* none() { return none_; }
  PickleValue* boolean(bool value) { return value ? true_ : false_; }

  // Counts `bytes` that a value will hold. Throws WeightError where they are too many.
  void charge(size_t bytes);

 private:
  std::deque<PickleValue> values_;
  size_t charged_ = 0;
  PickleValue* none_;
  PickleValue* true_;
  PickleValue* false_;
};

// Makes the values below `root` what is promised above: of equal keys of a dict one is left. Throws
// WeightError for a cycle and where there are too many levels or too many values.
void check_tree(PickleValue& root);

// Where below `root` the value is, such as "['model']['fc.weight']"; the first place of several.
// Empty where it is not.
std::string find_place(const PickleValue& root, const PickleValue& value);

}  // namespace torch_ir
