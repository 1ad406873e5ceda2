// Shared code of fuzz targets: the check of an outcome, files in memory, and mutations that keep
// the structure of their input.
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
// without control characters, in lines. Anything else ends the process, so that a fuzzer notices
// it.
void expect_result_or_error(const std::function<void()>& read);

// Ends the process for an input that was handled wrongly.
[[noreturn]] void fail_input(const std::string& what);

// The path of a file in memory with `content`; only one exists at a time.
const std::string& file_in_memory(std::string_view content);

// A folder, empty at first, that lasts as long as the process.
const std::string& scratch_folder();

void overwrite_file(const std::string& path, std::string_view content);

using RandomBits = std::minstd_rand;

// Changes a text, or returns it unchanged if it does not have the expected form.
using InputMutation = std::string (*)(const std::string& text, RandomBits& random);

// Mutates bytes as libFuzzer does.
std::string mutate_bytes(const std::string& bytes, RandomBits& random);
// Mutates JSON: replaces values by others of the text or by numbers at the limits, and moves,
// repeats, removes or nests values.
std::string mutate_json(const std::string& text, RandomBits& random);
// Mutates the entries of a zip archive: their contents (JSON as above), names and number. Checksums
// stay valid.
std::string mutate_zip(const std::string& archive, RandomBits& random);
// Mutates the header of a safetensors file as JSON, with a valid length.
std::string mutate_safetensors(const std::string& file, RandomBits& random);

// The work of LLVMFuzzerCustomMutator: mostly `mutation`, sometimes mutate_bytes.
size_t mutate_input(uint8_t* data, size_t size, size_t max_size, unsigned seed,
                    InputMutation mutation);

}  // namespace torch_ir
