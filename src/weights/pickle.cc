#include "torch_ir/weights/pickle.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/pickle_text.h"

namespace torch_ir {
namespace {

using Bytes = PickleValue::Bytes;
using Dict = PickleValue::Dict;
using List = PickleValue::List;
using Set = PickleValue::Set;
using Tuple = PickleValue::Tuple;

constexpr size_t kMaxStackSize = PickleArena::kMaxValues;
constexpr uint8_t kNewestProtocol = 5;

// The state of a running pickle, and the steps that its instructions are made of.
class Machine {
 public:
  Machine(std::string_view bytes, PickleArena& arena, PickleRules& rules)
      : arena_(arena), rules_(rules), bytes_(bytes) {}

  PickleValue* run();
  size_t position() const { return position_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw WeightError(
        fmt::format("is damaged: byte {} of the pickle: {}", instruction_position_, what));
  }

  // --- What follows an instruction ---

  std::string_view take(uint64_t count) {
    const size_t rest = bytes_.size() - position_;
    if (count > rest) fail(fmt::format("{} bytes should follow, but only {} do", count, rest));
    position_ += count;
    return bytes_.substr(position_ - count, count);
  }
  uint64_t take_number(size_t count) {
    const std::string_view bytes = take(count);
    uint64_t number = 0;
    for (size_t i = count; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
    return number;
  }
  // Bytes behind their number, which has `count` bytes itself.
  std::string_view take_counted(size_t count) { return take(take_number(count)); }
  std::string_view take_line() {
    const size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) fail("a line without an end");
    const std::string_view line = take(end - position_);
    ++position_;
    return line;
  }

  // `parse(text)`, with errors that say where.
  template <class Parse>
  auto read(Parse parse, std::string_view text) {
    try {
      return parse(text);
    } catch (const WeightError& error) {
      fail(error.what());
    }
  }

  // --- The stack ---

  void push(PickleValue* value) {
    if (stack_.size() == kMaxStackSize) fail("too many values wait to be used");
    stack_.push_back(value);
  }
  void push(PickleValue value) { push(arena_.make(std::move(value))); }
  void push_none() { push(arena_.none()); }
  void push_boolean(bool value) { push(arena_.boolean(value)); }
  PickleValue* top() {
    if (stack_.size() == bottom()) fail("a value is missing");
    return stack_.back();
  }
  PickleValue* pop() {
    PickleValue* value = top();
    stack_.pop_back();
    return value;
  }
  void push_mark() {
    if (marks_.size() == kMaxStackSize) fail("too many marks");
    marks_.push_back(stack_.size());
  }
  bool has_nothing_above_mark() const { return !marks_.empty() && stack_.size() == marks_.back(); }
  // What was pushed behind the last mark.
  PickleItems pop_items() {
    if (marks_.empty()) fail("a mark is missing");
    PickleItems items = pop_items(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }
  PickleItems pop_items(size_t count) {
    if (stack_.size() - bottom() < count) fail("a value is missing");
    PickleItems items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    arena_.charge(count * sizeof(PickleValue*));
    return items;
  }

  // --- The memo ---

  void memoize(uint64_t index) {
    if (memo_.size() == PickleArena::kMaxValues) fail("too many values are remembered");
    memo_[index] = top();
  }
  void memoize_next() { memoize(memo_.size()); }
  void recall(uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) fail(fmt::format("no value has the number {}", index));
    push(found->second);
  }
  uint64_t take_memo_index() {
    const std::string_view line = take_line();
    const PickleValue index = read(parse_long, line);
    const auto* number = index.get_if<int64_t>();
    if (number == nullptr || *number < 0) fail(fmt::format("'{}' is no index", printable(line)));
    return static_cast<uint64_t>(*number);
  }

  // --- Values ---

