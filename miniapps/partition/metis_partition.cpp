// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/metis_partition.hpp"

#include "partition/graph.hpp"

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

#else

bool has_metis() { return false; }

std::optional<std::string> metis_refusal(std::int64_t) {
  return "is not in this build: install libmetis-dev, or METIS, and configure again, or use rows";
}

std::vector<int> metis_parts(const CoordinateMatrix&, const std::vector<std::int64_t>&, int) {
  throw std::logic_error("this build has no METIS");
}

#endif

} // namespace kontor::partition
