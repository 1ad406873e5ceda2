#include "torch_ir/weights/pickle.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"

namespace torch_ir {
namespace {

class Machine {
 public:
  // Values that may still change.
  using Items = std::vector<PickleValue*>;
  using Dict = PickleValue::Dict;
  using List = PickleValue::List;
  using Tuple = PickleValue::Tuple;
  using Unsupported = PickleValue::Unsupported;

  Machine(std::string_view bytes, PickleArena& arena, TorchRules& rules)
      : arena_(arena), rules_(rules), bytes_(bytes) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw WeightError(
        fmt::format("is damaged: byte {} of the pickle: {}", instruction_position_, what));
  }

  [[noreturn]] void refuse_text() const {
    throw WeightError(
        kNotSupported,
        fmt::format("holds a pickle of protocol 0 or 1 (instruction '{}' at byte {}); load it in "
                    "Python, and torch.save it again without pickle_protocol",
                    bytes_[instruction_position_], instruction_position_));
  }

  std::string_view take(uint64_t count) {
    const size_t rest = bytes_.size() - position_;
    if (count > rest) fail(fmt::format("{} bytes should follow, found {}", count, rest));
    position_ += count;
    return bytes_.substr(position_ - count, count);
  }
  uint64_t take_number(size_t count) {
    const std::string_view bytes = take(count);
    uint64_t number = 0;
    for (size_t i = count; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
    return number;
  }
  // Bytes after their count, which has `count` bytes itself.
  std::string_view take_counted(size_t count) { return take(take_number(count)); }
  std::string_view take_line() {
    const size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) fail("unterminated line");
    const std::string_view line = take(end - position_);
    ++position_;
    return line;
  }

  void push(PickleValue* value) {
    if (stack_.size() == kMaxPickleValues) fail("too many values on the stack");
    stack_.push_back(value);
  }
  void push(PickleValue value) { push(arena_.make(std::move(value))); }
  void push_none() { push(arena_.none()); }
  void push_boolean(bool value) { push(arena_.boolean(value)); }
  void push_integer(int64_t value) { push({value}); }
  void push_string(std::string_view text) { push({std::string(text)}); }
  void push_unsupported(const char* what) { push({Unsupported{what}}); }
  PickleValue* top() {
    if (stack_.size() == bottom()) fail("missing value");
    return stack_.back();
  }
  PickleValue* pop() {
    PickleValue* value = top();
    stack_.pop_back();
    return value;
  }
  void push_mark() {
    if (marks_.size() == kMaxPickleValues) fail("too many marks");
    marks_.push_back(stack_.size());
  }
  Items pop_items() {
    if (marks_.empty()) fail("missing mark");
    Items items = pop_items(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }
  Items pop_items(size_t count) {
    if (stack_.size() - bottom() < count) fail("missing value");
    Items items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    arena_.charge(count * sizeof(PickleValue*));
    return items;
  }
  void pop_value_or_mark() {
    if (!marks_.empty() && stack_.size() == marks_.back()) {
      marks_.pop_back();
    } else {
      pop();
    }
  }

  void memoize(uint64_t index) {
    if (memo_.size() == kMaxPickleValues) fail("too many values in the memo");
    memo_[index] = top();
  }
  void memoize_next() { memoize(memo_.size()); }
  void recall(uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) fail(fmt::format("unknown memo index {}", index));
    push(found->second);
  }

