// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/check/verification.hpp"
#include "cg/names.hpp"
#include "cg/options.hpp"
#include "cg/problem/linear_system.hpp"
#include "cg/problem/problem.hpp"
#include "cg/solver/solver.hpp"
#include "run/loop/stepped_app.hpp"
#include "stepping/streams.hpp"

namespace kontor::cg {

/// A sparse linear system, solved by a conjugate-gradient method.
class Cg final : public miniapp::SteppedApp {
 public:
  /// Collective. Builds the system. Throws AgreedError if it does not fit into memory, config::Error for what the deck
  /// can mend.
  Cg(const Options&, const miniapp::RunContext&);
  ~Cg() override;

  void warm_up() override { solver_->warm_up(); }
  void reset() override;
  miniapp::Verification verify() override;
  miniapp::Verification verify_launches() override;
  miniapp::Verification verify_start() override;
  std::optional<miniapp::StepCounts> counts() const override;
  std::vector<miniapp::FileValue> file_values() const override { return file_values_; }
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  nlohmann::ordered_json record() const override;
  miniapp::CalibrationRequest calibration() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string& group) const override;
  void write_state(output::File&) const override;
  void read_state(const output::Reader&) override;

  /// Local. Own values of the solution, and which rows they are of.
  Vector solution() const { return solver_->solution(); }
  const Partition& partition() const { return system_.partition; }

 private:
  miniapp::Launches& launches() override { return solver_->launches(); }
  const miniapp::Launches& launches() const override { return solver_->launches(); }
  bool begin_alone() override {
    solver_->begin_alone();
    return true;
  }
  bool end_alone() override { return solver_->end_alone(); }
  void finish(std::int64_t made) override;
  /// Local. Iterations of the last repeat by this run, which figures count.
  std::int64_t iterations() const { return std::max<std::int64_t>(0, outcome_.iterations - made_before_); }
  /// What the answer is judged by.
  struct Judge {
    comm::Communicator baseline;
    ReferenceRows rows;
    RowLookup lookup;
  };
  /// Collective; waits. Made once.
  const Judge& judge();

  /// Collective. Keeps rows of a file, to verify with.
  LinearSystem build();

  Options options_;
  ReferenceRows file_rows_; ///< at rank 0
  std::unique_ptr<Problem> problem_;
  LinearSystem system_;
  stepping::Streams<Space> streams_;
  std::unique_ptr<Matrix> matrix_;
  std::unique_ptr<Solver> solver_;
  std::int64_t entries_ = 0;     ///< of the whole matrix
  double matrix_bytes_ = 0;      ///< that a product moves, all ranks together
  std::int64_t made_before_ = 0; ///< iterations of the solve, by another run
  Outcome outcome_;
  std::optional<Accuracy> accuracy_; ///< if it has been verified
  std::optional<Judge> judge_;
  std::vector<miniapp::FileValue> file_values_; ///< of the solution that was verified
  nlohmann::ordered_json record_;
};

} // namespace kontor::cg
