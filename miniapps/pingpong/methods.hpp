// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"

#include <kontor/comm/error.hpp>

#include <deque>

namespace kontor::pingpong {

/// The exchange methods that a measure compares: combinations of backend, pattern, packing and path.
class Methods {
 public:
  /// Collective. Those that the deck lists. An empty list stands for all values of the build. If all lists are empty,
  /// the automatic choice is one method more.
  explicit Methods(Bench&);

  bool moves_data(std::string_view name) const;
  /// Leaves out methods that move no data.
  void require_data();

  /// Collective. Times a step of the exchanges by each method, and other ways.
  template <class View>
  Samples time(const Subject& subject, const Traffic<View>& traffic, bool clocked, std::vector<Way> others = {}) {
    std::deque<std::vector<comm::Exchange<View>>> made;
    std::vector<Way> ways;
    for (const auto& [name, comm] : methods_) {
      try {
        made.push_back(traffic.exchanges(comm));
        ways.push_back(steps_of(name, made.back(), moves_data(name)));
      } catch (const comm::UsageError& error) {
        refuse(name, error);
      }
    }
    require(!ways.empty());
    std::ranges::move(others, std::back_inserter(ways));
    auto& points = bench_.findings.points;
    const auto first = points.size();
    auto samples = bench_.time(subject, ways, traffic.payload(), clocked);
    for (std::size_t i = 0; i < made.size(); ++i) {
      points[first + i].subject.messages = 0;
      for (const auto& exchange : made[i])
        points[first + i].subject.messages += static_cast<std::int64_t>(exchange.sent().size());
    }
    return samples;
  }

  /// Adds methods that are not available to the record and the notes.
  void report() const;

 private:
  struct Method {
    std::string name; ///< "view persistent kernel"
    comm::Communicator comm;
  };

  void add(const std::string& name, const comm::Options&);
  void refuse(const std::string& name, const comm::UsageError&);
  void require(bool some) const;

  Bench& bench_;
  std::vector<Method> methods_;
  std::map<std::string, std::string> refusals_; ///< what is not available, and why
};

} // namespace kontor::pingpong
