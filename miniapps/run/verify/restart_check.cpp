// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/verify/restart_check.hpp"

#include "run/mini_app.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::miniapp {

void RestartCheck::before_step(const MiniApp& app) {
  if (!restart_) return;
  output::File state(comm_.native(), std::exchange(restart_, nullptr)->reader());
  app.write_state(state);
  const auto& differences = state.differences();
  verdict_ = {.measure = "parts of the restored state that differ from the checkpoint",
              .error = static_cast<double>(differences.size()),
              .judged = {"restored state against the checkpoint, all of it"}};
  if (!differences.empty()) verdict_.remark = fmt::format("{}", fmt::join(differences, ", "));
}

} // namespace kontor::miniapp
