// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <string>
#include <utility>
#include <vector>

/// Every way in which this build can exchange Views.
namespace kontor::comm::test {

struct Way {
  std::string backend;
  Packing packing;
};

/// Whether all Views of a test travel in one piece.
enum class Contiguity { no, yes };

/// Every backend of this build with every packing that it is able to do.
std::vector<Way> ways(Contiguity = Contiguity::no);

std::string to_string(const Way&);
Options options_of(const Way&);

/// The previous and the next rank; no_rank beyond the ends unless periodic.
std::pair<int, int> ring_of(const Communicator&, bool periodic = true);

/// Collective. Checks that messages still arrive: that an error has left the communicator as it was.
void expect_usable(const Communicator&);

} // namespace kontor::comm::test