  // Little-endian two's complement of any length.
  void push_long(std::string_view bytes) {
    if (bytes.size() > sizeof(int64_t)) return push_unsupported("an int");
    const bool is_negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80);
    uint64_t value = is_negative ? ~uint64_t{0} : 0;
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
      value = value << 8 | static_cast<unsigned char>(*byte);
    }
    push_integer(static_cast<int64_t>(value));
  }
  void push_tuple(const Items& items) { push({Tuple{{items.begin(), items.end()}}}); }
  void append(const Items& items) {
    if (top()->is_foreign()) {
      return rules_.set_state(*top(), *arena_.make({List{{items.begin(), items.end()}}}));
    }
    auto* list = std::get_if<List>(&top()->value);
    if (list == nullptr) fail("items for " + top()->kind() + " instead of a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }
  void skip_set_items() {
    pop_items();
    if (top()->get_if<Unsupported>() == nullptr) {
      fail("items for " + top()->kind() + " instead of a set");
    }
  }
  void push_frozen_set() {
    pop_items();
    push_unsupported("a set");
  }
  void set_items(const Items& items) {
    if (top()->is_foreign()) {
      return rules_.set_state(*top(), *arena_.make({Tuple{{items.begin(), items.end()}}}));
    }
    auto* dict = std::get_if<Dict>(&top()->value);
    if (dict == nullptr) fail("keys for " + top()->kind() + " instead of a dict");
    if (items.size() % 2 != 0) fail("missing value of a key");
    for (size_t i = 0; i < items.size(); i += 2) dict->items.emplace_back(items[i], items[i + 1]);
  }

  void push_global_of_lines() {
    const std::string_view module = take_line();
    push(rules_.find_global(module, take_line()));
  }
  void push_global_of_stack() {
    const PickleValue* name = pop();
    const PickleValue* module = pop();
    const auto* name_text = name->get_if<std::string>();
    const auto* module_text = module->get_if<std::string>();
    if (name_text == nullptr || module_text == nullptr) fail("a name is not a string");
    push(rules_.find_global(*module_text, *name_text));
  }
  void call() {
    const PickleValue::Pointer arguments = pop();
    const PickleValue::Pointer callable = pop();
    const auto* tuple = arguments->get_if<Tuple>();
    // TorchScript calls its enumerations with a bare value. Items are not copied: one long tuple
    // can be the arguments of a million calls.
    const PickleItems alone = {arguments};
    push(rules_.call(*callable, tuple == nullptr ? alone : tuple->items));
  }
  void call_with_keywords() {
    pop();
    call();
    if (!top()->is_foreign()) fail("unsupported call with keyword arguments");
  }
  void build() {
    const PickleValue* state = pop();
    rules_.set_state(*top(), *state);
  }
  void push_persistent() { push(rules_.load_persistent(*pop())); }

  void check_protocol() {
    const uint64_t protocol = take_number(1);
    if (protocol > kNewestProtocol) fail(fmt::format("unknown protocol {}", protocol));
  }
  void check_frame() {
    const uint64_t size = take_number(8);
    const size_t rest = bytes_.size() - position_;
    if (size > rest) fail(fmt::format("expected a frame of {} bytes, found {}", size, rest));
  }
  unsigned char next_instruction() {
    instruction_position_ = position_;
    if (position_ == bytes_.size()) fail("the pickle does not end");
    return static_cast<unsigned char>(bytes_[position_++]);
  }

 private:
  static constexpr uint8_t kNewestProtocol = 5;

  // The innermost mark. The stack below it belongs to unfinished instructions.
  size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }

  PickleArena& arena_;
  TorchRules& rules_;
  std::string_view bytes_;
  size_t position_ = 0;
  size_t instruction_position_ = 0;
  Items stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
};

struct Instruction {
  char code;
  void (*run)(Machine&);
};

[[noreturn]] void refuse_extension(Machine& m) {
  m.fail("unsupported name from Python's extension registry");
}

[[noreturn]] void refuse_buffer(Machine& m) { m.fail("unsupported out-of-band buffer"); }

void skip_bytes(Machine& m, size_t count) {
  m.take_counted(count);
  m.push_unsupported("bytes");
}

