// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/methods.hpp"

#include "run/options.hpp"

#include <kontor/comm/registry.hpp>

namespace kontor::pingpong {
namespace {

/// The values that the deck lists, or all but `auto`.
template <class T>
std::vector<T> chosen(const std::vector<T>& listed, std::span<const config::Named<T>> all) {
  if (!listed.empty()) return listed;
  std::vector<T> values;
  for (const auto& named : all)
    if (named.name != comm::automatic_backend) values.push_back(named.value);
  return values;
}

} // namespace

Methods::Methods(Bench& bench) : bench_(bench) {
  const auto& o = bench.options;
  auto options = bench.comm().options();
  const auto add_method = [&](const std::string& backend, comm::Pattern pattern, comm::Packing packing,
                              comm::Path path) {
    options.backend = backend;
    options.pattern = pattern;
    options.packing = packing;
    options.path = path;
    auto name = fmt::format("{} {} {}", backend, comm::to_string(pattern), comm::to_string(packing));
    if (!device::kernels_on_host) name += fmt::format(" {}", comm::to_string(path));
    add(name, options);
  };
  // Views in host memory have one path.
  const auto paths =
      device::kernels_on_host ? std::vector{comm::Path::automatic} : chosen<comm::Path>(o.paths, miniapp::path_names());
  for (const auto& backend : chosen<std::string>(o.backends, miniapp::backend_names()))
    for (const auto pattern : chosen<comm::Pattern>(o.patterns, miniapp::pattern_names()))
      for (const auto packing : chosen<comm::Packing>(o.packings, miniapp::packing_names()))
        for (const auto path : paths) add_method(backend, pattern, packing, path);
  if (o.backends.empty() && o.patterns.empty() && o.packings.empty() && o.paths.empty())
    add_method(comm::automatic_backend, comm::Pattern::automatic, comm::Packing::automatic, comm::Path::automatic);
  require(!methods_.empty());
}

void Methods::add(const std::string& name, const comm::Options& options) {
  if (const auto refused = comm::refusal(options)) return refuse(name, *refused);
  try { // the machine may refuse as well
    comm::Communicator comm(bench_.comm().native(), options);
    // Pattern and path make no difference to what moves no data.
    const auto repeats = [&](const Method& m) {
      return !m.comm.capabilities().moves_data && m.comm.options().packing == options.packing;
    };
    if (comm.capabilities().moves_data || std::ranges::none_of(methods_, repeats))
      methods_.push_back({name, std::move(comm)});
  } catch (const comm::UsageError& error) {
    refuse(name, error);
  }
}

bool Methods::moves_data(std::string_view name) const {
  const auto found = std::ranges::find(methods_, name, &Method::name);
  return found == methods_.end() || found->comm.capabilities().moves_data;
}

void Methods::refuse(const std::string& name, const comm::UsageError& error) { refusals_.emplace(name, error.what()); }

void Methods::require(bool some) const {
  if (some) return;
  std::string reasons;
  for (const auto& [name, why] : refusals_) reasons += fmt::format("\n  {}: {}", name, why);
  bench_.options.measure.location.fail(
      fmt::format("has no combination of backends, patterns and packings that is available:{}", reasons),
      "E-COMM-BACKEND");
}

void Methods::require_data() {
  std::erase_if(methods_, [](const Method& m) { return !m.comm.capabilities().moves_data; });
  require(!methods_.empty());
}

void Methods::report() const {
  if (refusals_.empty()) return;
  auto& findings = bench_.findings;
  for (const auto& [name, why] : refusals_) findings.record["not_possible"].push_back({{"series", name}, {"why", why}});
  findings.notes.push_back(
      fmt::format("{} combinations are not possible; /run/not_possible says why", refusals_.size()));
}

} // namespace kontor::pingpong
