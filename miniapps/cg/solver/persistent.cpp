// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/persistent.hpp"

#include "cg/solver/merged.hpp"

#include <fmt/format.h>

namespace kontor::cg {
namespace {

/// The merged method, up to 16 iterations of which are one kernel.
class Persistent final : public Merged {
 public:
  explicit Persistent(const Workspace& work) : Merged(work) {
    if (const auto refusal = refusal_of(work))
      work.options.method.location.fail(fmt::format("is persistent, but {}; choose merged", *refusal));
  }

 private:
  /// Equal on all ranks.
  std::optional<std::string> refusal_of(const Workspace& work) const {
    if (!work.as_on_device) return "iterations are made on the host";
    if (work.comm.size() > 1) return "there are several ranks, which exchange ghosts and sums";
    if (work.options.graph == stepping::Graphs::on) return "solver.graph is on";
    if (!fused()) return "kernels do not compute sums on the way (solver.fused, solver.sums)";
    if (applies()) return "a preconditioner is applied by kernels of its own";
    if (!work.matrix.can_iterate()) return "the format has no such kernel; sell and matrix_free have";
    return std::nullopt;
  }

  void choose_repetition() override { iterate(ResidualLog::most_at_once); }

  std::int64_t make_steps(std::int64_t most) override {
    const miniapp::ScopedTimer timed(work_.timers["persistent"]);
    const auto count = std::min<std::int64_t>(most, ResidualLog::most_at_once);
    iterate(static_cast<int>(count));
    return count;
  }

  /// Iterations that leave their end to the next one, as step() does.
  void iterate(int count) {
    work_.matrix.iterate(compute(), ghosted_.all(), w_,
                         {updates(), diagonal() != nullptr, sums_.local(), own(), count, &teams_});
  }

  PersistentTeams teams_;
};

} // namespace

std::unique_ptr<Solver> make_persistent(const Workspace& work) { return std::make_unique<Persistent>(work); }

} // namespace kontor::cg
