// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/multiplication.hpp"
#include "matmul/options.hpp"
#include "matmul/process_grid.hpp"
#include "matmul/verification.hpp"
#include "run/mini_app.hpp"
#include "stepping/streams.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kontor::matmul {

/// A product of dense matrices, distributed over the ranks.
template <class T>
class Matmul final : public miniapp::MiniApp {
 public:
  /// Collective. Makes A and B. Throws AgreedError if they do not fit into memory, config::Error for what the
  /// deck can mend.
  Matmul(const Options&, const miniapp::RunContext&);
  ~Matmul() override;

  void warm_up() override;
  void reset() override;
  void run() override;
  miniapp::Verification verify() override;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  miniapp::AppRecord record() const override;
  miniapp::CalibrationRequest calibration() const override;
  miniapp::ProgressWords progress_words() const override { return {.step = "step", .work = "flop"}; }
  std::optional<miniapp::FieldOutput> write_fields(output::File&) const override;

 private:
  Options options_;
  miniapp::RunContext context_;
  ProcessGrid grid_;
  stepping::Streams<Space> streams_;
  std::unique_ptr<Multiplication<T>> multiplication_;
  std::optional<Verifier<T>> verifier_;  ///< none: nothing moves
  std::vector<double> multiply_seconds_; ///< of each repeat: without skew and restore, of the slowest rank
  miniapp::AppRecord record_;
};

extern template class Matmul<float>;
extern template class Matmul<double>;

} // namespace kontor::matmul
