// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/result.hpp"

#include "run/record/kernel_runs.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

namespace kontor::miniapp {

std::string FigureOfMerit::remark() const {
  if (!std::isfinite(attainable) || has_fraction()) return {};
  return fmt::format("no fraction: {:.4g} is {:.2f} of the attainable {:.4g}, and more than {:.1f} is an error of the "
                     "calibration or of the measurement; run it again on a machine that does nothing else",
                     value, fraction(), attainable, largest_fraction * reuse);
}

FigureOfMerit limited_by_memory(FigureOfMerit figure, double seconds, const BytesMoved& moved,
                                const Calibration& machine) {
  figure.attainable = figure.value * seconds / machine.seconds_for(moved);
  figure.moved = moved;
  return figure;
}

double seconds_at_best(std::span<const KernelRun> kernels, const Calibration& machine) {
  double seconds = 0;
  for (const auto& kernel : kernels) seconds += machine.seconds_for(kernel.moved, kernel.flops);
  return seconds;
}

std::vector<FigureOfMerit> figures_of_kernels(std::span<const KernelRun> kernels, const Calibration& machine) {
  std::vector<FigureOfMerit> result;
  for (const auto& kernel : kernels) {
    const double bytes = kernel.moved.read + kernel.moved.written;
    result.push_back({.name = kernel.name + "_bandwidth",
                      .value = bytes / kernel.seconds,
                      .unit = "B/s",
                      .attainable = bytes / seconds_at_best({&kernel, 1}, machine),
                      .moved = kernel.moved});
  }
  return result;
}

nlohmann::ordered_json record_of_kernels(std::span<const KernelRun> kernels) {
  auto table = nlohmann::ordered_json::array();
  for (const auto& kernel : kernels)
    table.push_back({{"kernel", kernel.name},
                     {"seconds", kernel.seconds},
                     {"bytes", kernel.moved.read + kernel.moved.written},
                     {"flops", kernel.flops}});
  return table;
}

std::vector<FigureOfMerit> figures_of_cells(double updates, std::size_t size, double seconds, const BytesMoved& moved,
                                            const Calibration& machine) {
  const double bytes = 2 * static_cast<double>(size) * updates;
  return {limited_by_memory({"cell_updates", updates / seconds, "1/s"}, seconds, moved, machine),
          limited_by_memory({"effective_bandwidth", bytes / seconds, "B/s"}, seconds, moved, machine)};
}

Verification judge(const comm::Communicator& comm, const std::vector<Check>& checks) {
  Verification result{.measure = {}, .tolerance = 1};
  for (const auto& [name, error, bound] : checks) {
    const bool finite = std::isfinite(error) && std::isfinite(bound) && bound > 0;
    const double ratio = comm::allreduce(comm, finite ? error / bound : INFINITY, comm::ReduceOp::max);
    result.more.emplace_back(name, ratio);
    if (result.measure.empty() || ratio > result.error)
      result.measure = fmt::format("error of {} relative to its bound, the largest of all checks", name);
    result.error = std::max(result.error, ratio);
  }
  return result;
}

} // namespace kontor::miniapp
