// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "hand_over.hpp"
#include "shared_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kontor::output {

namespace {

/// Small enough that all ranks have some to write, large enough to be worth a write, and no more of a rank
/// than MPI has tags.
Pieces shared_pieces(const Extents& global, std::size_t size, int ranks) {
  const std::uint64_t each = elements(global) * size / ranks;
  const std::uint64_t bytes = std::max(std::clamp<std::uint64_t>(each, 1 << 20, piece_bytes), each / 32000);
  return {global, std::max<std::uint64_t>(1, bytes / size)};
}

/// Brings blocks together in pieces that are contiguous in the array. Rank r writes the pieces from
/// first_of(r) on, one after the other; it need not know whose blocks are in them, since the blocks of all
/// ranks fill the array.
class Assembly {
 public:
  Assembly(MPI_Comm comm, const Field& field)
      : comm_(comm), rank_(my_rank(comm)), ranks_(rank_count(comm)), field_(field), hand_over_(field),
        pieces_(shared_pieces(field.block.global, size_, ranks_)) {}

  /// Collective. Calls write(place, data, bytes) with each of this rank's pieces; `place` is the number of
  /// its first element. If a write fails, the rest is received all the same.
  template <class Write>
  Share operator()(const Write& write);

 private:
  /// What stands before the values of a message: where they belong in the array.
  struct Header {
    std::array<std::uint64_t, 3> offset{}, extent{};
  };

  std::uint64_t first_of(int rank) const { return pieces_.count() * rank / ranks_; }

  bool find_next_to_send();
  void send_next();
  void begin_piece();
  void receive();

  MPI_Comm comm_;
  int rank_, ranks_;
  const Field& field_;
  std::size_t size_ = field_.values.size();
  HandOver hand_over_;
  Pieces pieces_;

  // Sent is to each rank its first piece, then to each its second, ...: in the order in which they are
  // written, so that what is waited for is always on its way.
  int round_ = 0, to_ = 0;
  Box part_; ///< of the array
  std::vector<std::byte> message_;
  MPI_Request sending_ = MPI_REQUEST_NULL;

  int number_ = 0; ///< of the piece that is being received, among this rank's
  Box piece_;
  std::uint64_t missing_ = 0; ///< elements of it
  std::vector<std::byte> assembled_, received_;
};

/// Whether a part of this rank's block is still to be sent, part_.
bool Assembly::find_next_to_send() {
  const Box mine{field_.block.offset, field_.block.extent};
  const std::uint64_t rounds = (pieces_.count() + ranks_ - 1) / ranks_;
  for (; std::uint64_t(round_) < rounds; ++round_, to_ = 0)
    for (; to_ < ranks_; ++to_) {
      const std::uint64_t number = first_of(to_) + round_;
      if (number >= first_of(to_ + 1)) continue;
      part_ = intersection(mine, pieces_[number]);
      if (elements(part_.extent) > 0) return true;
    }
  return false;
}

void Assembly::send_next() {
  const std::byte* data = hand_over_.box(seen_from(part_, field_.block.offset));
  const std::uint64_t bytes = elements(part_.extent) * size_;
  Header header;
  std::ranges::copy(part_.offset, header.offset.begin());
  std::ranges::copy(part_.extent, header.extent.begin());
  message_.resize(sizeof header + bytes);
  std::memcpy(message_.data(), &header, sizeof header);
  std::memcpy(message_.data() + sizeof header, data, bytes);
  // Synchronous, so that this rank is never more than one message ahead of those that receive.
  check_mpi(
      MPI_Issend(message_.data(), static_cast<int>(message_.size()), MPI_BYTE, to_, round_, comm_, &sending_),
      "MPI_Issend");
  ++to_;
}

void Assembly::begin_piece() {
  piece_ = pieces_[first_of(rank_) + number_];
  missing_ = elements(piece_.extent);
  assembled_.resize(missing_ * size_);
}

/// Takes in a part of the piece, if one has come.
void Assembly::receive() {
  int come = 0, bytes = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, number_, comm_, &come, &status), "MPI_Iprobe");
  if (!come) return;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  received_.resize(bytes);
  check_mpi(MPI_Recv(received_.data(), bytes, MPI_BYTE, status.MPI_SOURCE, number_, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
  Header header;
  std::memcpy(&header, received_.data(), sizeof header);
  const auto first = [&](const auto& values) {
    return Extents(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(piece_.offset.size()));
  };
  const Box part = seen_from({first(header.offset), first(header.extent)}, piece_.offset);
  const Strides strides = contiguous_strides(piece_.extent);
  copy(part.extent, size_, received_.data() + sizeof header, contiguous_strides(part.extent),
       assembled_.data() + byte_offset(part.offset, strides, size_), strides);
  missing_ -= elements(part.extent);
}

template <class Write>
Share Assembly::operator()(const Write& write) {
  Share share;
  std::string failure;
  bool more = find_next_to_send();
  const auto own = static_cast<int>(first_of(rank_ + 1) - first_of(rank_));
  if (own > 0) begin_piece();
  while (more || sending_ != MPI_REQUEST_NULL || number_ < own) {
    if (sending_ != MPI_REQUEST_NULL) {
      int done = 0;
      check_mpi(MPI_Test(&sending_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    } else if (more) {
      send_next();
      more = find_next_to_send();
    }
    if (number_ == own) continue;
    receive();
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
  hand_over_.check();
  share.handed_over = hand_over_.sum();
  return share;
}

} // namespace

Share write_pieces(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address,
                   const Field& field) {
  Share share;
  with_shared_file(comm, path, [&](int file) {
    share = Assembly(comm, field)([&](std::uint64_t place, const std::byte* data, std::uint64_t bytes) {
      write_at(file, address + place * field.values.size(), data, bytes);
      begin_sync(file, address + place * field.values.size(), bytes);
    });
  });
  return share;
}

} // namespace kontor::output
