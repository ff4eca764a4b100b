// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/algorithm/transpose.hpp"
#include "fft/kernels/lines.hpp"
#include "fft/options.hpp"
#include "run/record/timers.hpp"
#include "stepping/streams.hpp"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace kontor::fft {

/// The transform of a field that is cut among the ranks: lines of x, transpose, lines of y, transpose, lines of z; and
/// back. Neither direction is scaled: both together multiply by the number of cells.
template <class T>
class Transform {
 public:
  using Value = Complex<T>;

  /// Collective. Arguments must outlive this. The method's process grid has three axes: z, y, x, the last of which is
  /// 1.
  Transform(const Options&, miniapp::ChosenMethod&, stepping::Streams<Space>&, miniapp::Timers&, bool overlap);

  /// The field of complex values, lines of x. Of real ones it lies elsewhere, and this means nothing.
  Value* field() const { return first_.data(); }
  const Pencil& field_pencil() const { return field_pencil_; }
  /// After forward(): the coefficients, lines of z, unscaled.
  Value* spectrum() const { return first_.data(); }
  const Pencil& spectrum_pencil() const { return pencils_[2]; }

  /// Multiplies the coefficients of a range of x, within this rank's; queued on streams.compute().
  using Product = std::function<void(const AxisRange& x)>;

  ///@{
  /// Collective; queued on streams.compute(), exchanges on streams.exchange(). Of a field in memory of the caller's,
  /// whose values are real or complex as the deck says: field() itself, or another. Without exchanges as if there were
  /// no other rank. A step transforms forward, multiplies, and transforms back.
  void forward(T* from, bool exchanges);
  void step(T* from, T* to, bool exchanges, const Product&);
  ///@}

  /// Local. The exchange of a step that sends most; null: nothing is sent.
  const typename Transpose<T>::Exchange* main_exchange() const;
  /// Local. Bytes that this rank sends to others in both directions; those of them that go from one half of the ranks
  /// to the other.
  struct SentBytes {
    std::int64_t all = 0, across = 0;
  };
  SentBytes sent_bytes() const;
  /// Local; waits. How long the lines of a step take alone, in both directions, if a cache holds what they read and
  /// write; on a host. A few lines are timed.
  double seconds_of_lines();
  void poll();
  /// Local, after kernels have ended. Throws comm::Error if one has waited for another rank in vain.
  void check() const;
  /// Local. What the phases of exchanges took since the last call becomes the regions pack, post, wait, unpack.
  void add_times(miniapp::Timers&);

 private:
  Transpose<T> between(miniapp::ChosenMethod&, const char* label, int from, int to);
  void start(Transpose<T>&, std::size_t chunk, bool exchanges);
  void copy_here(Transpose<T>&, std::size_t chunk, bool exchanges);
  void finish(Transpose<T>&, std::size_t chunk, bool exchanges);
  bool at_once(const Transpose<T>&) const;
  void begin_turn();
  void to_lines_of_y(T* from, bool exchanges);
  template <class Before, class After>
  void turn(Transpose<T>&, bool exchanges, const Before&, const After&);
  /// Lines that a range of the slowest axis has; those of x from, or into, a field elsewhere.
  void transform(int axis, const AxisRange&, Direction, T* elsewhere = nullptr);

  const Options& options_;
  const comm::Communicator& comm_;
  stepping::Streams<Space>& streams_;
  bool overlap_;
  std::array<Pencil, 3> pencils_; ///< of coefficients
  Pencil field_pencil_;           ///< of values: of real ones lines are longer
  std::optional<PeerArrays<Value>> arrays_;
  Kokkos::View<Value*> first_;   ///< lines of x, or of z
  Kokkos::View<Value*> second_;  ///< lines of y
  Kokkos::View<Value*> landing_; ///< what a kernel reorders
  std::array<std::unique_ptr<Lines<T>>, 3> lines_;
  std::vector<Transpose<T>> transposes_; ///< x to y, y to z, z to y, y to x
  miniapp::Timer &compute_, &reorder_, &wait_;
  std::optional<miniapp::ExchangeSamples> samples_;
};

} // namespace kontor::fft
