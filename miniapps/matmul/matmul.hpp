// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/multiplication.hpp"
#include "matmul/algorithm/process_grid.hpp"
#include "matmul/check/elements.hpp"
#include "matmul/check/verification.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/given_matrices.hpp"
#include "run/loop/stepped_app.hpp"
#include "stepping/streams.hpp"

namespace kontor::matmul {

/// A product of dense matrices, distributed over the ranks.
template <class T>
class Matmul final : public miniapp::SteppedApp, private miniapp::Steps {
 public:
  /// Collective. Makes A and B. Throws AgreedError if they do not fit into memory, config::Error for what the deck can
  /// mend. Tests go the device's way on a host too.
  Matmul(const Options&, const miniapp::RunContext&, bool as_on_device = stepping::on_device);

  void warm_up() override;
  void reset() override;
  miniapp::Verification verify() override;
  miniapp::Verification verify_start() override;
  std::optional<miniapp::StepCounts> counts() const override;
  std::vector<miniapp::FileValue> file_values() const override { return file_values_; }
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  miniapp::AppRecord record() const override;
  miniapp::CalibrationRequest calibration() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string& group) const override;
  void write_state(output::File&) const override;
  void read_state(const output::Reader&) override;

  void reset_blocks();
  /// Collective; after reset_blocks(). A pass of the multiplication; the seconds of its steps, of the slowest rank.
  double seconds_of_pass(Pass);

  /// Local. This rank's parts, as they are given; those of other layers than the first mean nothing.
  const ProcessGrid& grid() const { return grid_; }
  LocalMatrix<T> a() const { return given_->a(); }
  LocalMatrix<T> b() const { return given_->b(); }
  LocalMatrix<T> c() const { return given_->c(); }

 private:
  /// Seconds of a repeat, of the slowest rank.
  struct Seconds {
    double without_redistribution = 0; ///< steps and what is around them
    double steps = 0;
  };
  Steps& steps() override { return *this; }
  miniapp::StepPlan begin() override;
  std::int64_t advance(std::int64_t made, std::int64_t until) override;
  void drain() override { streams_.fence(); }
  void finish(std::int64_t made) override;

  template <class Work>
  void redistribute(const Work&);
  std::string table() const;
  /// The part of the steps that this run makes.
  double share_made() const;
  double median_of(double Seconds::*) const;
  double exposed() const;

  Options options_;
  ProcessGrid grid_;
  ChosenMethod method_;
  stepping::Streams<Space> streams_;
  std::unique_ptr<Multiplication<T>> multiplication_;
  std::optional<GivenMatrices<T>> given_;
  std::optional<Verifier<T>> verifier_; ///< none: nothing moves
  std::optional<ElementCheck<T>> elements_;
  std::vector<miniapp::FileValue> file_values_; ///< of the C that was verified
  miniapp::Verification earlier_;               ///< of repeats before the last
  bool complete_ = false;                       ///< C is that of a repeat
  std::int64_t first_step_ = 0;                 ///< those before have been made by another run
  std::int64_t steps_made_ = 0;                 ///< of the repeat, so far
  miniapp::Timer* redistribute_ = nullptr;
  double memory_before_ = 0;   ///< bytes in use before matrices were made, all ranks
  double memory_of_views_ = 0; ///< bytes derived for them
  double products_alone_ = 0;  ///< seconds of the steps without transfers, of the slowest rank
  double transfers_alone_ = 0; ///< and of transfers without products
  comm::Stopwatch watch_;
  double without_redistribution_ = 0; ///< seconds of the repeat so far
  std::vector<Seconds> seconds_;      ///< of the repeats
  miniapp::AppRecord record_;
};

extern template class Matmul<float>;
extern template class Matmul<double>;

} // namespace kontor::matmul
