// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/fft.hpp"

#include "fft/problem/start.hpp"
#include "fft/spectral_steps.hpp"
#include "grid/block_output.hpp"
#include "grid/process_grid.hpp"
#include "machine/first_touch.hpp"
#include "machine/memory.hpp"
#include "run/loop/fastest_repeat.hpp"
#include "stencil/samples.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace kontor::fft {
namespace {

const Options& fitting(const Options& o, const comm::Communicator& comm) {
  miniapp::require_memory(comm, o.bytes_of_rank(o.process_grid));
  return o;
}

Options with_library(Options o) {
  if (o.library == Library::automatic) o.library = usual_library();
  return o;
}

grid::Block block_of(const Options& o, const comm::Communicator& grid) {
  std::vector<double> spacing;
  for (const auto n : o.cells) spacing.push_back(2 * std::numbers::pi / static_cast<double>(n));
  return grid::make_block({.centering = grid::Centering::points, .extents = o.cells, .lower = {}, .spacing = spacing},
                          grid, 0);
}

/// For each axis and each coefficient of a rank: what a step multiplies by, or the square of the wave number.
template <class T>
PerAxis<T> factors_of(const Options& o, const Pencil& pencil) {
  PerAxis<T> factors;
  for (int axis = 0; axis < 3; ++axis) {
    factors[axis] = Kokkos::View<Complex<T>*>("fft/factors", static_cast<std::size_t>(pencil.extent(axis)));
    const auto host = Kokkos::create_mirror_view(factors[axis]);
    for (std::int64_t i = 0; i < pencil.extent(axis); ++i) {
      const auto n = o.cells[static_cast<std::size_t>(axis)];
      const auto number = static_cast<double>(wave_number(pencil.own[axis].begin + i, n));
      const auto factor = [&]() -> std::complex<double> {
        if (o.equation == Equation::poisson) return number * number;
        if (o.equation == Equation::heat) return std::exp(-o.diffusion * number * number);
        return axis == 0 ? std::polar(1.0, -2 * std::numbers::pi * number / static_cast<double>(n)) : 1.0;
      }();
      host(i) = Complex<T>(static_cast<T>(factor.real()), static_cast<T>(factor.imag()));
    }
    Kokkos::deep_copy(factors[axis], host);
  }
  return factors;
}

template <class T>
std::size_t values_of(const Options& o, const Pencil& pencil) {
  return static_cast<std::size_t>(pencil.size() * (o.real() ? 1 : 2));
}

} // namespace

template <class T>
SpectralSteps<T>::SpectralSteps(const Options& options, const miniapp::RunContext& context,
                                const stepping::Trial& trial)
    : SteppedApp(context), options_(with_library(fitting(options, context.comm))), start_(start_of(options_)),
      grid_(grid::make_cartesian(context.comm, {1, options.process_grid[0], options.process_grid[1]},
                                 {true, true, true})),
      block_(block_of(options, grid_)), method_(grid_), streams_(context.overlap),
      transform_(options_, method_, streams_, context.timers, context.overlap),
      factors_(factors_of<T>(options_, transform_.spectrum_pencil())), exact_(options_) {
  const auto values = values_of<T>(options_, transform_.field_pencil());
  if (options_.real()) real_ = miniapp::zeroed<T>("fft/field", values);
  if (options_.equation == Equation::poisson) {
    source_ = miniapp::zeroed<T>("fft/source", values);
    fill(start_, options_, transform_.field_pencil(), source_.data());
  }
  field_ = options_.real() ? real_.data() : reinterpret_cast<T*>(transform_.field());
  context.progress.describe({.step = "step"});
  record_ = method_.record();
  const auto [all, across] = transform_.sent_bytes();
  const auto sent = comm::allreduce(grid_, std::array{all, across}, comm::ReduceOp::sum);
  if (const auto* exchange = transform_.main_exchange())
    record_["traffic"] = miniapp::traffic_of(grid_.rank(), *exchange);
  record_.update({{"process_grid", options_.process_grid},
                  {"precision", miniapp::name_of_scalar<T>},
                  {"field_memory", static_cast<std::int64_t>(options_.bytes_of_rank(options_.process_grid))},
                  {"steps", options_.steps},
                  {"cells", options_.cells},
                  {"fft_library", name_of(options_.library)},
                  {"reorder", name_of(options_.reorder)},
                  {"chunks", *options_.chunks},
                  {"bytes_sent", sent[0]},
                  {"bisection_bytes", sent[1]}});
  if (!trial.candidates.empty()) record_["transpose_trial"] = trial.record();
}

