// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/matrix_market_reader.hpp"
#include "partition/row_order.hpp"
#include "target.hpp"

#include <kontor/config/error.hpp>

#include <sstream>
#include <stdexcept>

namespace kontor::fuzz {
namespace {

const std::vector<std::string> matrix_words{
    "\n",       "\r\n", "\r",      " ",       "\t",      "%",       "%%MatrixMarket",    "matrix",         "coordinate",
    "array",    "real", "integer", "complex", "pattern", "general", "symmetric",         "skew-symmetric", "hermitian",
    "\x1f\x8b", "+",    "-",       "1 1 1\n", "1.5D+3",  "nan",     std::string(3, '\0')};

} // namespace

Target matrices() {
  Material material{
      .samples = {"%%MatrixMarket matrix coordinate real symmetric\n% a comment\n3 3 5\n1 1 2\n2 2 2\n3 3 "
                  "2\n2 1 -1\n3 2 -1\n",
                  "%%MatrixMarket matrix coordinate integer general\n2 2 4\n1 1 3\n1 2 -1\n2 1 -1\n2 2 3\n",
                  "%%matrixmarket MATRIX Coordinate Real General\r\n\r\n1 1 1\r\n1 1 1.5D+3\r\n"},
      .words = matrix_words};
  return {"matrix", std::move(material), [](const std::string& input, const auto& file) {
            return refusal_of<config::Error>([&] {
              std::istringstream in(input);
              auto matrix = cg::read_matrix(in, file.string(), 1e9);
              if (matrix.entries.capacity() > input.size() + (1 << 16))
                throw std::runtime_error("room for more entries than the file can hold");
              sort_entries(matrix);
              require_symmetric_with_positive_diagonal(matrix);
            });
          }};
}

Target vectors() {
  Material material{.samples = {"%%MatrixMarket matrix array real general\n3 1\n1\n2.5\n-3e-4\n",
                                "%%MatrixMarket matrix array integer general\n3 1\n1\n2\n3\n"},
                    .words = matrix_words};
  return {"vector", std::move(material), [](const std::string& input, const auto& file) {
            std::istringstream in(input);
            return refusal_of<config::Error>([&] { static_cast<void>(cg::read_vector(in, file.string(), 3)); });
          }};
}

} // namespace kontor::fuzz
