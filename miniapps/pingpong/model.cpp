// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/fit.hpp"
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"
#include "run/record/timers.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/comm/phase_times.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

/// The LogP parameters (Culler et al. 1993) of short messages between two ranks.
namespace kontor::pingpong {

struct LogP {
  double latency = 0;          ///< L: s, what of the one-way time no processor is busy with; not below 0
  double send_overhead = 0;    ///< o of the sender: s in a non-blocking send
  double receive_overhead = 0; ///< o of the receiver: s in a receive whose message has come before
  double gap = 0;              ///< g: s between messages of a long stream
};

namespace detail {

/// Collective. The medians of work(), which gives this rank's seconds, on rank 0 and on rank 1.
template <class Work>
std::pair<double, double> medians(const comm::Communicator& comm, int repetitions, const Work& work) {
  std::vector<double> seconds(repetitions);
  for (auto& s : seconds) {
    comm::barrier(comm);
    s = work();
  }
  const auto of = [&](int rank) { return comm.rank() == rank ? miniapp::median(seconds) : 0.0; };
  const auto both = comm::allreduce(comm, std::array{of(0), of(1)}, comm::ReduceOp::max);
  return {both[0], both[1]};
}

} // namespace detail

/// Collective. Between ranks 0 and 1, one double, hand-written MPI. `one_way` is the time of such a message in s. Valid
/// on every rank.
inline LogP measure_logp(const comm::Communicator& comm, double one_way, int repetitions) {
  const int me = comm.rank();
  const auto mpi = comm.native();
  double value = 0;
  LogP result;

  // Rank 1 receives late, when the message has long come.
  std::tie(result.send_overhead, result.receive_overhead) = detail::medians(comm, repetitions, [&] {
    double seconds = 0;
    if (me == 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      comm::Stopwatch watch;
      MPI_Isend(&value, 1, MPI_DOUBLE, 1, 0, mpi, &request);
      watch.lap(seconds);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (me == 1) {
      comm::Stopwatch wait;
      for (double waited = 0; waited < std::max(10 * one_way, 20e-6);) wait.lap(waited);
      comm::Stopwatch watch;
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, mpi, MPI_STATUS_IGNORE);
      watch.lap(seconds);
    }
    return seconds;
  });

  constexpr int stream = 1000;
  result.gap = detail::medians(comm, std::max(3, repetitions / 10), [&] {
                 comm::Stopwatch watch;
                 double seconds = 0;
                 for (int i = 0; i < stream && me == 0; ++i) MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, mpi);
                 for (int i = 0; i < stream && me == 1; ++i)
                   MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, mpi, MPI_STATUS_IGNORE);
                 if (me == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, mpi);
                 if (me == 0) MPI_Recv(&value, 1, MPI_DOUBLE, 1, 0, mpi, MPI_STATUS_IGNORE);
                 watch.lap(seconds);
                 return seconds / stream;
               }).first;
  result.latency = std::max(0.0, one_way - result.send_overhead - result.receive_overhead);
  return result;
}

namespace {

using View = HostView<double, 1>;

struct Prediction {
  std::string operation;
  std::int64_t bytes;
  double predicted; ///< s
  double measured;  ///< s

