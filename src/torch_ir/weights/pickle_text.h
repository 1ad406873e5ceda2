// The arguments that pickle's oldest instructions have as text, and its integers.
//
// Used by pickle.cc. Throws WeightError saying what is wrong with the text.
#pragma once

#include <string>
#include <string_view>

#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// Little-endian two's complement of any length, as the LONG instructions have it.
PickleValue decode_long(std::string_view bytes);

// "-12", "119547037146038801333356L"
PickleValue parse_long(std::string_view text);

// "0.5", "inf", "nan"
double parse_double(std::string_view text);

// A string in quotes with the escapes of Python 2's repr.
std::string unescape_string(std::string_view text);

// Latin-1 with \uXXXX and \UXXXXXXXX; the result is UTF-8.
std::string unescape_unicode(std::string_view text);

// Appends `code` as UTF-8; surrogates too, which Python's strings may have.
void append_utf8(std::string& text, char32_t code);

}  // namespace torch_ir
