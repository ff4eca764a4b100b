// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/launches.hpp"

#include "run/loop/run_steps.hpp"

#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace kontor::miniapp {

/// Why steps cannot be replayed, equal on all ranks.
std::optional<std::string> Launches::graph_refusal(std::int64_t snapshot_every) const {
  if (!terms_.queued) return "steps are made on the host";
  if (terms_.graph_refusal) return terms_.graph_refusal;
  std::int64_t row = plan_.alike_after(0, pattern_);
  for (const auto every : {snapshot_every, plan_.break_every})
    if (every > 0) row = std::min(row, every);
  if (row < pattern_.steps)
    return fmt::format("a graph makes {} steps in a row, and there are {} without another value or break",
                       pattern_.steps, row);
  return std::nullopt;
}

/// `unusual`: why only the deck can choose it.
void Launches::add(Launch kind, std::optional<std::string> refusal, std::optional<std::string> unusual) {
  const auto& wanted = terms_.wanted;
  const auto name = stepping::name_of(kind);
  if (wanted == kind && refusal)
    wanted.location.fail(fmt::format("is {}, but {}; choose auto or per_kernel", name, *refusal));
  if (!refusal && wanted == Launch::automatic) refusal = std::move(unusual);
  if (!refusal && wanted != Launch::automatic && wanted != kind) refusal = "the deck chooses another";
  trial_.candidates.push_back({name, std::move(refusal)});
}

void Launches::choose(std::int64_t snapshot_every) {
  plan_ = steps_.plan();
  terms_ = steps_.launch_terms();
  const auto& comm = *terms_.comm;
  pattern_ = plan_.pattern(16, std::lcm(terms_.states, plan_.period));
  passes_ = plan_.passes(pattern_);
  graphs_.clear();
  alone_.clear();
  trial_ = {};
  std::optional<std::string> of_graph, of_kernel;
  if (stepping::tool_listens(comm)) of_graph = "a profiling tool would see its kernels once";
  if (stepping::ranks_share_device(comm)) of_kernel = "ranks share a device";
  if (plan_.limit < 2 * terms_.kernel_steps) of_kernel = "the steps are few";
  if (!terms_.queued) terms_.kernel_refusal = "steps are made on the host";
  add(Launch::per_kernel, {}, {});
  add(Launch::graph, graph_refusal(snapshot_every), std::move(of_graph));
  add(Launch::persistent, terms_.kernel_refusal, std::move(of_kernel));
  const bool graph = !trial_.candidates[1].refusal, kernel = !trial_.candidates[2].refusal;
  if (kernel) steps_.use_kernel(true);
  if (graph) capture();
  const auto kind_of = [](std::size_t candidate) { return static_cast<Launch>(candidate + 1); };
  const auto count = whole_patterns(kernel ? terms_.kernel_steps : 0);
  const device::Region region("stepping/trial");
  trial_.choose(comm, static_cast<double>(plan_.limit) / static_cast<double>(count), [&](std::size_t c, int times) {
    comm::Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < times; ++i) make(kind_of(c), count, true);
    terms_.streams->fence();
    watch.lap(seconds);
    return seconds / times;
  });
  chosen_ = kind_of(trial_.chosen);
  if (kernel && chosen_ != Launch::persistent) steps_.use_kernel(false);
  if (chosen_ == Launch::graph)
    capture_alone();
  else
    graphs_.clear();
  if (chosen_ != Launch::per_kernel && !trial_.tried()) make(chosen_, count, true); // the first time takes longer
}

/// So many steps, rounded up.
std::int64_t Launches::whole_patterns(std::int64_t steps) const {
  return std::max<std::int64_t>(1, (steps + pattern_.steps - 1) / pattern_.steps) * pattern_.steps;
}

Launches::Graphs Launches::captured(bool exchanges) {
  if (!steps_.fits_graph()) throw std::logic_error("a graph is captured where it would not be replayed");
  Graphs graphs;
  for (int state = 0; state < terms_.states; ++state)
    graphs.push_back(terms_.streams->capture([this, state, exchanges] {
      int from = state;
      for (auto pass : passes_) {
        pass.exchanges = exchanges;
        from = steps_.queue(from, pass);
      }
    }));
  return graphs;
}

void Launches::capture() {
  stepping::capture_on_all(*terms_.comm, terms_.wanted.location, [&] { graphs_ = captured(true); });
  for (const auto& graph : graphs_) terms_.streams->replay(graph); // the first time takes longer
  terms_.streams->fence();
}

void Launches::capture_alone() {
  if (terms_.comm->size() == 1) return;
  stepping::capture_on_all(*terms_.comm, terms_.wanted.location, [&] { alone_ = captured(false); });
}

void Launches::capture_again() {
  if (chosen_ != Launch::graph) return;
  capture();
  capture_alone();
}

StepPlan Launches::begin() {
  plan_ = steps_.plan();
  made_by_ = {};
  steps_.begin(chosen_);
  return plan_;
}

int Launches::queue(int state, const Pass& pass) {
  const int next = steps_.queue(state, pass);
  steps_.moved(pass);
  return next;
}

void Launches::replay(const Graphs& graphs) {
  terms_.streams->replay(graphs[static_cast<std::size_t>(steps_.current_state())]);
  for (const auto& pass : passes_) steps_.moved(pass);
}

