#include "torch_ir/weights/pickle.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "torch_ir/weights/pickle_machine.h"
#include "torch_ir/weights/pickle_text.h"

namespace torch_ir {
namespace {

using Machine = PickleMachine;
using Bytes = PickleValue::Bytes;
using Dict = PickleValue::Dict;
using List = PickleValue::List;
using Set = PickleValue::Set;

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

PickleValue* run(Machine& machine) {
  static constexpr InstructionTable kTable = make_table();
  while (!machine.is_done()) {
    const unsigned char code = machine.next_instruction();
    if (kTable[code] == nullptr) machine.fail(fmt::format("unknown instruction 0x{:02x}", code));
    kTable[code](machine);
  }
  return machine.pop();
}

}  // namespace

PickleValue* unpickle(std::string_view bytes, PickleArena& arena, PickleRules& rules,
                      size_t* size) {
  Machine machine(bytes, arena, rules);
  PickleValue* root = run(machine);
  if (size != nullptr) *size = machine.position();
  return root;
}

}  // namespace torch_ir
