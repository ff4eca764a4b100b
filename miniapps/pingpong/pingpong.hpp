// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"
#include "run/mini_app.hpp"

namespace kontor::pingpong {

/// What messages, halos and collective operations cost, each way of them, on the machine at hand.
class PingPong final : public miniapp::MiniApp {
 public:
  /// Collective over the context's communicator. Options are resolved. Throws config::Error if a size does
  /// not fit in memory.
  PingPong(const Options&, const miniapp::RunContext&);

  void warm_up() override {} ///< each way is warmed up where it is measured
  void reset() override;
  void run() override;
  miniapp::Verification verify() override;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  miniapp::AppRecord record() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string&) const override {
    return {};
  }

 private:
  Options options_;
  miniapp::RunContext context_;
  std::vector<std::string> notes_;
  std::vector<Case> cases_;
  Findings findings_;
  std::int64_t wrong_ = 0; ///< in all repeats
};

} // namespace kontor::pingpong
