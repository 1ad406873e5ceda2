#include "torch_ir/base/foreign_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace torch_ir {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kDownload = "download the file itself";
constexpr std::string_view kOriginal = "use the PyTorch model that it was converted from";
constexpr std::string_view kSafetensors =
    "load it in Python, and write the tensors with safetensors.torch.save_file";

struct Format {
  // In files, '?' stands for any byte.
  std::string_view mark;
  std::string_view what;
  std::string_view advice = {};
  size_t position = 0;
};

// The first that fits counts. ONNX, Core ML and TensorFlow have no marks, but their first fields:
// a version, then a text or a message.
constexpr Format kFiles[] = {
    {"version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the file itself",
     "run 'git lfs pull' where it lies"},
    {"GGUF"sv, "a GGUF file of llama.cpp", kOriginal},
    {"?????\0\0\0{"sv, "a safetensors file, which holds weights but no graph"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file, as Keras writes weights", kSafetensors},
    {"\x93NUMPY"sv, "an array of NumPy", kSafetensors},
    {"\x80?"sv, "a pickle, which holds Python objects but no graph"},
    {"\x08\x01\x12"sv, "a SavedModel of TensorFlow"},
    {"\x08?\x12?\n"sv, "a Core ML model", kOriginal},
    {"\x08?\x12"sv, "an ONNX model", kOriginal},
    {"\x08?\x3a"sv, "an ONNX model", kOriginal},
    {"TFL3"sv, "a TensorFlow Lite model", {}, 4},
    {"ORTM"sv, "a model of ONNX Runtime", kOriginal, 4},
    {"ET1?"sv, "a program of ExecuTorch, compiled code without a graph", kOriginal, 4},
    {"\177ELF"sv, "a shared library or a program, compiled code without a graph"},
    {"\x1f\x8b"sv, "compressed by gzip", kUnpack},
    {"\x28\xb5\x2f\xfd"sv, "compressed by zstd", kUnpack},
    {"\3757zXZ\0"sv, "compressed by xz", kUnpack},
    {"BZh"sv, "compressed by bzip2", kUnpack},
    {"7z\xbc\xaf\x27\x1c"sv, "an archive of 7-Zip", kUnpack},
    {"ustar"sv, "a tar archive", kUnpack, 257},
    {"<!DOCTYPE"sv, "a web page", kDownload},
    {"<!doctype"sv, "a web page", kDownload},
    {"<html"sv, "a web page", kDownload},
    {"<?xml"sv, "an XML document"},
    {"\x08?"sv, "an ONNX model or another protobuf", kOriginal},
};

// Any part of a name in the archive.
constexpr Format kArchives[] = {
    {"data/aotinductor/", "a package of AOTInductor, compiled code without a graph"},
    {"/constants.pkl", "a TorchScript archive"},
    {"/code/", "a TorchScript archive"},
    {"/data.pkl", "a file of torch.save, which holds weights but no graph"},
    {".weights.h5", "a Keras model", kSafetensors},
    {".npy", "an archive of NumPy arrays (.npz)", kSafetensors},
    {".safetensors", "a zip archive of weights", kUnpack},
};

std::string describe(const Format& format, std::string_view advice) {
  return fmt::format("is {}; {}", format.what, format.advice.empty() ? advice : format.advice);
}

bool has_mark(std::string_view content, const Format& format) {
  if (content.size() < format.position) return false;
  return std::ranges::equal(content.substr(format.position, format.mark.size()), format.mark,
                            [](char byte, char mark) { return mark == '?' || byte == mark; });
}

}  // namespace

std::string describe_foreign_file(std::string_view content, std::string_view advice) {
  if (content.empty()) return describe({.mark = {}, .what = "empty"}, advice);
  for (const Format& format : kFiles) {
    if (has_mark(content, format)) return describe(format, advice);
  }
  return {};
}

std::string describe_foreign_archive(const std::vector<std::string>& entries,
                                     std::string_view advice) {
  for (const Format& format : kArchives) {
    const auto fits = [&](const std::string& entry) {
      return entry.find(format.mark) != entry.npos;
    };
    if (std::ranges::any_of(entries, fits)) return describe(format, advice);
  }
  return {};
}

}  // namespace torch_ir