// In the order of Python's pickletools.
constexpr Instruction kInstructions[] = {
    {'J', [](Machine& m) { m.push_integer(static_cast<int32_t>(m.take_number(4))); }},
    {'K', [](Machine& m) { m.push_integer(static_cast<int64_t>(m.take_number(1))); }},
    {'M', [](Machine& m) { m.push_integer(static_cast<int64_t>(m.take_number(2))); }},
    {'\x8a', [](Machine& m) { m.push_long(m.take_counted(1)); }},
    {'\x8b', [](Machine& m) { m.push_long(m.take_counted(4)); }},
    {'T', [](Machine& m) { m.push_string(m.take_counted(4)); }},
    {'U', [](Machine& m) { m.push_string(m.take_counted(1)); }},
    {'B', [](Machine& m) { skip_bytes(m, 4); }},
    {'C', [](Machine& m) { skip_bytes(m, 1); }},
    {'\x8e', [](Machine& m) { skip_bytes(m, 8); }},
    {'\x96', [](Machine& m) { skip_bytes(m, 8); }},
    {'\x97', refuse_buffer},
    {'\x98', refuse_buffer},
    {'N', [](Machine& m) { m.push_none(); }},
    {'\x88', [](Machine& m) { m.push_boolean(true); }},
    {'\x89', [](Machine& m) { m.push_boolean(false); }},
    {'\x8c', [](Machine& m) { m.push_string(m.take_counted(1)); }},
    {'X', [](Machine& m) { m.push_string(m.take_counted(4)); }},
    {'\x8d', [](Machine& m) { m.push_string(m.take_counted(8)); }},
    // Big-endian, unlike everything else.
    {'G', [](Machine& m) { m.push({std::bit_cast<double>(__builtin_bswap64(m.take_number(8)))}); }},
    {']', [](Machine& m) { m.push({PickleValue::List()}); }},
    {'a', [](Machine& m) { m.append(m.pop_items(1)); }},
    {'e', [](Machine& m) { m.append(m.pop_items()); }},
    {')', [](Machine& m) { m.push_tuple({}); }},
    {'t', [](Machine& m) { m.push_tuple(m.pop_items()); }},
    {'\x85', [](Machine& m) { m.push_tuple(m.pop_items(1)); }},
    {'\x86', [](Machine& m) { m.push_tuple(m.pop_items(2)); }},
    {'\x87', [](Machine& m) { m.push_tuple(m.pop_items(3)); }},
    {'}', [](Machine& m) { m.push({PickleValue::Dict()}); }},
    {'s', [](Machine& m) { m.set_items(m.pop_items(2)); }},
    {'u', [](Machine& m) { m.set_items(m.pop_items()); }},
    {'\x8f', [](Machine& m) { m.push_unsupported("a set"); }},
    {'\x90', [](Machine& m) { m.skip_set_items(); }},
    {'\x91', [](Machine& m) { m.push_frozen_set(); }},
    {'0', [](Machine& m) { m.pop_value_or_mark(); }},
    {'2', [](Machine& m) { m.push(m.top()); }},
    {'(', [](Machine& m) { m.push_mark(); }},
    {'1', [](Machine& m) { m.pop_items(); }},
    {'h', [](Machine& m) { m.recall(m.take_number(1)); }},
    {'j', [](Machine& m) { m.recall(m.take_number(4)); }},
    {'q', [](Machine& m) { m.memoize(m.take_number(1)); }},
    {'r', [](Machine& m) { m.memoize(m.take_number(4)); }},
    {'\x94', [](Machine& m) { m.memoize_next(); }},
    {'\x82', refuse_extension},
    {'\x83', refuse_extension},
    {'\x84', refuse_extension},
    {'c', [](Machine& m) { m.push_global_of_lines(); }},
    {'\x93', [](Machine& m) { m.push_global_of_stack(); }},
    {'R', [](Machine& m) { m.call(); }},
    {'b', [](Machine& m) { m.build(); }},
    {'\x81', [](Machine& m) { m.call(); }},
    {'\x92', [](Machine& m) { m.call_with_keywords(); }},
    {'\x80', [](Machine& m) { m.check_protocol(); }},
    {'\x95', [](Machine& m) { m.check_frame(); }},
    {'Q', [](Machine& m) { m.push_persistent(); }},
};

constexpr std::string_view kTextInstructions = "ILSVFldgpioP";

using InstructionTable = std::array<void (*)(Machine&), 256>;

constexpr InstructionTable make_table() {
  InstructionTable table = {};
  for (const Instruction& instruction : kInstructions) {
    table[static_cast<unsigned char>(instruction.code)] = instruction.run;
  }
  for (const char code : kTextInstructions) {
    table[static_cast<unsigned char>(code)] = [](Machine& m) { m.refuse_text(); };
  }
  return table;
}

}  // namespace

PickleValue* unpickle(std::string_view bytes, PickleArena& arena, TorchRules& rules) {
  static constexpr InstructionTable kTable = make_table();
  constexpr char kStop = '.';
  Machine machine(bytes, arena, rules);
  unsigned char code = 0;
  while ((code = machine.next_instruction()) != kStop) {
    if (kTable[code] == nullptr) machine.fail(fmt::format("unknown instruction 0x{:02x}", code));
    kTable[code](machine);
  }
  PickleValue* root = machine.pop();
  check_tree(*root);
  return root;
}

}  // namespace torch_ir
