// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/gather_to_root.hpp"

namespace kontor::miniapp {

std::vector<std::string> gather_texts(const comm::Communicator& comm, const std::string& mine) {
  std::vector<std::int64_t> lengths;
  const auto all = gather_to_root(comm, std::span<const char>(mine), &lengths);
  std::vector<std::string> texts;
  auto next = all.begin();
  for (const auto length : lengths) {
    texts.emplace_back(next, next + length);
    next += length;
  }
  return texts;
}

} // namespace kontor::miniapp
