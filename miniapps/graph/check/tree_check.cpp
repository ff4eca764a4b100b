// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/check/tree_check.hpp"

#include "random/counter_random.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/view_of.hpp>

#include <algorithm>
#include <cstdlib>

namespace kontor::graph {
namespace {

constexpr std::int64_t batch = 1 << 18;         ///< items of a rank
constexpr std::int64_t most_gathered = 1 << 16; ///< edges, vertices

} // namespace

Findings& Findings::operator+=(const Findings& other) {
  cycles += other.cycles;
  levels += other.levels;
  edges += other.edges;
  no_edges += other.no_edges;
  serial += other.serial;
  component += other.component;
  reached += other.reached;
  checksum += other.checksum;
  return *this;
}

TreeCheck::TreeCheck(const Options& o, const comm::Communicator& comm)
    : comm_(comm.share()), edges_(o, comm), blocks_(edges_.vertices(), comm.size()), begin_(blocks_.begin(comm.rank())),
      size_(blocks_.size(comm.rank())),
      batches_((comm::allreduce(comm, edges_.items(), comm::ReduceOp::max) + batch - 1) / batch) {
  if (batches_ > 1 || blocks_.vertices > most_gathered) return;
  auto own = edges_.of(0, edges_.items());
  const auto count = static_cast<std::int64_t>(own.size());
  if (comm::allreduce(comm, count, comm::ReduceOp::sum) > most_gathered) return;
  const auto all = comm::allgatherv_with_counts(comm, comm::view_of(own));
  gathered_.assign(all.data.data(), all.data.data() + all.data.size());
}

Findings TreeCheck::of(std::int64_t root, const Tree& tree) const {
  Findings found;
  check_parents(root, tree, found);
  check_edges(root, tree, found);
  if (serial()) check_serial(root, tree, found);
  return comm::allreduce(comm_, found, comm::commutative([](const Findings& a, const Findings& b) {
                           auto sum = a;
                           return sum += b;
                         }));
}

/// Collective. What the owners of the vertices know of them.
std::vector<TreeCheck::Known> TreeCheck::ask(const std::vector<std::int64_t>& vertices, const Tree& tree) const {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(comm_.size())), questions(vertices.size());
  for (const auto v : vertices) ++counts[static_cast<std::size_t>(blocks_.owner(v))];
  auto place = comm::Counts(counts).offsets();
  std::vector<std::size_t> places;
  for (const auto v : vertices) {
    places.push_back(static_cast<std::size_t>(place[static_cast<std::size_t>(blocks_.owner(v))]++));
    questions[places.back()] = v;
  }
  const auto asked = comm::alltoallv_with_counts(comm_, comm::view_of(questions), counts);
  std::vector<Known> told;
  for (std::size_t i = 0; i < asked.data.size(); ++i) {
    const auto v = asked.data(i) - begin_;
    told.push_back({tree.parent(v), tree.level(v)});
  }
  std::vector<std::int64_t> told_counts;
  for (int r = 0; r < comm_.size(); ++r) told_counts.push_back(static_cast<std::int64_t>(asked.part(r).size()));
  const auto answers = comm::alltoallv_with_counts(comm_, comm::view_of(told), told_counts);
  std::vector<Known> known;
  for (const auto p : places) known.push_back(answers.data(p));
  return known;
}

/// Rules 1 and 2: levels fall along parents down to 0, which the root alone has, so there is no cycle.
void TreeCheck::check_parents(std::int64_t root, const Tree& tree, Findings& found) const {
  std::vector<std::int64_t> children, parents;
  for (std::int64_t v = 0; v < size_; ++v) {
    const auto parent = tree.parent(v), level = static_cast<std::int64_t>(tree.level(v));
    const bool is_root = begin_ + v == root, reached = level != unreached;
    if (reached != (parent != unreached) || level < unreached || parent < unreached || parent >= blocks_.vertices ||
        (level == 0) != is_root || (is_root && parent != root)) {
      ++found.cycles;
      continue;
    }
    if (!reached) continue;
    ++found.reached;
    found.checksum += random::mix(random::bits_at(static_cast<std::uint64_t>(root), begin_ + v, parent) +
                                  static_cast<std::uint64_t>(level) * random::step);
    if (is_root) continue;
    children.push_back(v);
    parents.push_back(parent);
  }
  const auto known = ask(parents, tree);
  for (std::size_t i = 0; i < known.size(); ++i)
    found.levels += known[i].level == unreached || known[i].level + 1 != tree.level(children[i]);
}

/// Rules 3 to 5: each edge of the graph, made anew, against its ends; a tree edge that none is equal to is found by
/// those that remain.
void TreeCheck::check_edges(std::int64_t root, const Tree& tree, Findings& found) const {
  std::vector<bool> is_edge(static_cast<std::size_t>(size_));
  for (std::int64_t b = 0; b < batches_; ++b) {
    const auto first = std::min(b * batch, edges_.items()), last = std::min(first + batch, edges_.items());
    const auto edges = edges_.of(first, last);
    std::vector<std::int64_t> ends;
    for (const auto& [from, to] : edges) {
      ends.push_back(from);
      ends.push_back(to);
    }
    const auto known = ask(ends, tree);
    std::vector<std::vector<std::int64_t>> confirmed(static_cast<std::size_t>(comm_.size()));
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const auto &a = known[2 * e], &b_end = known[2 * e + 1];
      if ((a.level == unreached) != (b_end.level == unreached) || std::abs(a.level - b_end.level) > 1) ++found.edges;
      if (a.level != unreached) ++found.component;
      const auto confirm = [&](std::int64_t child) {
        confirmed[static_cast<std::size_t>(blocks_.owner(child))].push_back(child);
      };
      if (a.parent == edges[e].to) confirm(edges[e].from);
      if (b_end.parent == edges[e].from) confirm(edges[e].to);
    }
    std::vector<std::int64_t> all, counts;
    for (const auto& part : confirmed) {
      all.insert(all.end(), part.begin(), part.end());
      counts.push_back(static_cast<std::int64_t>(part.size()));
    }
    const auto mine = comm::alltoallv_with_counts(comm_, comm::view_of(all), counts);
    for (std::size_t i = 0; i < mine.data.size(); ++i) is_edge[static_cast<std::size_t>(mine.data(i) - begin_)] = true;
  }
  for (std::int64_t v = 0; v < size_; ++v)
    found.no_edges += begin_ + v != root && tree.level(v) != unreached && !is_edge[static_cast<std::size_t>(v)];
}

/// A queue over all edges.
void TreeCheck::check_serial(std::int64_t root, const Tree& tree, Findings& found) const {
  const auto n = static_cast<std::size_t>(blocks_.vertices);
  std::vector<std::vector<std::int64_t>> neighbours(n);
  for (const auto& [from, to] : gathered_) {
    neighbours[static_cast<std::size_t>(from)].push_back(to);
    neighbours[static_cast<std::size_t>(to)].push_back(from);
  }
  std::vector<std::int64_t> level(n, unreached), queue{root};
  level[static_cast<std::size_t>(root)] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (const auto v : neighbours[static_cast<std::size_t>(queue[next])]) {
      if (level[static_cast<std::size_t>(v)] != unreached) continue;
      level[static_cast<std::size_t>(v)] = level[static_cast<std::size_t>(queue[next])] + 1;
      queue.push_back(v);
    }
  for (std::int64_t v = 0; v < size_; ++v) found.serial += tree.level(v) != level[static_cast<std::size_t>(begin_ + v)];
}

} // namespace kontor::graph