/// How long MPI alone takes for as many bytes as a step sends, in parts of equal sizes within each row and column. Of
/// large ones a part stands for the whole: memory is the field's.
template <class T>
double SpectralSteps<T>::seconds_of_alltoall() const {
  double seconds = 0;
  for (const int dim : {0, 1}) {
    const int ranks = grid_.dims()[dim];
    if (ranks == 1) continue;
    const auto group = grid_.sub({dim == 0, dim == 1, false});
    const auto whole = comm::allreduce(grid_, transform_.spectrum_pencil().size() / ranks + 1, comm::ReduceOp::max);
    const auto part = std::min<std::int64_t>(whole, (std::int64_t{1} << 22) / ranks + 1);
    const Kokkos::View<Complex<T>*, Kokkos::HostSpace> out("fft/out", static_cast<std::size_t>(part * ranks)),
        in("fft/in", static_cast<std::size_t>(part * ranks));
    std::vector<double> samples;
    for (int n = 0; n < 4; ++n) {
      comm::barrier(grid_);
      const double begin = device::seconds();
      comm::alltoall(group, out, in);
      samples.push_back(comm::allreduce(grid_, device::seconds() - begin, comm::ReduceOp::max));
    }
    samples.erase(samples.begin());
    seconds += 2 * miniapp::median(samples) * static_cast<double>(whole) / static_cast<double>(part); // and back
  }
  return seconds;
}

template <class T>
void SpectralSteps<T>::warm_up() {
  reset();
  for (int i = 0; i < 3; ++i) queue(0, {i});
  choose_launches();
  drain();
  if (stepping::on_device) return; // whose memory MPI may not take
  lines_ = comm::max_over_ranks(grid_, transform_.seconds_of_lines());
  if (const double seconds = seconds_of_alltoall(); seconds > 0)
    alltoall_ = record_.at("bytes_sent").template get<double>() / seconds;
}

template <class T>
void SpectralSteps<T>::reset() {
  drain();
  first_ = made_ = 0;
  if (options_.equation == Equation::poisson) // whose steps all begin from the source: until one is made there is no u
    Kokkos::deep_copy(all_values(), std::numeric_limits<T>::quiet_NaN());
  else
    fill(start_, options_, transform_.field_pencil(), field_);
}

template <class T>
miniapp::LaunchTerms SpectralSteps<T>::launch_terms() {
  miniapp::LaunchTerms terms{.wanted = options_.launch, .comm = &grid_, .streams = &streams_};
  if (const auto* exchange = transform_.main_exchange())
    terms.graph_refusal = stepping::graph_refusal(grid_, *exchange);
  return terms;
}

template <class T>
void SpectralSteps<T>::multiply(const AxisRange& x) {
  const auto scale = static_cast<T>(1 / options_.count());
  if (options_.equation == Equation::poisson)
    divide_by_squares(streams_.compute(), transform_.spectrum_pencil(), x, transform_.spectrum(), factors_, scale);
  else
    fft::multiply(streams_.compute(), transform_.spectrum_pencil(), x, transform_.spectrum(), factors_, scale);
}

template <class T>
int SpectralSteps<T>::queue(int state, const miniapp::Pass& pass) {
  transform_.step(source_.data() ? source_.data() : field_, field_, pass.exchanges,
                  [this](const AxisRange& x) { multiply(x); });
  return state;
}

/// Launches against plain steps; then the coefficients of the start, all of them.
template <class T>
miniapp::Verification SpectralSteps<T>::verify_launches() {
  auto result = launches().verify(
      {.restart = [this] { reset(); },
       .digest =
           [this] {
             std::uint64_t sum = 0;
             each_part([&](const std::string&, const Array<T>& part) { sum = 31 * sum + stencil::digest(part); });
             return sum;
           }});
  miniapp::also(result, [&] {
    reset();
    transform_.forward(source_.data() ? source_.data() : field_, true);
    drain();
    return exact_.spectrum(grid_, transform_.spectrum_pencil(), transform_.spectrum());
  });
  return result;
}

