// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/error.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// What is refused, and with which facts; what a record has.
namespace kontor::miniapp::test {

/// The message of the Error that a call throws; empty if it throws none.
template <class Error = config::Error, class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// That the message tells all of them; `of` is what it is about.
inline void expect_facts(const std::string& message, const std::vector<std::string>& facts,
                         const std::string& of = "") {
  for (const auto& fact : facts)
    EXPECT_NE(message.find(fact), std::string::npos) << fact << "\nis not in: " << message << "\nof:\n" << of;
}

/// That a record has these values: a JSON object by their JSON pointers.
inline void expect_values(const nlohmann::ordered_json& record, const std::string& expected) {
  const auto values = nlohmann::ordered_json::parse(expected);
  for (const auto& [pointer, value] : values.items())
    EXPECT_EQ(record.at(nlohmann::ordered_json::json_pointer(pointer)), value) << pointer;
}

} // namespace kontor::miniapp::test
