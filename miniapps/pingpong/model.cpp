// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/bench.hpp"
#include "pingpong/fit.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

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

struct Prediction {
  std::string operation;
  std::int64_t bytes;
  double predicted; ///< s
  double measured;  ///< s
};

/// Collective. `steps` messages of the subject's bytes follow each other. The measured time is the least, because other
/// processes disturb it less than the median.
Prediction predict(Bench& bench, const Hockney& model, Subject subject, int steps, const Way& way,
                   const Payload& payload) {
  const auto bytes = subject.bytes;
  subject.bytes *= subject.messages;
  bench.time(subject, std::span(&way, 1), payload);
  return {subject.curve, bytes, steps * model.seconds(static_cast<double>(bytes)),
          bench.findings.points.back().time.min};
}

/// The halo of a slab: a View to each of the two neighbours on a periodic ring.
Prediction predict_halo(Bench& bench, const Hockney& model, std::int64_t size) {
  const auto& comm = bench.comm();
  const int ranks = comm.size(), me = comm.rank();
  const std::array peers{(me + 1) % ranks, (me + ranks - 1) % ranks};
  Traffic<Row<double>> slab{"pingpong/slab", {}};
  for (const int d : {0, 1})
    slab.there.push_back({make_cube<Row<double>>(size), peers[d], 2 * me + d, make_cube<Row<double>>(size),
                          peers[1 - d], 2 * peers[1 - d] + d});
  auto exchanges = slab.exchanges(comm);
  return predict(bench, model, {"halo of a slab", size, 2 * size, 8 * size, 2}, 2,
                 steps_of("exchange", exchanges, comm.capabilities().moves_data), slab.payload());
}

/// Recursive doubling in ceil(log2 p) steps.
Prediction predict_allreduce(Bench& bench, const Hockney& model, std::int64_t size) {
  const auto& comm = bench.comm();
  const Cells<Row<double>> in{make_cube<Row<double>>(size), comm.rank()},
      out{make_cube<Row<double>>(size), 0, comm.size()};
  const Way way{"allreduce", [&](int n) {
                  for (int i = 0; i < n; ++i) comm::allreduce(comm, in.view, out.view, comm::ReduceOp::sum);
                }};
  return predict(bench, model, {"allreduce", size, size, 8 * size},
                 std::bit_width(static_cast<unsigned>(comm.size() - 1)), way,
                 payload_of(std::vector{in}, [&] { return std::vector{out}; }));
}

std::string to_text(const Hockney& h, const LogP& p, const std::vector<Prediction>& predictions) {
  const auto line = [](const Line& l) {
    return fmt::format("{:.3f} us + bytes / {:.2f} GB/s", l.alpha * 1e6, 1e-9 / l.beta);
  };
  auto text = fmt::format("\n  one message (Hockney): {}", line(h.eager));
  if (h.rendezvous) text += fmt::format("; from {:.0f} bytes {}", h.switch_bytes, line(*h.rendezvous));
  text += fmt::format("\n  LogP: L {:.3f} us, o {:.3f} us to send and {:.3f} us to receive, g {:.3f} us\n\n"
                      "  {:<16}{:>12}{:>14}{:>14}{:>22}\n",
                      p.latency * 1e6, p.send_overhead * 1e6, p.receive_overhead * 1e6, p.gap * 1e6, "operation",
                      "bytes", "predicted us", "measured us", "measured / predicted");
  for (const auto& [operation, bytes, predicted, measured] : predictions)
    text += fmt::format("  {:<16}{:>12}{:>14.3f}{:>14.3f}{:>22.2f}\n", operation, bytes, predicted * 1e6,
                        measured * 1e6, measured / predicted);
  return text;
}

nlohmann::ordered_json to_json(const Hockney& h, const LogP& p, const std::vector<Prediction>& predictions) {
  nlohmann::ordered_json json{{"alpha", h.eager.alpha}, {"beta", h.eager.beta}};
  if (h.rendezvous)
    json.update({{"switch_bytes", h.switch_bytes},
                 {"alpha_rendezvous", h.rendezvous->alpha},
                 {"beta_rendezvous", h.rendezvous->beta}});
  json.update({{"L", p.latency}, {"o_send", p.send_overhead}, {"o_receive", p.receive_overhead}, {"g", p.gap}});
  for (const auto& [operation, bytes, predicted, measured] : predictions)
    json["predictions"].push_back(
        {{"operation", operation}, {"bytes", bytes}, {"predicted", predicted}, {"measured", measured}});
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
  std::vector<Prediction> predictions;
  for (const auto of : {predict_halo, predict_allreduce})
    for (const auto size : bench.cases.front().sizes) predictions.push_back(of(bench, hockney, size));
  std::vector<double> factors;
  for (const auto& p : predictions) factors.push_back(std::max(p.predicted / p.measured, p.measured / p.predicted));
  findings.text = to_text(hockney, logp, predictions);
  findings.record["model"] = to_json(hockney, logp, predictions);
  const auto& longest = hockney.rendezvous ? *hockney.rendezvous : hockney.eager;
  findings.figures = {{"latency", hockney.eager.alpha, "s"},
                      {"bandwidth", 1 / longest.beta, "B/s"},
                      {"prediction_factor", miniapp::median(factors), "1"}};
}

} // namespace kontor::pingpong
