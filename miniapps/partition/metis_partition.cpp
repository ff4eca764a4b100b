// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/metis_partition.hpp"

#include "partition/by_rank.hpp"

#include <kontor/errors/id.hpp>

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#if KONTOR_HAS_METIS
#include <metis.h>
#endif

namespace kontor::partition {

#if KONTOR_HAS_METIS

bool has_metis() { return true; }

std::optional<std::string> metis_refusal(std::int64_t weight) {
  if (weight <= std::numeric_limits<idx_t>::max()) return std::nullopt;
  return fmt::format("of this build counts with {} bits, too few for entries and rows that weigh {}: use rows",
                     IDXTYPEWIDTH, weight);
}

std::vector<int> metis_parts(const CoordinateMatrix& matrix, const std::vector<std::int64_t>& weights, int parts) {
  std::vector<idx_t> part(weights.size(), 0);
  if (parts > 1) {
    auto graph = make_graph<idx_t>(matrix);
    std::vector<idx_t> of_rows(weights.begin(), weights.end());
    idx_t rows = graph.rows(), constraints = 1, count = parts, cut = 0;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const int code =
        METIS_PartGraphKway(&rows, &constraints, graph.offsets.data(), graph.neighbours.data(), of_rows.data(), nullptr,
                            nullptr, &count, nullptr, nullptr, options, &cut, part.data());
    if (code != METIS_OK)
      throw std::runtime_error(
          fmt::format("METIS_PartGraphKway of {} rows into {} parts failed with code {}", matrix.rows, parts, code));
  }
  return {part.begin(), part.end()};
}

std::vector<int> metis_mesh_parts(const comm::Communicator& comm, const std::vector<std::int64_t>& nodes, int corners,
                                  std::int64_t node_count, int parts) {
  ByRank<std::int64_t> to_root;
  if (!nodes.empty()) to_root[0] = nodes;
  const auto lists = exchange_by_rank(comm, "elements for METIS", to_root);
  ByRank<int> answers;
  std::optional<std::string> problem;
  if (comm.rank() == 0) {
    std::vector<idx_t> corner;
    for (const auto& [rank, list] : lists) corner.insert(corner.end(), list.begin(), list.end());
    idx_t elements = static_cast<idx_t>(corner.size()) / corners, all_nodes = node_count, count = parts, cut = 0;
    idx_t shared = corners / 2; // nodes of a face, by which elements are neighbours
    std::vector<idx_t> first(static_cast<std::size_t>(elements) + 1), part(elements), part_of_node(node_count);
    for (std::size_t e = 0; e < first.size(); ++e) first[e] = static_cast<idx_t>(e) * corners;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const bool fits = node_count <= std::numeric_limits<idx_t>::max() / 8 &&
                      corner.size() <= static_cast<std::size_t>(std::numeric_limits<idx_t>::max()) / 8;
    const int code =
        !fits        ? METIS_ERROR_INPUT
        : parts == 1 ? METIS_OK
                     : METIS_PartMeshDual(&elements, &all_nodes, first.data(), corner.data(), nullptr, nullptr, &shared,
                                          &count, nullptr, options, &cut, part.data(), part_of_node.data());
    if (code != METIS_OK)
      problem = errors::with_id(fmt::format("METIS_PartMeshDual of {} elements into {} parts failed with code {}; use "
                                            "decomposition.method bisection",
                                            elements, parts, code),
                                "E-DECK-CONFLICT");
    auto next = part.begin();
    for (const auto& [rank, list] : lists) {
      const auto end = next + static_cast<std::ptrdiff_t>(list.size()) / corners;
      answers[rank].assign(next, end);
      next = end;
    }
  }
  comm.agree(problem);
  const auto own = exchange_by_rank(comm, "parts by METIS", answers);
  return own.contains(0) ? own.at(0) : std::vector<int>();
}

#else

bool has_metis() { return false; }

std::optional<std::string> metis_refusal(std::int64_t) {
  return "is not in this build: install libmetis-dev, or METIS, and configure again, or use rows";
}

std::vector<int> metis_parts(const CoordinateMatrix&, const std::vector<std::int64_t>&, int) {
  throw std::logic_error("this build has no METIS");
}

std::vector<int> metis_mesh_parts(const comm::Communicator&, const std::vector<std::int64_t>&, int, std::int64_t, int) {
  throw std::logic_error("this build has no METIS");
}

#endif

} // namespace kontor::partition
