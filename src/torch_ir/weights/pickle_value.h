// What a pickle holds, as plain data.
//
// Made by pickle.h and torch_file.h; read by whoever looks for weights, constants or example
// inputs. A value is a finite tree: at most kMaxDepth levels deep, without cycles, and with at most
// kMaxTreeSize values when each is counted as often as it is met. So readers may recurse. Values
// met twice in a pickle are one object here too.
#pragma once

#include <ATen/core/Tensor.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace torch_ir {

struct PickleValue {
  static constexpr size_t kMaxDepth = 200;
  static constexpr size_t kMaxTreeSize = 10'000'000;

  using Pointer = const PickleValue*;

  struct None {};
  // A number that needs more than 64 bits, in hexadecimal ("-0x1ffffffffffffffff").
  struct BigInteger {
    std::string text;
  };
  struct Bytes {
    std::string content;
  };
  // Also torch.Size.
  struct Tuple {
    std::vector<Pointer> items;
  };
  struct List {
    std::vector<Pointer> items;
  };
  // Also frozen ones; in the order of the file.
  struct Set {
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
  // torch.device: "cpu", "cuda:0".
  struct Device {
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
  // device", "a NumPy scalar". A reader that needs it refuses it by this name.
  struct Unsupported {
    std::string what;
    bool is_tensor = false;
  };

  std::variant<None, bool, int64_t, BigInteger, double, std::complex<double>, std::string, Bytes,
               Tuple, List, Set, Dict, Name, Device, Object, at::Tensor, Storage, Unsupported>
      value = None();

  // The value when it has this type, or null: `value.get_if<PickleValue::Dict>()`.
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value);
  }
  bool is_none() const { return get_if<None>() != nullptr; }

  // The value under a string key of a dict, or an attribute of an object; null when there is none
  // and when this is neither. Looks at one item after the other.
  Pointer find(std::string_view key) const;

  // "a dict", "a tensor", "an int", "a sparse tensor", "torch.float32": for messages.
  std::string kind() const;
};

// A value with all that it refers to. Whoever keeps it keeps the whole pickle.
using PickleDocument = std::shared_ptr<const PickleValue>;

}  // namespace torch_ir