template <class T>
miniapp::Verification SpectralSteps<T>::verify_start() {
  return exact_.start(grid_, transform_.field_pencil(), source_.data() ? source_.data() : field_);
}

template <class T>
miniapp::Verification SpectralSteps<T>::verify() {
  return exact_.solution(grid_, transform_.field_pencil(), field_, made_);
}

template <class T>
std::optional<miniapp::StepCounts> SpectralSteps<T>::counts() const {
  miniapp::StepCounts counts{"steps", options_.steps, last_step(), made_, made_};
  counts.work = static_cast<double>(options_.steps - first_) * flops();
  return counts;
}

/// Of a step, by the convention of the field: 5 N log2 N for a transform of N complex values, half for real ones.
template <class T>
double SpectralSteps<T>::flops() const {
  return 2 * (options_.real() ? 2.5 : 5) * options_.count() * std::log2(options_.count());
}

/// Attainable is what lines take in a cache and three passes over memory besides: lines of x and y, those of z with the
/// product and back, those of y and x. On a device lines and reorderings are passes of their own, and nothing else
/// counts. Of transposes: what MPI_Alltoall reaches with as many bytes.
template <class T>
std::vector<miniapp::FigureOfMerit> SpectralSteps<T>::figures(double seconds,
                                                              const miniapp::Calibration& machine) const {
  const auto steps = static_cast<double>(made_ - first_);
  constexpr double passes = stepping::on_device ? 2 * (3 + 2) + 1 : 3;
  const double coefficients =
      options_.count() / static_cast<double>(options_.cells[0]) * static_cast<double>(options_.modes_x());
  const double bytes = steps * passes * coefficients * sizeof(Complex<T>);
  const miniapp::BytesMoved moved{bytes, bytes};
  std::vector<miniapp::FigureOfMerit> figures{
      {.name = "flops",
       .value = steps * flops() / seconds,
       .unit = "flop/s",
       .attainable = steps * flops() / (steps * lines_ + machine.seconds_for(moved)),
       .moved = moved}};
  if (alltoall_ > 0)
    figures.push_back(
        {"transposed", steps * record_.at("bytes_sent").template get<double>() / seconds, "B/s", alltoall_});
  return figures;
}

template <class T>
nlohmann::ordered_json SpectralSteps<T>::record() const {
  auto record = record_;
  record.update(launches().record());
  return record;
}

template <class T>
std::string SpectralSteps<T>::table() const {
  const auto& n = options_.cells;
  const auto bytes = [&](const char* key) { return record_.at(key).template get<double>(); };
  return fmt::format(
      "{} x {} x {} {} values, lines by {}; a step sends {:.4g} MB, {:.4g} MB from one half of the ranks "
      "to the other\n",
      n[0], n[1], n[2], options_.real() ? "real" : "complex", name_of(options_.library), bytes("bytes_sent") / 1e6,
      bytes("bisection_bytes") / 1e6);
}

template <class T>
miniapp::CalibrationRequest SpectralSteps<T>::calibration() const {
  return {.working_set = record_.at("field_memory").template get<double>()};
}

template <class T>
typename SpectralSteps<T>::Line SpectralSteps<T>::all_values() const {
  return Line(field_, values_of<T>(options_, transform_.field_pencil()));
}

template <class T>
template <class Visit>
void SpectralSteps<T>::each_part(const Visit& visit) const {
  const auto n = [&](int axis) { return static_cast<std::size_t>(block_.extents[axis]); };
  const std::size_t parts = options_.real() ? 1 : 2;
  for (std::size_t part = 0; part < parts; ++part)
    visit(parts == 1  ? "u"
          : part == 0 ? "real"
                      : "imaginary",
          Array<T>(field_ + part, Kokkos::LayoutStride(n(2), parts * n(0) * n(1), n(1), parts * n(0), n(0), parts)));
}

