// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/combinations.hpp"

#include "run/options.hpp"

#include <kontor/comm/registry.hpp>

#include <fmt/format.h>

#include <set>

namespace kontor::pingpong {
namespace {

/// What is asked for, or all but `auto`.
template <class T>
std::vector<T> chosen(const std::vector<T>& asked, std::span<const config::Named<T>> all) {
  if (!asked.empty()) return asked;
  std::vector<T> values;
  for (const auto& named : all)
    if (named.name != comm::automatic_backend) values.push_back(named.value);
  return values;
}

/// Of no consequence, and so not told apart, for Views in host memory.
std::vector<comm::Path> paths_of(const Options& o) {
  if (device::kernels_on_host) return {comm::Path::automatic};
  return chosen<comm::Path>(o.paths, miniapp::path_names());
}

std::vector<comm::Options> combinations(const Options& o, comm::Options options) {
  std::vector<comm::Options> result;
  for (const auto& backend : chosen<std::string>(o.backends, miniapp::backend_names()))
    for (const auto pattern : chosen<comm::Pattern>(o.patterns, miniapp::pattern_names()))
      for (const auto packing : chosen<comm::Packing>(o.packings, miniapp::packing_names()))
        for (const auto path : paths_of(o)) {
          auto& combination = result.emplace_back(options);
          combination.backend = backend;
          combination.pattern = pattern;
          combination.packing = packing;
          combination.path = path;
        }
  if (o.backends.empty() && o.patterns.empty() && o.packings.empty() && o.paths.empty()) {
    options.backend = comm::automatic_backend;
    options.pattern = comm::Pattern::automatic;
    options.packing = comm::Packing::automatic;
    options.path = comm::Path::automatic;
    result.push_back(options);
  }
  return result;
}

std::string name_of(const comm::Options& options) {
  auto name =
      fmt::format("{} {} {}", options.backend, comm::to_string(options.pattern), comm::to_string(options.packing));
  if (!device::kernels_on_host) name += fmt::format(" {}", comm::to_string(options.path));
  return name;
}

} // namespace

std::vector<TimedMethod> candidates(const Bench& bench, Refusals& refusals) {
  std::vector<TimedMethod> result;
  std::set<comm::Packing> idle;
  for (const auto& options : combinations(bench.options, bench.comm().options())) {
    auto name = name_of(options);
    if (const auto refused = comm::refusal(options)) {
      refusals.emplace(std::move(name), refused->what());
      continue;
    }
    try { // what only the machine tells
      comm::Communicator comm(bench.comm().native(), options);
      const bool moves_data = comm.capabilities().moves_data;
      if (!moves_data && !idle.insert(options.packing).second)
        continue; // no pattern and no path makes a difference to it
      result.push_back({std::move(name), std::move(comm), moves_data});
    } catch (const comm::UsageError& error) {
      refusals.emplace(std::move(name), error.what());
    }
  }
  if (result.empty()) refuse_all(bench.options, refusals);
  return result;
}

void refuse_all(const Options& options, const Refusals& refusals) {
  std::string reasons;
  for (const auto& [name, why] : refusals) reasons += fmt::format("\n  {}: {}", name, why);
  options.measure.location.fail(
      fmt::format("has no combination of backends, patterns and packings that is available:{}", reasons),
      "E-COMM-BACKEND");
}

void tell(const Refusals& refusals, Findings& findings) {
  if (refusals.empty()) return;
  auto& all = findings.record["not_possible"] = nlohmann::ordered_json::array();
  for (const auto& [name, why] : refusals) all.push_back({{"series", name}, {"why", why}});
  findings.notes.push_back(
      fmt::format("{} combinations are not possible; /run/not_possible says why", refusals.size()));
}

} // namespace kontor::pingpong
