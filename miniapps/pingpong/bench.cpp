// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/bench.hpp"

namespace kontor::pingpong {

Samples Bench::time(const Subject& subject, std::span<const Way> ways, const Payload& payload, bool clocked) {
  const auto samples =
      interleave(comm(), ways, payload,
                 {options.repetitions, options.warm_up, options.shortest_sample, context.end}, clocked);
  findings.wrong += samples.wrong;
  findings.verified = findings.verified || samples.verified;
  for (std::size_t w = 0; w < ways.size(); ++w)
    findings.points.push_back({subject, ways[w].name, summarise(samples.seconds[w]), samples.phases[w]});
  return samples;
}

void Bench::compare(const Subject& subject, std::span<const Way> ways, const Samples& samples,
                    std::size_t way, std::size_t baseline) {
  findings.ratios.push_back({subject, ways[way].name, ways[baseline].name,
                             paired_ratio(samples.seconds[way], samples.seconds[baseline])});
}

void Bench::time_typed_and_raw(const Subject& subject, std::span<const Way> ways, const Payload& payload,
                               bool clocked) {
  const auto samples = time(subject, ways, payload, clocked);
  compare(subject, ways, samples, 1, 0);
}

int partner_of(const Options& options, const comm::Communicator& comm) {
  const int half = options.pairs == Pairs::one ? 1 : comm.size() / 2;
  if (comm.rank() >= 2 * half) return comm::no_rank;
  return comm.rank() < half ? comm.rank() + half : comm.rank() - half;
}

bool begins(const comm::Communicator& comm, int partner) {
  return partner != comm::no_rank && comm.rank() < partner;
}

} // namespace kontor::pingpong
