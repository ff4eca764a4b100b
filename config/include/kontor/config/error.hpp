// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/errors/id.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace kontor::config {

/// What is wrong with a deck: one message for each mistake, each with its place. what() joins them by '\n'. Messages
/// are made printable (text.hpp), and end with an id on their first line.
class Error : public std::runtime_error {
 public:
  /// What is wrong, in the order of the deck; `id` is that of the messages which quote none.
  Error(std::vector<std::string> messages, errors::Id id);
  /// One for each mistake.
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  std::vector<std::string> messages_;
};

} // namespace kontor::config