  double factor() const { return std::max(predicted / measured, measured / predicted); }
};

/// Half of each round trip of hand-written MPI, undisturbed: the fastest of the repetitions, here and below.
std::vector<Timed> one_way_times(const Findings& findings) {
  std::vector<Timed> times;
  for (const auto& p : findings.points)
    if (p.series == "raw") times.push_back({static_cast<double>(p.subject.bytes), p.time.min / 2});
  return times;
}

/// Seconds of the one way at this size.
double time_one(Bench& bench, const Subject& subject, const Way& way, const Payload& payload) {
  bench.time(subject, std::span(&way, 1), payload);
  return bench.findings.points.back().time.min;
}

/// The halo of a slab: one View to each of the two neighbours of a closed ring. Messages go one after the other: 2
/// (alpha + beta n).
Prediction halo(Bench& bench, const Hockney& model, std::int64_t size) {
  const auto& comm = bench.comm();
  const int ranks = comm.size(), me = comm.rank();
  const std::array peers{(me + 1) % ranks, (me + ranks - 1) % ranks};
  const std::array to{make_cube<View>("pingpong/to_next", size), make_cube<View>("pingpong/to_previous", size)};
  const std::array from{make_cube<View>("pingpong/from_next", size), make_cube<View>("pingpong/from_previous", size)};
  comm::Exchange<View> exchange(comm, "pingpong/slab");
  for (const int d : {0, 1}) exchange.add(to[d], peers[d], from[1 - d], peers[1 - d]);
  exchange.commit();
  const auto way = steps_of("exchange", exchange, comm.capabilities().moves_data);
  const auto fill = [&](int seed) {
    for (const int d : {0, 1}) fill_payload(to[d].data(), size, seed + d, me);
  };
  const auto wrong = [&](int seed) {
    return wrong_payload(from[1].data(), size, seed, peers[1]) +
           wrong_payload(from[0].data(), size, seed + 1, peers[0]);
  };
  const auto bytes = size * static_cast<std::int64_t>(sizeof(double));
  const double measured = time_one(bench, {"halo of a slab", size, 2 * size, 2 * bytes, 2}, way, {fill, wrong});
  return {"halo of a slab", bytes, 2 * model.seconds(static_cast<double>(bytes)), measured};
}

/// Recursive doubling: ceil(log2 p) (alpha + beta n).
Prediction allreduce(Bench& bench, const Hockney& model, std::int64_t size) {
  const auto& comm = bench.comm();
  const auto view = make_cube<View>("pingpong/allreduce", size);
  const Way way{"allreduce", [&](int n) {
                  for (int i = 0; i < n; ++i) comm::allreduce(comm, view, comm::ReduceOp::max);
                }};
  const Payload payload{[&](int seed) { fill_payload(view.data(), size, seed); },
                        [&](int seed) { return wrong_payload(view.data(), size, seed); }};
  const auto bytes = size * static_cast<std::int64_t>(sizeof(double));
  const double measured = time_one(bench, {"allreduce", size, size, bytes}, way, payload);
  const int steps = std::bit_width(static_cast<unsigned>(comm.size() - 1));
  return {"allreduce", bytes, steps * model.seconds(static_cast<double>(bytes)), measured};
}

std::string to_text(const Hockney& h, const LogP& p, const std::vector<Prediction>& predictions) {
  constexpr double micro = 1e6;
  const auto line = [](const Line& l) {
    return fmt::format("{:.3f} us + bytes / {:.2f} GB/s", l.alpha * micro, 1e-9 / l.beta);
  };
  auto text = fmt::format("\n  one message (Hockney): {}", line(h.eager));
  if (h.rendezvous) text += fmt::format("; from {:.0f} bytes {}", h.switch_bytes, line(*h.rendezvous));
  text += fmt::format("\n  LogP: L {:.3f} us, o {:.3f} us to send and {:.3f} us to receive, g {:.3f} us\n\n"
                      "  {:<16}{:>12}{:>14}{:>14}{:>22}\n",
                      p.latency * micro, p.send_overhead * micro, p.receive_overhead * micro, p.gap * micro,
                      "operation", "bytes", "predicted us", "measured us", "measured / predicted");
  for (const auto& x : predictions)
    text += fmt::format("  {:<16}{:>12}{:>14.3f}{:>14.3f}{:>22.2f}\n", x.operation, x.bytes, x.predicted * micro,
                        x.measured * micro, x.measured / x.predicted);
  return text;
}

nlohmann::ordered_json to_json(const Hockney& h, const LogP& p, const std::vector<Prediction>& predictions) {
  nlohmann::ordered_json json{{"alpha", h.eager.alpha}, {"beta", h.eager.beta}};
  if (h.rendezvous) {
    json["switch_bytes"] = h.switch_bytes;
    json["alpha_rendezvous"] = h.rendezvous->alpha;
    json["beta_rendezvous"] = h.rendezvous->beta;
  }
  json["L"] = p.latency;
  json["o_send"] = p.send_overhead;
  json["o_receive"] = p.receive_overhead;
  json["g"] = p.gap;
  if (!predictions.empty()) {
    auto& all = json["predictions"] = nlohmann::ordered_json::array();
    for (const auto& x : predictions)
      all.push_back(
          {{"operation", x.operation}, {"bytes", x.bytes}, {"predicted", x.predicted}, {"measured", x.measured}});
  }
  return json;
}

} // namespace

void measure_model(Bench& bench) {
  measure_roundtrip(bench);
  auto& findings = bench.findings;
  const auto times = one_way_times(findings);
  const auto hockney = fit_hockney(times);
  const auto logp =
      measure_logp(bench.comm(), times.front().seconds, static_cast<int>(bench.options.sampling.repetitions));
  std::vector<Prediction> predictions;
  for (const auto size : bench.cases.front().sizes) predictions.push_back(halo(bench, hockney, size));
  for (const auto size : bench.cases.front().sizes) predictions.push_back(allreduce(bench, hockney, size));
  std::vector<double> factors;
  for (const auto& p : predictions) factors.push_back(p.factor());
  findings.text = to_text(hockney, logp, predictions);
  findings.record["model"] = to_json(hockney, logp, predictions);
  const auto& longest = hockney.rendezvous ? *hockney.rendezvous : hockney.eager;
  findings.figures = {{"latency", hockney.eager.alpha, "s"},
                      {"bandwidth", 1 / longest.beta, "B/s"},
                      {"prediction_factor", miniapp::median(factors), "1"}};
}

} // namespace kontor::pingpong
