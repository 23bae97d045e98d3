// SPDX-License-Identifier: Apache-2.0
// Makes text from files, kernels and databases safe for a terminal.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace autotune {

/// Bytes of the UTF-8 character at the start of the text; 0 if there is none.
std::size_t utf8_length(std::string_view text);

/// Escapes control characters as `\u001b`, including those that change the text direction; newline
/// and tab stay. Invalid UTF-8 becomes U+FFFD. Inside JSON and C++ strings, the meaning does not
/// change.
std::string printable(std::string_view text);

/// While it lives, makes everything written to a stream printable(). Characters must be written
/// whole.
class PrintableStream : private std::streambuf {
 public:
  explicit PrintableStream(std::ostream& stream) : stream_(stream), below_(stream.rdbuf(this)) {}
  ~PrintableStream() override { stream_.rdbuf(below_); }
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type letter) override;
  int sync() override { return below_->pubsync(); }

  std::ostream& stream_;
  std::streambuf* below_;
};

}  // namespace autotune
