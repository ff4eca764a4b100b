// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast checkpoints are written, as a fraction of the speed at which the same ranks write the same bytes
// to the same disk plainly: each a part in one piece, by pwrite(), then fsync(). Both in turn in each round;
// files are removed between them. And what checkpoints cost a step in which none is due.
//   mpirun -n 2 heat_checkpoint_rate [--cells 8192 8192] [--grid 1 2] [--rounds 7] [--folder .] [--access
//   auto]
#include "heat/heat.hpp"
#include "run/checkpoint/checkpoints.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/config/deck.hpp>
#include <kontor/device/clock.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace kontor;

struct Settings {
  std::vector<std::int64_t> cells{8192, 8192}, grid;
  int rounds = 7;
  std::string folder = ".", access = "auto";
};

/// Seconds of work() on the slowest rank.
double seconds_of(const comm::Communicator& comm, const std::function<void()>& work) {
  comm::barrier(comm);
  const double begun = device::seconds();
  work();
  return comm::allreduce(comm, device::seconds() - begun, comm::ReduceOp::max);
}

/// Of all ranks, user and system: unlike the other times it hardly depends on what else runs.
double processor_seconds(const comm::Communicator& comm) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return comm::allreduce(comm, of(usage.ru_utime) + of(usage.ru_stime), comm::ReduceOp::sum);
}

void write_plainly(const comm::Communicator& comm, const std::string& path, const std::vector<char>& mine,
                   std::uint64_t position) {
  if (comm.rank() == 0) ::close(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0666));
  comm::barrier(comm);
  const int file = ::open(path.c_str(), O_WRONLY);
  for (std::size_t done = 0; done < mine.size();) {
    const auto put =
        ::pwrite(file, mine.data() + done, mine.size() - done, static_cast<off_t>(position + done));
    if (put <= 0) throw std::runtime_error("pwrite");
    done += static_cast<std::size_t>(put);
  }
  if (::fsync(file) != 0) throw std::runtime_error("fsync");
  ::close(file);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(const Settings& settings) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  heat::Options options;
  const auto deck = config::Deck::parse(
      fmt::format("app: heat\nproblem: {{cells: [{}], initial: \"x*y\"}}\nsolver: {{tolerance: 0}}\n"
                  "decomposition: {{process_grid: [{}]}}\n",
                  fmt::join(settings.cells, ", "), fmt::join(settings.grid, ", ")),
      "bench.yaml");
  deck.read([&](config::Visitor& v) { options.describe(v); });
  options.resolve(deck, comm.size());
  miniapp::Timers timers{"heat"};
  miniapp::Progress progress{miniapp::Progress::Style::silent};
  heat::Heat<double> heat(options, {comm, true, timers, progress});
  miniapp::StopRequest end(comm);
  miniapp::CheckpointOptions wanted;
  wanted.keep = settings.rounds + 1; // none is removed but below, since plain files are not either
  wanted.file = (std::filesystem::path(settings.folder) / "bench-checkpoint.h5").string();
  const std::map<std::string, output::Access> accesses{{"auto", output::Access::automatic},
                                                       {"parallel", output::Access::parallel},
                                                       {"gathered", output::Access::gathered}};
  miniapp::Checkpoints checkpoints(comm, wanted, {.app = "heat", .keys = nlohmann::ordered_json::object()},
                                   accesses.at(settings.access), end, timers["checkpoint"],
                                   device::seconds());

  const auto bytes = static_cast<std::uint64_t>(heat.domain().cells()) * sizeof(double);
  const auto ranks = static_cast<std::uint64_t>(comm.size()), rank = static_cast<std::uint64_t>(comm.rank());
  const std::uint64_t begin = bytes / ranks * rank,
                      finish = rank + 1 == ranks ? bytes : begin + bytes / ranks;
  std::vector<char> mine(finish - begin);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<char>(i * 7919 >> 5);
  const auto plain_name = (std::filesystem::path(settings.folder) / "bench-plain.bin").string();

  std::vector<double> plain, checkpoint, removal, ratios, ratios_with_removal, plain_work, checkpoint_work;
  for (int round = 0; round <= settings.rounds; ++round) {
    const double before = processor_seconds(comm);
    const double p = seconds_of(comm, [&] { write_plainly(comm, plain_name, mine, begin); });
    if (comm.rank() == 0) std::filesystem::remove(plain_name);
    const double between = processor_seconds(comm);
    const double c = seconds_of(comm, [&] { checkpoints.write(round, heat); });
    const double after = processor_seconds(comm);
    const double r = seconds_of(comm, [&] {
      if (comm.rank() == 0) std::filesystem::remove(miniapp::checkpoint_name(wanted.file, round));
    });
    if (round == 0) continue; // the first of either finds an empty cache
    plain.push_back(p);
    checkpoint.push_back(c);
    removal.push_back(r);
    ratios.push_back(p / c);
    ratios_with_removal.push_back(p / (c + r));
    plain_work.push_back(between - before);
    checkpoint_work.push_back(after - between);
  }
  constexpr std::int64_t steps = 10'000'000;
  bool any = false;
  const double asking = seconds_of(comm, [&] {
    for (std::int64_t n = 0; n < steps; ++n) any = checkpoints.due(n, end.agreed()) || any;
  });
  if (any) throw std::runtime_error("a checkpoint is due that nobody asked for");
  if (comm.rank() != 0) return;
  const double size = static_cast<double>(bytes);
  fmt::print(
      "{} ranks as {}, {:.0f} MB, medians of {} rounds: plain {:.3f} s (fastest {:.3f}), {:.2f} GB/s; "
      "checkpoint {:.3f} s (fastest {:.3f}), "
      "{:.2f} GB/s; bandwidth of checkpoints over plain: median {:.2f}, {:.2f} to {:.2f}; processors: plain "
      "{:.3f} s, checkpoint {:.3f} s; its removal {:.3f} s, with which the median is {:.2f}; a step in which "
      "none is due: {:.1f} ns\n",
      comm.size(), fmt::join(options.process_grid, " x "), size / 1e6, settings.rounds, median(plain),
      std::ranges::min(plain), size / median(plain) / 1e9, median(checkpoint), std::ranges::min(checkpoint),
      size / median(checkpoint) / 1e9, median(ratios), std::ranges::min(ratios), std::ranges::max(ratios),
      median(plain_work), median(checkpoint_work), median(removal), median(ratios_with_removal),
      1e9 * asking / steps);
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App cli{"Speed of checkpoints beside that of plain writes"};
  cli.add_option("--cells", settings.cells, "along x, y[, z]")->expected(2, 3);
  cli.add_option("--grid", settings.grid, "ranks along x, y[, z]")->expected(2, 3);
  cli.add_option("--rounds", settings.rounds, "of one plain write and one checkpoint each");
  cli.add_option("--folder", settings.folder, "on the disk to measure");
  cli.add_option("--access", settings.access, "auto, parallel or gathered");
  CLI11_PARSE(cli, argc, argv);
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  measure(settings);
  Kokkos::finalize();
  MPI_Finalize();
  return 0;
}
