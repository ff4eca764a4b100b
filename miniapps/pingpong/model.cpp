// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/bench.hpp"
#include "pingpong/fit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kontor::pingpong {
namespace {

/// The parameters of short messages between two ranks (Culler et al. 1993), in s.
struct LogP {
  double latency;          ///< L: of the one-way time, in which no processor is busy; not below 0
  double send_overhead;    ///< o of the sender: a non-blocking send
  double receive_overhead; ///< o of the receiver: a receive whose message has arrived
  double gap;              ///< g: between messages of a long stream
};

/// Collective; valid on every rank. Of messages of one double from rank 0 to rank 1 by hand-written MPI, which take
/// `one_way` s. Only one call is timed: what comes before it belongs to the fill, what comes after it to the
/// verification.
LogP measure_logp(Bench& bench, double one_way) {
  const auto mpi = bench.comm().native();
  const bool sends = bench.comm().rank() == 0, receives = bench.comm().rank() == 1;
  const Cells<Row<double>> cells{make_cube<Row<double>>(1), 0};
  double* const number = cells.view.data();
  MPI_Request request = MPI_REQUEST_NULL;
  const auto send = [&] {
    if (sends) MPI_Isend(number, 1, MPI_DOUBLE, 1, 0, mpi, &request);
  };
  const auto receive = [&] {
    if (receives) MPI_Recv(number, 1, MPI_DOUBLE, 0, 0, mpi, MPI_STATUS_IGNORE);
  };
  const auto send_until_arrived = [&] {
    send();
    if (receives) MPI_Probe(0, 0, mpi, MPI_STATUS_IGNORE);
  };
  constexpr int stream = 1000;
  const auto send_stream = [&] {
    for (int i = 0; i < stream && sends; ++i) MPI_Send(number, 1, MPI_DOUBLE, 1, 0, mpi);
    for (int i = 0; i < stream; ++i) receive();
    if (receives) MPI_Send(nullptr, 0, MPI_DOUBLE, 0, 0, mpi);
    if (sends) MPI_Recv(nullptr, 0, MPI_DOUBLE, 1, 0, mpi, MPI_STATUS_IGNORE);
  };
  const auto nothing = [] {};
  const auto median = [&](bool clocked, std::int64_t samples, const auto& before, const auto& timed,
                          const auto& after) {
    const auto make = [&](int seed) {
      if (sends) fill(cells, seed);
      before();
    };
    const auto wrong = [&](int seed) {
      after();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      return receives ? count_wrong(cells, seed) : 0;
    };
    const Way way{"", [&](int) { timed(); }};
    return miniapp::median(bench.sample(std::span(&way, 1), {make, wrong}, {samples, 1, 0}, clocked).seconds[0]);
  };
  const auto samples = bench.options.sampling.repetitions;
  const double o_send = median(sends, samples, nothing, send, receive);
  const double o_receive = median(receives, samples, send_until_arrived, receive, nothing);
  const double streams = median(sends, std::max<std::int64_t>(3, samples / 10), nothing, send_stream, nothing);
  return {std::max(0.0, one_way - o_send - o_receive), o_send, o_receive, streams / stream};
}

std::string to_text(const Hockney& h, const LogP& p) {
  const auto line = [](const Line& l) {
    return fmt::format("{:.3f} us + bytes / {:.2f} GB/s", l.alpha * 1e6, 1e-9 / l.beta);
  };
  auto text = fmt::format("\n  one message (Hockney): {}", line(h.eager));
  if (h.rendezvous) text += fmt::format("; from {:.0f} bytes {}", h.switch_bytes, line(*h.rendezvous));
  return text + fmt::format("\n  LogP: L {:.3f} us, o {:.3f} us to send and {:.3f} us to receive, g {:.3f} us\n",
                            p.latency * 1e6, p.send_overhead * 1e6, p.receive_overhead * 1e6, p.gap * 1e6);
}

nlohmann::ordered_json to_json(const Hockney& h, const LogP& p) {
  nlohmann::ordered_json json{{"alpha", h.eager.alpha}, {"beta", h.eager.beta}};
  if (h.rendezvous)
    json.update({{"switch_bytes", h.switch_bytes},
                 {"alpha_rendezvous", h.rendezvous->alpha},
                 {"beta_rendezvous", h.rendezvous->beta}});
  json.update({{"L", p.latency}, {"o_send", p.send_overhead}, {"o_receive", p.receive_overhead}, {"g", p.gap}});
  return json;
}

} // namespace

void measure_model(Bench& bench) {
  measure_roundtrip(bench);
  auto& findings = bench.findings;
  std::vector<Timed> times; // half of each round trip of hand-written MPI
  for (const auto& p : findings.points)
    if (p.series == "raw") times.push_back({static_cast<double>(p.subject.bytes), p.time.min / 2});
  const auto hockney = fit_hockney(times);
  const auto logp = measure_logp(bench, times.front().seconds);
  findings.text = to_text(hockney, logp);
  findings.record["model"] = to_json(hockney, logp);
  const auto& longest = hockney.rendezvous ? *hockney.rendezvous : hockney.eager;
  findings.figures = {{"latency", hockney.eager.alpha, "s"}, {"bandwidth", 1 / longest.beta, "B/s"}};
}

} // namespace kontor::pingpong
