#include "torch_ir/base/foreign_file.h"

#include <gtest/gtest.h>

#include <utility>

namespace torch_ir {
namespace {

TEST(ForeignFileTest, FilesAreKnownByTheirFirstBytesAndArchivesByTheirEntries) {
  // The first bytes of files that other programs wrote.
  std::string tar(512, 'x');
  tar.replace(257, 5, "ustar");
  const std::pair<std::string, const char*> files[] = {
      {std::string("GGUF\x03\0\0\0", 8) + std::string(8, '\0'),
       "is a GGUF file of llama.cpp; use "},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0", "is a Git LFS pointer, not "},
      {std::string("\x08\x0a\x12\x07pytorch\x1a"), "is an ONNX model; use "},
      {std::string("\x08\x08:\x97\x02\n"), "is an ONNX model; use "},
      {std::string("\x08\x0e(\x03"), "is an ONNX model or another protobuf; use "},
      {std::string("\x08\x05\x12\x26\n\x0d\n\x05image"), "is a Core ML model; use "},
      {std::string("\x08\x01\x12\xcf\xca"), "is a SavedModel of TensorFlow; do this"},
      {std::string("\x1c\0\0\0TFL3", 8), "is a TensorFlow Lite model; do this"},
      {std::string("\x1c\0\0\0ET12", 8), "is a program of ExecuTorch, "},
      {"\x89HDF\r\n\x1a\n", "is an HDF5 file, "},
      {std::string("\x80\x04\x95\x10"), "is a pickle, "},
      {std::string("\x40\0\0\0\0\0\0\0{\"w\"", 12), "is a safetensors file, "},
      {"\x1f\x8b\x08", "is compressed by gzip; unpack it first"},
      {"\177ELF\x02", "is a shared library or a program, "},
      {tar, "is a tar archive; unpack it first"},
      {"<!DOCTYPE html>", "is a web page; download the file itself"},
  };
  for (const auto& [content, text] : files) {
    const std::string described = describe_foreign_file(content, "do this");
    EXPECT_TRUE(described.starts_with(text)) << described << ", expected " << text;
  }
  EXPECT_EQ(describe_foreign_file("", "do this"), "is empty; do this");
  for (const char* other : {"{}", "  {\"nodes\": []}", "text", "G", "\x08"}) {
    EXPECT_EQ(describe_foreign_file(other, "do this"), "") << other;
  }
  EXPECT_EQ(describe_foreign_archive({"m/data/aotinductor/model/a.so", "m/archive_format"}, "do"),
            "is a package of AOTInductor, compiled code without a graph; do");
  EXPECT_EQ(describe_foreign_archive({"w.npy", "b.npy"}, "do"),
            "is an archive of NumPy arrays (.npz); load it in Python, and write the tensors with "
            "safetensors.torch.save_file");
  EXPECT_EQ(describe_foreign_archive({"notes.txt"}, "do"), "");
}

}  // namespace
}  // namespace torch_ir
