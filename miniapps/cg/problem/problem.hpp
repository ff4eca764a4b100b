// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/options.hpp"
#include "cg/problem/linear_system.hpp"
#include "grid/block.hpp"
#include "run/mini_app.hpp"

namespace kontor::cg {

struct WholeSystem;

/// Where a system comes from, and what its solution means.
class Problem {
 public:
  virtual ~Problem() = default;

  /// Collective. This rank's rows. take(whole) is called on rank 0 with the system of a file, before it is distributed.
  /// Throws config::Error or AgreedError on every rank.
  using TakeFile = std::function<void(const WholeSystem&)>;
  virtual LinearSystem build(const TakeFile& take = {}) = 0;

  /// Local; waits. The product without a stored matrix, where the problem has one; else nullptr.
  virtual std::unique_ptr<Matrix> matrix_free(const ProductTuning& = {}) const { return nullptr; }

  /// What the solution is called: it is written to <group>/<name>.
  virtual std::string field() const { return "x"; }
  /// Collective. Writes the solution, own values in the order of own rows.
  virtual std::optional<miniapp::FieldOutput> write(output::File&, const std::string& group,
                                                    const Vector& solution) const = 0;

  /// Collective. A vector, own values in the order of own rows, as a dataset that does not depend on which rank has
  /// which rows.
  virtual void write_vector(output::File&, const std::string& dataset, const Vector&) const = 0;
  /// Collective; waits. What write_vector() wrote, on any ranks. Throws output::Error.
  virtual void read_vector(const output::Reader&, const std::string& dataset, const Vector&) const = 0;

  /// Local. This rank's points; null: the rows are no points of a box.
  virtual const grid::Block* block() const { return nullptr; }

  /// Local. What else /run/matrix tells; rank 0's is written.
  virtual nlohmann::ordered_json matrix_record() const { return nlohmann::ordered_json::object(); }
};

/// Collective.
std::unique_ptr<Problem> make_fe_heat(const Options&, const miniapp::RunContext&);
std::unique_ptr<Problem> make_stencil(const Options&, const miniapp::RunContext&);
std::unique_ptr<Problem> make_matrix_market(const Options&, const miniapp::RunContext&);
std::unique_ptr<Problem> make_problem(const Options&, const miniapp::RunContext&);

} // namespace kontor::cg
