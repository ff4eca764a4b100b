// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/problem/box_rows.hpp"
#include "cg/problem/problem.hpp"

namespace kontor::cg {

/// A problem whose rows are the points of a box: what does not depend on the equations.
class BoxProblem : public Problem {
 public:
  std::optional<miniapp::FieldOutput> write(output::File&, const std::string& group,
                                            const Vector& solution) const final;
  void write_vector(output::File&, const std::string& dataset, const Vector&) const final;
  void read_vector(const output::Reader&, const std::string& dataset, const Vector&) const final;

 protected:
  /// Collective. Without rows.
  BoxProblem(const Options&, const miniapp::RunContext&);

  /// Collective. Makes the rows, unless what is to come does not fit into memory: throws AgreedError then. A row reads
  /// the points across faces, or, `corners`, all around.
  void make_rows(const Options&, bool corners);

  comm::Communicator cartesian_;
  grid::DeckFunction initial_; ///< guess
  BoxRows box_;
};

} // namespace kontor::cg