/// So many steps, whole passes of the pattern, whose values nobody reads.
void Launches::make(Launch kind, std::int64_t count, bool exchanges) {
  for (std::int64_t made = 0; made < count;) {
    const int by_kernel = kind == Launch::persistent ? steps_.kernel_length(made, count) : 0;
    if (by_kernel > 0) {
      steps_.launch_kernel(made, by_kernel, exchanges, false);
      for (int i = 0; i < by_kernel; ++i) steps_.moved({made + i});
      made += by_kernel;
    } else if (kind == Launch::graph) {
      replay(exchanges ? graphs_ : alone_);
      made += pattern_.steps;
    } else {
      auto pass = *std::ranges::find(passes_, made % pattern_.steps, &Pass::after);
      pass.exchanges = exchanges;
      queue(steps_.current_state(), pass);
      made += pass.steps;
    }
  }
}

bool Launches::graph_fits(std::int64_t made, std::int64_t until) const {
  const auto end = made + pattern_.steps;
  return chosen_ == Launch::graph && end <= until && made % plan_.period == 0 && steps_.fits_graph() &&
         plan_.alike_after(made, pattern_) == pattern_.steps &&
         !(plan_.last_alone && end == plan_.limit && passes_.back().steps > 1);
}

std::int64_t Launches::advance(std::int64_t made, std::int64_t until) {
  if (const auto every = plan_.break_every; every > 0) until = std::min(until, (made / every + 1) * every);
  const bool single = steps_.value_open(); // no more than one step can be undone
  if (single) until = made + 1;
  auto reach = until;
  if (plan_.stops && plan_.value_every > 0 && !terms_.kernel_ends)
    reach = std::min(until, (made / plan_.value_every + 1) * plan_.value_every);
  const int kernel = chosen_ == Launch::persistent && !single ? steps_.kernel_length(made, reach) : 0;
  const auto kind = kernel > 0 ? Launch::persistent : graph_fits(made, until) ? Launch::graph : Launch::per_kernel;
  const auto count = kind == Launch::persistent ? by_kernel(made, kernel)
                     : kind == Launch::graph    ? by_graph(made)
                                                : by_pass(made, until);
  made_by_[static_cast<std::size_t>(kind)] += count;
  return count;
}

std::int64_t Launches::by_kernel(std::int64_t made, int steps) {
  const ScopedTimer timed(timers_["persistent"]);
  int values = 0;
  for (int i = 1; i <= steps; ++i) values += plan_.value(made + i) ? 1 : 0;
  if (values > 0) steps_.make_room(values);
  steps = steps_.launch_kernel(made, steps, true, true);
  for (int i = 0; i < steps; ++i) {
    const Pass pass{made + i, 1, plan_.value(made + i + 1)};
    steps_.moved(pass);
    steps_.account(pass);
  }
  return steps;
}

std::int64_t Launches::by_graph(std::int64_t made) {
  if (pattern_.values() > 0) steps_.make_room(pattern_.values());
  {
    const ScopedTimer timed(timers_["graph"]);
    steps_.poll();
    replay(graphs_);
  }
  for (auto pass : passes_) {
    pass.after += made;
    steps_.account(pass);
  }
  return pattern_.steps;
}

std::int64_t Launches::by_pass(std::int64_t made, std::int64_t until) {
  const auto pass = plan_.pass(made, until);
  queue(steps_.current_state(), pass);
  steps_.account(pass);
  return pass.steps;
}

std::int64_t Launches::advance_alone() {
  const auto few = std::max({passes_.front().steps, pattern_.value_every, plan_.period});
  const auto count = chosen_ == Launch::per_kernel ? few
                     : chosen_ == Launch::graph    ? pattern_.steps
                                                   : whole_patterns(terms_.kernel_steps);
  make(chosen_, count, false);
  return count;
}

Verification Launches::verify(const LaunchCheck& check) {
  if (!check.plainly && chosen_ == Launch::per_kernel && plan_.together == 1) return {}; // they are the plain ones
  const auto longest = chosen_ == Launch::persistent ? terms_.kernel_steps : pattern_.steps;
  check.restart();
  const auto made = run_steps(*this, {.limit = longest + plan_.together + 2});
  const auto kept = check.digest ? check.digest() : 0;
  if (!check.digest) check.remember();
  check.restart();
  if (check.plainly) {
    check.plainly(made);
  } else {
    steps_.begin(Launch::per_kernel);
    for (std::int64_t step = 1; step <= made; ++step) {
      const Pass pass{step - 1, 1, plan_.value(step)};
      queue(steps_.current_state(), pass);
      steps_.account(pass);
    }
    steps_.drain();
  }
  const double different = check.digest ? comm::allreduce(*steps_.launch_terms().comm,
                                                          check.digest() == kept ? 0.0 : 1.0, comm::ReduceOp::sum)
                                        : check.differences();
  check.restart();
  return {.measure = fmt::format("{} that differ after launches ({}) and after {} plain steps", check.places,
                                 stepping::name_of(chosen_), made),
          .error = different,
          .judged = {fmt::format("the first {} steps against plain ones{}", made, check.remark)}};
}

nlohmann::ordered_json Launches::record() const {
  const auto most = std::ranges::max_element(made_by_);
  nlohmann::ordered_json record{
      {"launch", stepping::name_of(*most > 0 ? static_cast<Launch>(most - made_by_.begin()) : chosen_)}};
  if (trial_.candidates.size() > 1 && trial_.tried()) record["launch_trial"] = trial_.record();
  return record;
}

} // namespace kontor::miniapp