template <class T>
std::optional<miniapp::FieldOutput> SpectralSteps<T>::write_fields(output::File& file, const std::string& group) const {
  miniapp::FieldOutput output{grid::image_of(block_), {static_cast<double>(made_), {}}};
  each_part([&](const std::string& name, const Array<T>& values) {
    const auto dataset = group + "/" + name;
    grid::write_view(file, dataset, grid::block_in_file(block_), values);
    output.snapshot.fields.push_back(grid::mesh_field<T>(block_, name, dataset));
  });
  return output;
}

template <class T>
std::vector<miniapp::FileValue> SpectralSteps<T>::file_values() const {
  std::vector<miniapp::FileValue> values;
  const auto places = stencil::sampled_places(block_, context().seed, grid_.rank());
  const auto at = [&](const miniapp::Place& place) {
    std::array<double, 3> point{};
    for (int axis = 0; axis < 3; ++axis)
      point[axis] = static_cast<double>(block_.offset[axis] + place.index[axis]) * 2 * std::numbers::pi /
                    static_cast<double>(options_.cells[static_cast<std::size_t>(axis)]);
    return point;
  };
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all_values());
  each_part([&](const std::string& name, const Array<T>& part) {
    const auto* const first = host.data() + (part.data() - field_);
    const auto value = [&](std::int64_t k, std::int64_t j, std::int64_t i) {
      const auto step = [&](int dim) { return static_cast<std::int64_t>(part.stride(dim)); };
      return first[k * step(0) + j * step(1) + i * step(2)];
    };
    for (auto& one : stencil::file_values("/fields/" + name, block_, places, value, at))
      values.push_back(std::move(one));
  });
  return values;
}

template <class T>
void SpectralSteps<T>::write_state(output::File& file) const {
  write_fields(file, "/state");
  file.record("/state/numbers", {{"steps", made_}});
}

template <class T>
void SpectralSteps<T>::read_state(const output::Reader& reader) {
  first_ = made_ = reader.record("/state/numbers").at("steps").template get<std::int64_t>();
  if (first_ >= options_.steps)
    throw config::Error({fmt::format("restart: solver.steps is {}, and {} steps in {} are made already; give more",
                                     options_.steps, first_, reader.path().string())},
                        "E-CHECKPOINT-DECK");
  each_part([&](const std::string& name, const Array<T>& values) {
    grid::read_view(reader, "/state/" + name, grid::block_in_file(block_), values);
  });
}

/// Collective. A few steps with each of them.
template <class T>
stepping::Trial try_transposes(const std::vector<Options>& transposes, const miniapp::RunContext& context) {
  constexpr std::int64_t steps = 4;
  stepping::Trial trial;
  for (auto options : transposes) {
    options.steps = steps;
    options.launch = stepping::Launch::per_kernel;
    miniapp::Timers timers("fft");
    miniapp::Progress silent{false};
    auto& candidate = trial.candidates.emplace_back();
    candidate.name = fmt::format("{}, chunks {}", name_of(options.reorder), *options.chunks);
    miniapp::time_candidate(context.comm, candidate, steps, [&] {
      return std::make_unique<SpectralSteps<T>>(options,
                                                miniapp::RunContext{context.comm, context.overlap, timers, silent});
    });
  }
  trial.decide();
  return trial;
}

std::unique_ptr<miniapp::MiniApp> make_fft(const Options& options, const miniapp::RunContext& context) {
  return miniapp::with_scalar(options.precision, [&]<class T>(T) -> std::unique_ptr<miniapp::MiniApp> {
    const auto refusal = PeerArrays<Complex<T>>::Memory::refusal(context.comm);
    if (refusal && options.reorder == Reorder::by_reading)
      options.reorder.location.fail(fmt::format("is by_reading, but {}", *refusal), "E-DECK-CONFLICT");
    auto transposes = options.transposes(!refusal);
    if (context.comm.size() == 1) transposes.resize(1);
    if (transposes.size() == 1) return std::make_unique<SpectralSteps<T>>(transposes[0], context);
    auto trial = try_transposes<T>(transposes, context);
    return std::make_unique<SpectralSteps<T>>(transposes[trial.chosen], context, std::move(trial));
  });
}

} // namespace kontor::fft
