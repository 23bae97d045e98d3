// SPDX-License-Identifier: Apache-2.0
// Exceptions for a broken environment. As a rule, only main() catches them.
#pragma once

#include <stdexcept>

namespace autotune {

/// A broken environment: no such file, no GPU, an unreadable database, a bad manifest. The text is
/// one sentence that names the thing, says what is wrong and what to try. Exit status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A kernel was not compiled: memory or descriptors ran out, its compiler was killed, or the run
/// ends. This says nothing about the kernel; another attempt may succeed.
class NotCompiled : public Error {
 public:
  using Error::Error;
};

/// The request is wrong: an unknown target, an invalid size. Exit status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// No configuration is valid for these sizes, or none works. Exit status 3.
class NoConfiguration : public Error {
 public:
  using Error::Error;
};

/// A target that is wrong on every device. Exit status 1.
class TargetError : public Error {
 public:
  using Error::Error;
};

}  // namespace autotune