  void append(const PickleItems& items) {
    auto* list = std::get_if<List>(&top()->value);
    if (list == nullptr) fail("items for " + top()->kind() + " instead of a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }
  void add(const PickleItems& items) {
    auto* set = std::get_if<Set>(&top()->value);
    if (set == nullptr) fail("items for " + top()->kind() + " instead of a set");
    set->items.insert(set->items.end(), items.begin(), items.end());
  }
  void set_items(const PickleItems& items) {
    auto* dict = std::get_if<Dict>(&top()->value);
    if (dict == nullptr) fail("keys for " + top()->kind() + " instead of a dict");
    add_pairs(*dict, items);
  }
  void push_dict(const PickleItems& items) {
    Dict dict;
    add_pairs(dict, items);
    push({std::move(dict)});
  }
  void push_tuple(const PickleItems& items) { push({Tuple{{items.begin(), items.end()}}}); }

  // --- Names and calls ---

  void push_global(std::string_view module, std::string_view name) {
    push(rules_.find_global(module, name));
  }
  void push_global_of_stack() {
    const PickleValue* name = pop();
    const PickleValue* module = pop();
    const auto* name_text = name->get_if<std::string>();
    const auto* module_text = module->get_if<std::string>();
    if (name_text == nullptr || module_text == nullptr) fail("a name that is no string");
    push_global(*module_text, *name_text);
  }
  void call(const PickleValue* callable, const PickleItems& arguments) {
    push(rules_.call(*callable, arguments));
  }
  void call_with_tuple() {
    const PickleValue::Pointer arguments = pop();
    const PickleValue::Pointer callable = pop();
    const auto* tuple = arguments->get_if<Tuple>();
    // TorchScript calls its enumerations with a bare value.
    call(callable, mutable_items(tuple == nullptr ? std::vector{arguments} : tuple->items));
  }
  void call_first_of_items() {
    PickleItems items = pop_items();
    if (items.empty()) fail("a value is missing");
    const PickleValue* callable = items.front();
    items.erase(items.begin());
    call(callable, items);
  }
  void check_no_keywords() {
    const PickleValue* keywords = pop();
    const auto* dict = keywords->get_if<Dict>();
    if (dict == nullptr || !dict->items.empty()) fail("a call with keyword arguments");
  }
  void build() {
    const PickleValue* state = pop();
    rules_.set_state(*top(), *state);
  }
  void push_persistent() {
    const PickleValue* id = pop();
    push(rules_.load_persistent(*id));
  }

  // --- The course ---

  void check_protocol() {
    const uint64_t protocol = take_number(1);
    if (protocol > kNewestProtocol) fail(fmt::format("protocol {} is unknown", protocol));
  }
  void check_frame() {
    const uint64_t size = take_number(8);
    const size_t rest = bytes_.size() - position_;
    if (size > rest) fail(fmt::format("a frame of {} bytes, but only {} follow", size, rest));
  }
  void stop() { is_done_ = true; }

 private:
  // The innermost mark: below it the stack belongs to instructions that are not done.
  size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }

  void add_pairs(Dict& dict, const PickleItems& items) {
    if (items.size() % 2 != 0) fail("a key without a value");
    for (size_t i = 0; i < items.size(); i += 2) dict.items.emplace_back(items[i], items[i + 1]);
  }
  // All values of the arena are made here, where they may change.
  static PickleItems mutable_items(const std::vector<PickleValue::Pointer>& items) {
    PickleItems result;
    result.reserve(items.size());
    for (const PickleValue* item : items) result.push_back(const_cast<PickleValue*>(item));
    return result;
  }

  PickleArena& arena_;
  PickleRules& rules_;
  std::string_view bytes_;
  size_t position_ = 0;
  size_t instruction_position_ = 0;
  bool is_done_ = false;
  PickleItems stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
};

struct Instruction {
  char code;
  void (*run)(Machine&);
};

void push_boolean_or_int(Machine& m) {
  const std::string_view line = m.take_line();
  if (line == "00" || line == "01") {
    m.push_boolean(line == "01");
  } else {
    m.push(m.read(parse_long, line));
  }
}

void push_string(Machine& m, std::string_view text) { m.push({std::string(text)}); }

void push_bytes(Machine& m, std::string_view content) { m.push({Bytes{std::string(content)}}); }

void push_global_of_lines(Machine& m) {
  const std::string_view module = m.take_line();
  m.push_global(module, m.take_line());
}

void call_global_of_lines(Machine& m) {
  const PickleItems arguments = m.pop_items();
  push_global_of_lines(m);
  m.call(m.pop(), arguments);
}

void push_big_endian_double(Machine& m) {
  m.push({std::bit_cast<double>(__builtin_bswap64(m.take_number(8)))});
}

void pop_value_or_mark(Machine& m) {
  if (m.has_nothing_above_mark()) {
    m.pop_items();
  } else {
    m.pop();
  }
}

[[noreturn]] void refuse_extension(Machine& m) {
  m.fail("a name from Python's extension registry, which is not known here");
}

[[noreturn]] void refuse_buffer(Machine& m) { m.fail("a buffer outside of the pickle"); }

// Named and ordered as in Python's pickletools.
constexpr Instruction kInstructions[] = {
    {'I', push_boolean_or_int},
    {'J', [](Machine& m) { m.push({int64_t{static_cast<int32_t>(m.take_number(4))}}); }},
    {'K', [](Machine& m) { m.push({static_cast<int64_t>(m.take_number(1))}); }},
    {'M', [](Machine& m) { m.push({static_cast<int64_t>(m.take_number(2))}); }},
    {'L', [](Machine& m) { m.push(m.read(parse_long, m.take_line())); }},
    {'\x8a', [](Machine& m) { m.push(m.read(decode_long, m.take_counted(1))); }},
    {'\x8b', [](Machine& m) { m.push(m.read(decode_long, m.take_counted(4))); }},
    {'S', [](Machine& m) { m.push({m.read(unescape_string, m.take_line())}); }},
    {'T', [](Machine& m) { push_string(m, m.take_counted(4)); }},
    {'U', [](Machine& m) { push_string(m, m.take_counted(1)); }},
    {'B', [](Machine& m) { push_bytes(m, m.take_counted(4)); }},
    {'C', [](Machine& m) { push_bytes(m, m.take_counted(1)); }},
    {'\x8e', [](Machine& m) { push_bytes(m, m.take_counted(8)); }},
    {'\x96', [](Machine& m) { push_bytes(m, m.take_counted(8)); }},
    {'\x97', refuse_buffer},
    {'\x98', refuse_buffer},
    {'N', [](Machine& m) { m.push_none(); }},
    {'\x88', [](Machine& m) { m.push_boolean(true); }},
    {'\x89', [](Machine& m) { m.push_boolean(false); }},
    {'V', [](Machine& m) { m.push({m.read(unescape_unicode, m.take_line())}); }},
    {'\x8c', [](Machine& m) { push_string(m, m.take_counted(1)); }},
    {'X', [](Machine& m) { push_string(m, m.take_counted(4)); }},
    {'\x8d', [](Machine& m) { push_string(m, m.take_counted(8)); }},
    {'F', [](Machine& m) { m.push({m.read(parse_double, m.take_line())}); }},
    {'G', push_big_endian_double},
    {']', [](Machine& m) { m.push({List()}); }},
    {'a', [](Machine& m) { m.append(m.pop_items(1)); }},
    {'e', [](Machine& m) { m.append(m.pop_items()); }},
    {'l',
     [](Machine& m) {
       const PickleItems items = m.pop_items();
       m.push({List{{items.begin(), items.end()}}});
     }},
    {')', [](Machine& m) { m.push_tuple({}); }},
    {'t', [](Machine& m) { m.push_tuple(m.pop_items()); }},
    {'\x85', [](Machine& m) { m.push_tuple(m.pop_items(1)); }},
    {'\x86', [](Machine& m) { m.push_tuple(m.pop_items(2)); }},
    {'\x87', [](Machine& m) { m.push_tuple(m.pop_items(3)); }},
    {'}', [](Machine& m) { m.push({Dict()}); }},
    {'d', [](Machine& m) { m.push_dict(m.pop_items()); }},
    {'s', [](Machine& m) { m.set_items(m.pop_items(2)); }},
    {'u', [](Machine& m) { m.set_items(m.pop_items()); }},
    {'\x8f', [](Machine& m) { m.push({Set()}); }},
    {'\x90', [](Machine& m) { m.add(m.pop_items()); }},
    {'\x91',
     [](Machine& m) {
       const PickleItems items = m.pop_items();
       m.push({Set{{items.begin(), items.end()}}});
     }},
    {'0', pop_value_or_mark},
    {'2', [](Machine& m) { m.push(m.top()); }},
    {'(', [](Machine& m) { m.push_mark(); }},
    {'1', [](Machine& m) { m.pop_items(); }},
    {'g', [](Machine& m) { m.recall(m.take_memo_index()); }},
    {'h', [](Machine& m) { m.recall(m.take_number(1)); }},
    {'j', [](Machine& m) { m.recall(m.take_number(4)); }},
    {'p', [](Machine& m) { m.memoize(m.take_memo_index()); }},
    {'q', [](Machine& m) { m.memoize(m.take_number(1)); }},
    {'r', [](Machine& m) { m.memoize(m.take_number(4)); }},
    {'\x94', [](Machine& m) { m.memoize_next(); }},
    {'\x82', refuse_extension},
    {'\x83', refuse_extension},
    {'\x84', refuse_extension},
    {'c', push_global_of_lines},
    {'\x93', [](Machine& m) { m.push_global_of_stack(); }},
    {'R', [](Machine& m) { m.call_with_tuple(); }},
    {'b', [](Machine& m) { m.build(); }},
    {'i', call_global_of_lines},
    {'o', [](Machine& m) { m.call_first_of_items(); }},
    {'\x81', [](Machine& m) { m.call_with_tuple(); }},
    {'\x92',
     [](Machine& m) {
       m.check_no_keywords();
       m.call_with_tuple();
     }},
    {'\x80', [](Machine& m) { m.check_protocol(); }},
    {'.', [](Machine& m) { m.stop(); }},
    {'\x95', [](Machine& m) { m.check_frame(); }},
    {'P', [](Machine& m) { m.fail("a persistent id as text, as protocol 0 has it"); }},
    {'Q', [](Machine& m) { m.push_persistent(); }},
};

using InstructionTable = std::array<void (*)(Machine&), 256>;

constexpr InstructionTable make_table() {
  InstructionTable table = {};
  for (const Instruction& instruction : kInstructions) {
    table[static_cast<unsigned char>(instruction.code)] = instruction.run;
  }
  return table;
}

PickleValue* Machine::run() {
  static constexpr InstructionTable kTable = make_table();
  while (!is_done_) {
    instruction_position_ = position_;
    if (position_ == bytes_.size()) fail("the pickle has no end");
    const auto code = static_cast<unsigned char>(bytes_[position_++]);
    if (kTable[code] == nullptr) fail(fmt::format("unknown instruction 0x{:02x}", code));
    kTable[code](*this);
  }
  return pop();
}

}  // namespace

PickleValue* unpickle(std::string_view bytes, PickleArena& arena, PickleRules& rules,
                      size_t* size) {
  Machine machine(bytes, arena, rules);
  PickleValue* root = machine.run();
  if (size != nullptr) *size = machine.position();
  return root;
}

}  // namespace torch_ir
