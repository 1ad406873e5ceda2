// The state of a running pickle, and the steps that its instructions are made of.
//
// Used by pickle.cc only, whose table says which steps each instruction takes.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/pickle.h"
#include "torch_ir/weights/pickle_arena.h"
#include "torch_ir/weights/pickle_text.h"
#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

class PickleMachine {
 public:
  using Dict = PickleValue::Dict;
  using List = PickleValue::List;
  using Set = PickleValue::Set;
  using Tuple = PickleValue::Tuple;

  PickleMachine(std::string_view bytes, PickleArena& arena, PickleRules& rules)
      : arena_(arena), rules_(rules), bytes_(bytes) {}

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
  bool is_done() const { return is_done_; }
  // The code of the next instruction.
  unsigned char next_instruction() {
    instruction_position_ = position_;
    if (position_ == bytes_.size()) fail("the pickle has no end");
    return static_cast<unsigned char>(bytes_[position_++]);
  }

 private:
  static constexpr size_t kMaxStackSize = PickleArena::kMaxValues;
  static constexpr uint8_t kNewestProtocol = 5;

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

}  // namespace torch_ir
