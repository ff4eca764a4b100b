// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kontor::device {

/// The base of classes that are neither copied nor moved: they own a handle, or are used by reference.
class NonCopyable {
 public:
  NonCopyable(const NonCopyable&) = delete;            ///< there is one
  NonCopyable& operator=(const NonCopyable&) = delete; ///< there is one

 protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

} // namespace kontor::device
