// SPDX-License-Identifier: Apache-2.0
// Reads a T1 file and translates its expressions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/interchange/python_translation.hpp"
#include "tuner/json/json.hpp"

namespace autotune {

struct T1Parameter {
  std::string name;
  std::vector<PythonConstant> values;
  std::string default_text;  // the default value in the manifest; empty if there is none
};

class T1Problem {
 public:
  /// `file` is for messages. Throws Error with the key that is wrong.
  T1Problem(const CheckedJson& document, const std::string& file);

  const CheckedJson& space() const { return space_; }
  const CheckedJson& kernel() const { return kernel_; }
  std::string kernel_name() const { return kernel_["KernelName"].text(); }
  /// Letters, digits and _.
  const std::string& name() const { return name_; }
  const std::vector<T1Parameter>& parameters() const { return parameters_; }
  /// One to three. A file without sizes gets one of 1, and a note.
  const std::vector<std::int64_t>& sizes() const { return sizes_; }

  /// An expression of a launch or a constraint: a text, or a number. Empty if it cannot be
  /// translated; a note says why.
  std::string translated(const std::string& place, const CheckedJson& expression);
  /// An expression of a length, which does not depend on parameters.
  std::string translated_length(const std::string& place, const CheckedJson& expression);

  /// Points that the user must complete or check, with their place in the file.
  const std::vector<std::string>& notes() const { return notes_; }
  void note(const std::string& place, const std::string& what);

 private:
  using Meaning = PythonOperand (T1Problem::*)(const std::string& name, std::int64_t index,
                                               bool is_whole) const;

  void read_parameters(const std::string& file);
  void read_sizes();
  std::string default_of(const T1Parameter& parameter, const Json& json);
  const T1Parameter* parameter_called(const std::string& name) const;
  std::string translated_by(const std::string& place, const std::string& expression,
                            Meaning meaning);
  PythonOperand meaning(const std::string& name, std::int64_t index, bool is_whole) const;
  PythonOperand meaning_in_length(const std::string& name, std::int64_t index, bool is_whole) const;

  CheckedJson space_, kernel_;
  std::string name_;
  std::vector<T1Parameter> parameters_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::string> notes_;
};

/// The text of an expression; some files have a plain number there.
std::string expression_of(const CheckedJson& expression);
/// `text` with _ for characters that an identifier cannot have.
std::string identifier(const std::string& text);
/// `text` without line breaks, for a comment.
std::string on_one_line(std::string text);
/// A text in quotation marks.
std::string toml_text(const std::string& text);
/// A value in TOML.
std::string text_of(const PythonConstant& constant);
/// `problem_size_x` of axis 0.
std::string size_name(std::size_t axis);

struct T1Arguments {
  std::string text;                 // lines of TOML
  std::vector<std::string> passed;  // names that the kernel gets, as TOML
};

/// Anything without a counterpart becomes a comment, and a note of the problem.
T1Arguments t1_arguments(T1Problem& problem);

// T1: the auto-tuning community's format of tuning problems, as a manifest of format 2.

struct T1Manifest {
  std::string name;  // letters, digits and _
  std::string text;  // TOML
  /// Points that the user must complete or check, with their place in the file. Also comments of
  /// the text.
  std::vector<std::string> to_complete;
};

/// Translates a T1 file. Anything without a counterpart becomes a comment in the manifest. Throws
/// Error with the key if the file is not a T1 problem.
T1Manifest t1_manifest(const std::filesystem::path& file);

}  // namespace autotune
