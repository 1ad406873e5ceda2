// The main function of fuzz tests in builds without libFuzzer: it tries seeds, and a few inputs
// made from them.
//
// The inputs are the same in every run, so that a test that passes keeps passing. It takes the same
// arguments as libFuzzer: -seed_inputs=A,B, the files to begin with, and -runs=N, the number of
// inputs to make from them. Other files on the command line are tried instead. The input that ends
// the process is kept, to try it again here or under libFuzzer.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" [[gnu::weak]] int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" [[gnu::weak]] size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                                        unsigned seed);

namespace {

constexpr size_t kMaxSize = size_t{1} << 16;

std::mt19937_64& random_bits() {
  static std::mt19937_64 engine;
  return engine;
}

size_t random_below(size_t limit) { return limit == 0 ? 0 : random_bits()() % limit; }

// --- Mutations ---

using Bytes = std::vector<uint8_t>;

void flip_bit(Bytes& bytes) {
  if (!bytes.empty()) bytes[random_below(bytes.size())] ^= 1 << random_below(8);
}

void set_byte(Bytes& bytes) {
  constexpr std::array<uint8_t, 6> kInteresting = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
  if (!bytes.empty()) {
    bytes[random_below(bytes.size())] = kInteresting[random_below(kInteresting.size())];
  }
}

void erase_part(Bytes& bytes) {
  const size_t begin = random_below(bytes.size());
  const size_t size = random_below(std::min<size_t>(bytes.size() - begin, 64) + 1);
  bytes.erase(bytes.begin() + begin, bytes.begin() + begin + size);
}

void repeat_part(Bytes& bytes) {
  const size_t begin = random_below(bytes.size());
  const size_t size = random_below(std::min<size_t>(bytes.size() - begin, 64) + 1);
  const Bytes part(bytes.begin() + begin, bytes.begin() + begin + size);
  bytes.insert(bytes.begin() + random_below(bytes.size() + 1), part.begin(), part.end());
}

void insert_byte(Bytes& bytes) {
  bytes.insert(bytes.begin() + random_below(bytes.size() + 1), random_bits()());
}

constexpr void (*kMutations[])(Bytes&) = {flip_bit, set_byte, erase_part, repeat_part, insert_byte};

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  Bytes bytes(data, data + size);
  for (size_t count = random_below(4) + 1; count > 0; --count) {
    kMutations[random_below(std::size(kMutations))](bytes);
  }
  bytes.resize(std::min(bytes.size(), max_size));
  std::ranges::copy(bytes, data);
  return bytes.size();
}

namespace {

Bytes mutated(Bytes bytes) {
  const size_t size = bytes.size();
  bytes.resize(std::max(size, kMaxSize));
  const auto seed = static_cast<unsigned>(random_bits()());
  bytes.resize(LLVMFuzzerCustomMutator != nullptr
                   ? LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), seed)
                   : LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
  return bytes;
}

// --- Inputs ---

std::string output_folder() {
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  return folder == nullptr ? "." : folder;
}

// Tries inputs. Each is in a file during its trial, so that it remains if a signal, a sanitizer or
// a time limit ends the process.
class Trials {
 public:
  Trials()
      : path_(output_folder() + "/input"), file_(::open(path_.c_str(), O_CREAT | O_RDWR, 0666)) {
    std::cerr << "the current input is in " << path_ << '\n';
  }
  // All inputs passed.
  ~Trials() {
    ::close(file_);
    ::unlink(path_.c_str());
  }

  void operator()(const Bytes& bytes) const {
    const auto size = static_cast<off_t>(bytes.size());
    if (::pwrite(file_, bytes.data(), bytes.size(), 0) != size || ::ftruncate(file_, size) != 0) {
      std::cerr << "cannot write " << path_ << '\n';
      std::exit(2);
    }
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }

 private:
  std::string path_;
  int file_;
};

Bytes read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "cannot read '" << path << "'\n";
    std::exit(2);
  }
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

struct Arguments {
  std::vector<std::string> seeds;
  size_t num_runs = 0;
  std::vector<std::string> files;

  Arguments(int count, char** values) {
    for (const std::string_view argument :
         std::vector<std::string_view>(values + 1, values + count)) {
      const size_t equals = argument.find('=') + 1;
      const std::string value(argument.substr(equals));
      if (argument.starts_with("-seed_inputs=")) {
        std::istringstream names(value);
        for (std::string name; std::getline(names, name, ',');) seeds.push_back(name);
      } else if (argument.starts_with("-runs=")) {
        num_runs = std::stoul(value);
      } else if (argument.starts_with('-')) {
        std::cerr << argument << ": only with --config=fuzz\n";
        std::exit(2);
      } else {
        files.emplace_back(argument);
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  const Arguments arguments(argc, argv);
  const Trials try_input;
  for (const std::string& file : arguments.files) try_input(read(file));
  if (!arguments.files.empty()) return 0;
  std::vector<Bytes> seeds;
  for (const std::string& file : arguments.seeds) seeds.push_back(read(file));
  for (const Bytes& seed : seeds) try_input(seed);
  for (size_t i = 0; i < arguments.num_runs; ++i) {
    try_input(mutated(seeds.empty() ? Bytes() : seeds[i % seeds.size()]));
  }
  std::cout << seeds.size() << " seeds, " << arguments.num_runs << " inputs made from them\n";
  return 0;
}
