// SPDX-License-Identifier: Apache-2.0
// Text from files, kernels and databases as it may go to a terminal.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace autotune {

/// Bytes of the UTF-8 character that a text begins with; 0 where it begins with none.
std::size_t utf8_length(std::string_view text);

/// Control characters, those that turn the direction of text included, as `\u001b`; newline and tab
/// stay. Bytes that are no UTF-8 become U+FFFD. Inside JSON and C++ strings the meaning stays.
std::string printable(std::string_view text);

/// For as long as it lives, whatever is written to a stream is made printable(). Characters must be
/// written whole.
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
