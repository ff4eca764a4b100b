// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "shared_file.hpp"
#include "transfer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kontor::output {

namespace {

/// Collective. Small enough that all writers have some to write, large enough to be worth a write, and no more of a
/// rank than MPI has tags. Those of values in memory are to stay in a core's cache, too.
Pieces shared_pieces(MPI_Comm comm, const Field& field, int writers) {
  int fetched = field.values.are_fetched() ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &fetched, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  const std::uint64_t size = field.values.size(), each = elements(field.block.global) * size / writers;
  const std::uint64_t most = fetched != 0 ? piece_bytes : long_row_bytes;
  const std::uint64_t bytes = std::max(std::clamp<std::uint64_t>(each, 1 << 20, most), each / 32000);
  return {field.block.global, std::max<std::uint64_t>(1, bytes / size)};
}

/// Brings blocks together in pieces that are contiguous in the array. Writer r, the rank of that number, writes the
/// pieces from first_of(r) on, one after the other; it need not know whose blocks are in them, since the blocks of all
/// ranks fill the array.
class Assembly {
 public:
  Assembly(MPI_Comm comm, const Field& field, int writers)
      : comm_(comm), rank_(my_rank(comm)), writers_(writers), field_(field), sent_(field), kept_(field),
        pieces_(shared_pieces(comm, field, writers)) {}

  /// Collective. Calls write(place, data, bytes) with each of this rank's pieces; `place` is the number of its first
  /// element. If a write fails, the rest is received all the same.
  template <class Write>
  Share operator()(const Write& write) {
    Share share;
    std::string failure;
    bool more = find_next_to_send();
    const auto own = static_cast<int>(first_of(rank_ + 1) - first_of(rank_));
    if (own > 0) begin_piece();
    bool sending = false;
    while (more || sending || number_ < own) {
      if (sending) {
        int done = 0;
        check_mpi(MPI_Testall(2, sending_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
        sending = done == 0;
      } else if (more) {
        send_next();
        more = find_next_to_send();
        sending = true;
      }
      if (number_ == own) continue;
      if (missing_ > 0) receive();
      if (missing_ > 0) continue;
      if (failure.empty()) try {
          for_each_run(piece_, field_.block.global, [&](std::uint64_t place, std::uint64_t count) {
            write(place, assembled_.data(), count * size_);
          });
        } catch (const Error& error) {
          failure = error.what();
        }
      share.written.push_back(piece_);
      if (++number_ < own) begin_piece();
    }
    if (!failure.empty()) throw Error(failure);
    sent_.check();
    kept_.check();
    share.handed_over = sent_.sum() + kept_.sum();
    return share;
  }

 private:
  /// What is sent before values: where they belong in the array.
  struct Header {
    std::array<std::uint64_t, 3> offset{}, extent{};
  };

  std::uint64_t first_of(int rank) const { return pieces_.count() * std::min(rank, writers_) / writers_; }

  /// Whether a part of this rank's block is still to be sent to another, part_.
  bool find_next_to_send() {
    const std::uint64_t rounds = (pieces_.count() + writers_ - 1) / writers_;
    for (; std::uint64_t(round_) < rounds; ++round_, to_ = 0)
      for (; to_ < writers_; ++to_) {
        const std::uint64_t number = first_of(to_) + round_;
        if (to_ == rank_ || number >= first_of(to_ + 1)) continue;
        part_ = intersection(mine_, pieces_[number]);
        if (elements(part_.extent) > 0) return true;
      }
    return false;
  }
  void send_next() {
    const std::byte* data = sent_.box(seen_from(part_, mine_.offset));
    std::ranges::copy(part_.offset, header_.offset.begin());
    std::ranges::copy(part_.extent, header_.extent.begin());
    check_mpi(MPI_Isend(&header_, sizeof header_, MPI_BYTE, to_, round_, comm_, sending_.data()), "MPI_Isend");
    // Synchronous, so that this rank is never more than one part ahead of those that receive.
    check_mpi(
        MPI_Issend(data, static_cast<int>(elements(part_.extent) * size_), MPI_BYTE, to_, round_, comm_, &sending_[1]),
        "MPI_Issend");
    ++to_;
  }
  void begin_piece() {
    piece_ = pieces_[first_of(rank_) + number_];
    missing_ = elements(piece_.extent);
    assembled_.resize(missing_ * size_);
    const Box own = intersection(mine_, piece_);
    if (elements(own.extent) > 0) put(own, kept_.box(seen_from(own, mine_.offset)));
  }
  /// Takes in a part of the piece, if one has come.
  void receive() {
    int come = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, number_, comm_, &come, &status), "MPI_Iprobe");
    if (!come) return;
    const auto take = [&](void* to, std::uint64_t bytes) {
      check_mpi(MPI_Recv(to, static_cast<int>(bytes), MPI_BYTE, status.MPI_SOURCE, number_, comm_, MPI_STATUS_IGNORE),
                "MPI_Recv");
    };
    Header header;
    take(&header, sizeof header);
    const auto first = [&](const auto& values) {
      return Extents(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(piece_.offset.size()));
    };
    const Box part{first(header.offset), first(header.extent)};
    received_.resize(elements(part.extent) * size_);
    take(received_.data(), received_.size()); // on its way, since they are sent together
    put(part, received_.data());
  }
  /// Puts a part of the piece where it belongs.
  void put(const Box& part, const std::byte* data) {
    const Strides strides = contiguous_strides(piece_.extent);
    copy(part.extent, size_, data, contiguous_strides(part.extent),
         assembled_.data() + byte_offset(seen_from(part, piece_.offset).offset, strides, size_), strides);
    missing_ -= elements(part.extent);
  }

  MPI_Comm comm_;
  int rank_, writers_;
  const Field& field_;
  const Box mine_{field_.block.offset, field_.block.extent};
  std::size_t size_ = field_.values.size();
  HandOver sent_, kept_; ///< values of this rank's block for others, and for itself
  Pieces pieces_;

  // Sent is to each rank its first piece, then to each its second, ...: in the order in which they are written, so that
  // what is waited for is always on its way.
  int round_ = 0, to_ = 0;
  Box part_; ///< of the array
  Header header_;
  std::array<MPI_Request, 2> sending_{MPI_REQUEST_NULL, MPI_REQUEST_NULL}; ///< of header and values

  int number_ = 0; ///< of the piece that is being received, among this rank's
  Box piece_;
  std::uint64_t missing_ = 0; ///< elements of it
  std::vector<std::byte> assembled_, received_;
};

} // namespace

Share write_pieces(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address, const Field& field,
                   int writers) {
  Share share;
  with_shared_file(comm, path, my_rank(comm) < writers, [&](int file) {
    EarlySync early(file);
    share = Assembly(comm, field, writers)([&](std::uint64_t place, const std::byte* data, std::uint64_t bytes) {
      const std::uint64_t position = address + place * field.values.size();
      write_at(file, position, data, bytes);
      early.wrote(position, bytes);
    });
  });
  return share;
}

} // namespace kontor::output
