// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/options.hpp"

#include <kontor/comm/registry.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace kontor::miniapp {
namespace {

using config::Named;

constexpr std::array<Named<comm::Pattern>, 6> patterns{{{"blocking", comm::Pattern::blocking},
                                                        {"nonblocking", comm::Pattern::nonblocking},
                                                        {"persistent", comm::Pattern::persistent},
                                                        {"neighborhood", comm::Pattern::neighborhood},
                                                        {"rma", comm::Pattern::rma},
                                                        {"auto", comm::Pattern::automatic}}};

constexpr std::array<Named<comm::CheckLevel>, 3> check_levels{{{"off", comm::CheckLevel::off},
                                                               {"local", comm::CheckLevel::local},
                                                               {"cross_rank", comm::CheckLevel::cross_rank}}};

constexpr std::array<Named<comm::Packing>, 4> packings{{{"auto", comm::Packing::automatic},
                                                        {"kernel", comm::Packing::kernel},
                                                        {"datatype", comm::Packing::datatype},
                                                        {"none", comm::Packing::none}}};

constexpr std::array<Named<comm::Path>, 3> paths{
    {{"direct", comm::Path::direct}, {"staged", comm::Path::staged}, {"auto", comm::Path::automatic}}};

constexpr std::array<Named<FieldSelection>, 2> field_selections{
    {{"final", FieldSelection::final}, {"none", FieldSelection::none}}};

constexpr std::array<Named<output::Access>, 3> accesses{{{"auto", output::Access::automatic},
                                                         {"parallel", output::Access::parallel},
                                                         {"gathered", output::Access::gathered}}};

template <class E>
std::string_view name_in(std::span<const Named<E>> names, E value) {
  return std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.value == value; })->name;
}

} // namespace

std::vector<Named<std::string>> backend_names() {
  std::vector<Named<std::string>> names;
  for (const auto& entry : comm::backends()) names.push_back({entry.name, std::string(entry.name)});
  names.push_back({comm::automatic_backend, comm::automatic_backend});
  return names;
}

std::span<const Named<comm::Pattern>> pattern_names() {
  return patterns;
}
std::span<const Named<comm::Packing>> packing_names() {
  return packings;
}
std::span<const Named<comm::Path>> path_names() {
  return paths;
}
std::string_view name_of(comm::Packing packing) {
  return name_in<comm::Packing>(packings, packing);
}
std::string_view name_of(comm::Pattern pattern) {
  return name_in<comm::Pattern>(patterns, pattern);
}

std::string_view name_of(comm::Path path) {
  return name_in<comm::Path>(paths, path);
}

std::string_view name_of(comm::CheckLevel check) {
  return name_in<comm::CheckLevel>(check_levels, check);
}

comm::Options RunOptions::comm_options() const {
  auto options = comm;
  options.ranks_per_node = static_cast<int>(ranks_per_node.value_or(0));
  return options;
}

void RunOptions::describe(config::Visitor& v) {
  v.section("comm", "How Views travel between ranks", [&](config::Visitor& c) {
    c.choice<std::string>("backend", comm.backend, backend_names(),
                          "The communication backend; auto: the fastest, by trial");
    c.choice<comm::Pattern>("pattern", comm.pattern, patterns,
                            "When messages are posted and completed; auto: the fastest, by trial");
    c.choice<comm::Packing>("packing", comm.packing, packings,
                            "How data that do not lie in one piece travel: by one pack kernel, as MPI "
                            "datatypes, not at all (none), or the faster of the first two, by trial");
    c.choice<comm::Path>(
        "path", comm.path, paths,
        "How Views in a GPU's memory travel: handed over as they are (direct), through pinned "
        "host memory (staged), or the faster, by trial");
    c.choice<comm::CheckLevel>("check", comm.check, check_levels,
                               "What is verified: nothing, what one rank sees, or that all ranks agree");
    c.value("patience", comm.timeout, "Seconds that a wait may take at check level cross_rank",
            {0, 1e6, true});
    c.value("trial", comm.trial, "Seconds, roughly, to try what is left to auto, for each exchange",
            {0, 1000});
    c.value("ranks_per_node", ranks_per_node,
            "shm: consecutive ranks that share memory; auto: MPI says which do", {1, 1 << 30});
    c.value("overlap", overlap, "Compute the interior while halos travel");
  });
  v.section("measure", "How often the work is timed", [&](config::Visitor& m) {
    m.value("repeats", repeats, "Timed repeats; the median counts", {1, 1000});
  });
  v.section("output", "What is written", [&](config::Visitor& o) {
    o.value("file", output_file, "The HDF5 file; empty: the deck's name with .h5 in the working directory");
    o.choice<FieldSelection>("fields", fields, field_selections, "The final fields, or the record only");
    o.value("every", snapshot_every, "Steps of the iteration between fields of a series; 0: no series", {0});
    o.choice<output::Access>("access", access, accesses,
                             "All ranks write (parallel), or rank 0 for all (gathered)");
  });
}

} // namespace kontor::miniapp
