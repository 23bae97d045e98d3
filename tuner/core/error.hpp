// SPDX-License-Identifier: Apache-2.0
// What is thrown when the world is not as asked for. As a rule only main() catches it.
#pragma once

#include <stdexcept>
#include <string>

namespace autotune {

/// A broken environment: no such file, no GPU, an unreadable database, a bad manifest. The text is
/// one sentence that names the thing, says what is wrong and what to try. Exit status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A kernel was not compiled for want of memory or descriptors, because its compiler was killed, or
/// because the run ends. That says nothing of the kernel: another time it may go well.
class NotCompiled : public Error {
 public:
  using Error::Error;
};

/// The request itself is wrong: an unknown target, a size that is no size. Exit status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A target that is wrong whatever the device: another one would not help. Exit status 1.
class TargetError : public Error {
 public:
  using Error::Error;
};

}  // namespace autotune
