// What fuzz targets share: what counts as passing, files in memory, and mutations that keep the
// structure of what they change.
//
// A target is a source X_fuzz.cc here with LLVMFuzzerTestOneInput, and the line of X in
// `fuzz_seeds` of the room that it tests. It may have an LLVMFuzzerCustomMutator, which calls
// mutate_input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>

namespace torch_ir {

inline std::string_view input_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Runs `read`, which may return or throw Error with a message that a terminal can show: UTF-8
// without control characters, in lines. Anything else ends the process, which is what a fuzzer
// notices.
void expect_result_or_error(const std::function<void()>& read);

// Ends the process for an input that was read as what it is not.
[[noreturn]] void fail_input(const std::string& what);

// The path of a file that has `content`, and no place on the disk; there is one at a time.
const std::string& file_in_memory(std::string_view content);

// A folder, empty at first, that lasts as long as the process.
const std::string& scratch_folder();

void overwrite_file(const std::string& path, std::string_view content);

using RandomBits = std::minstd_rand;

// Changes a text, or gives the same text back where it is not of the form that it knows.
using InputMutation = std::string (*)(const std::string& text, RandomBits& random);

// Of bytes, as libFuzzer does it.
std::string mutate_bytes(const std::string& bytes, RandomBits& random);
// Of JSON: values are replaced by others of the text, by numbers at the limits, moved, repeated,
// left out, nested.
std::string mutate_json(const std::string& text, RandomBits& random);
// Of the entries of a zip archive: their contents, JSON as such, their names, their number.
// Checksums are right.
std::string mutate_zip(const std::string& archive, RandomBits& random);
// Of the header of a safetensors file, whose length is right, as JSON.
std::string mutate_safetensors(const std::string& file, RandomBits& random);

// What LLVMFuzzerCustomMutator is to do: mostly `mutation`, sometimes mutate_bytes.
size_t mutate_input(uint8_t* data, size_t size, size_t max_size, unsigned seed,
                    InputMutation mutation);

}  // namespace torch_ir
