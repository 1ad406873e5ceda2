#include "torch_ir/weights/pt.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

// What a zip archive of LibTorch holds, by its records.
enum class ArchiveKind { kModule, kPickle, kOther };

ArchiveKind archive_kind(const std::string& path) {
  caffe2::serialize::PyTorchStreamReader reader(path);
  if (reader.hasRecord("constants.pkl")) return ArchiveKind::kModule;
  return reader.hasRecord("data.pkl") ? ArchiveKind::kPickle : ArchiveKind::kOther;
}

StateDict read_module(const std::string& path) {
  const torch::jit::Module module = torch::jit::load(path, c10::Device(c10::kCPU));
  StateDict tensors;
  for (const auto& parameter : module.named_parameters()) {
    tensors.insert(parameter.name, parameter.value.detach());
  }
  for (const auto& buffer : module.named_buffers()) tensors.insert(buffer.name, buffer.value);
  return tensors;
}

StateDict read_dict(const c10::IValue& value) {
  if (!value.isGenericDict()) {
    throw WeightError(fmt::format("holds a {} instead of a dict from names to tensors",
                                  value.type()->repr_str()));
  }
  StateDict tensors;
  for (const auto& item : value.toGenericDict()) {
    if (!item.key().isString()) {
      throw WeightError(fmt::format("holds a dict whose keys are of type {} instead of str",
                                    item.key().type()->repr_str()));
    }
    if (!item.value().isTensor()) {
      throw WeightError(fmt::format("holds a {} under '{}' instead of a tensor",
                                    item.value().type()->repr_str(), item.key().toStringRef()));
    }
    tensors.insert(item.key().toStringRef(), item.value().toTensor());
  }
  return tensors;
}

// None where LibTorch's unpickler meets what it does not know, such as an OrderedDict of Python.
c10::IValue unpickle(const std::string& content) {
  try {
    return torch::jit::pickle_load({content.begin(), content.end()});
  } catch (const c10::Error&) {
    return {};
  }
}

StateDict read_pickle(const std::string& path) {
  const c10::IValue value = unpickle(read_file(path));
  if (!value.isNone()) return read_dict(value);
  throw WeightError(
      "holds no plain dict from names to tensors that LibTorch can read. Write it in Python with "
      "safetensors.torch.save_file(model.state_dict(), FILE)");
}

StateDict read_archive(const std::string& path) {
  switch (archive_kind(path)) {
    case ArchiveKind::kModule:
      return read_module(path);
    case ArchiveKind::kPickle:
      return read_pickle(path);
    case ArchiveKind::kOther:
      break;
  }
  throw WeightError("is a zip archive, but holds neither data.pkl nor a module");
}

}  // namespace

StateDict load_weights_pt(const std::string& path) {
  try {
    MappedFile::open(path);  // LibTorch's own words for a missing file are a page long.
  } catch (const Error& error) {
    throw WeightError(error.what());
  }
  try {
    return read_archive(path);
  } catch (const WeightError& error) {
    throw WeightError(fmt::format("'{}' {}", path, error.what()));
  } catch (const c10::Error& error) {
    throw WeightError(fmt::format("'{}' can not be read as a .pt file: {}", path,
                                  error.what_without_backtrace()));
  }
}

}  // namespace torch_ir
