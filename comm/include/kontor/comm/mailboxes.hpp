// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/peer_wait.hpp>
#include <kontor/comm/views/predefined_op.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

/// How ranks combine a few numbers: each writes its own into the mailboxes of all others, and combines what it finds in
/// its own one. Kernels of backend `ipc` do, and kernels of applications that stay for many steps (peer_memory.hpp).
///
/// A mailbox has two halves, for even and for odd steps, so that a fast rank never overwrites what a slow one still
/// reads. A rank writes into a half for step n + 2 after its step n + 1 has ended, so after it has found words of step
/// n + 1 from every other rank. Each of these wrote them after its step n had ended, and step n was the last to read
/// that half.
namespace kontor::comm {

/// 4 bytes of numbers, and above them the step that they are of: whoever finds the step has the bytes too, so nothing
/// orders one word after another.
using Word = std::uint64_t;

/// The most ranks that have mailboxes.
inline constexpr int most_mailbox_ranks = 16;

/// The mailboxes of all ranks, as one of them sees them.
struct Mailboxes {
  Word* of[most_mailbox_ranks] = {}; ///< this rank's included, as they are mapped here
  int rank = 0;                      ///< this one
  int ranks = 1;                     ///< how many
  std::uint32_t slot_words = 0;      ///< a half has so many for each rank
};

/// The numbers that travel together: so many that they fill words.
template <class T>
inline constexpr int chunk_numbers = sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1;
/// The words that they fill.
template <class T>
inline constexpr int chunk_words = sizeof(T) < 4 ? 1 : static_cast<int>(sizeof(T)) / 4;

/// Of so many numbers.
template <class T>
KONTOR_EITHER std::uint32_t chunks(std::uint32_t numbers) {
  return (numbers + chunk_numbers<T> - 1) / chunk_numbers<T>;
}

/// Integers wrap around.
template <class T>
KONTOR_EITHER T combined(ReduceOp op, T a, T b) {
  using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  switch (op) {
  case ReduceOp::sum: return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  case ReduceOp::product: return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  case ReduceOp::min: return b < a ? b : a;
  case ReduceOp::max: return a < b ? b : a;
  default: return a; // see number_reduction()
  }
}

/// Where a rank's words of a step lie in the mailbox of another.
KONTOR_EITHER Word* slot(const Mailboxes& boxes, int owner, int from, std::uint64_t step) {
  const auto half = static_cast<int>(step & 1);
  return boxes.of[owner] + static_cast<std::uint64_t>(half * boxes.ranks + from) * boxes.slot_words;
}

/// The numbers of a chunk; 0 beyond the last one.
template <class T>
struct Chunk {
  T numbers[chunk_numbers<T>]; ///< side by side

  /// Of `count` numbers those from the first on.
  KONTOR_EITHER static Chunk load(const T* from, std::uint32_t first, std::uint32_t count) {
    Chunk chunk;
    for (int k = 0; k < chunk_numbers<T>; ++k)
      chunk.numbers[k] = first + static_cast<std::uint32_t>(k) < count ? from[first + k] : T(0);
    return chunk;
  }
  /// To where load() would read them.
  KONTOR_EITHER void store(T* to, std::uint32_t first, std::uint32_t count) const {
    for (int k = 0; k < chunk_numbers<T>; ++k)
      if (first + static_cast<std::uint32_t>(k) < count) to[first + k] = numbers[k];
  }
};

/// By one thread. A chunk's words, which hold the step too. A `Memory` stores, loads and waits.
KONTOR_EITHER_TEMPLATE
template <class T, class Memory>
KONTOR_EITHER void send_chunk(Word* words, std::uint64_t step, const Chunk<T>& chunk, const Memory& memory) {
  std::uint32_t bytes[chunk_words<T>];
  memcpy(bytes, &chunk, sizeof chunk);
  for (int w = 0; w < chunk_words<T>; ++w) memory.store(words[w], step << 32 | bytes[w]);
}

/// By thread `thread` of so many, which share the chunks. This rank's numbers go to all others.
KONTOR_EITHER_TEMPLATE
template <class T, class Memory>
KONTOR_EITHER void send_numbers(const Mailboxes& boxes, std::uint64_t step, const T* in, std::uint32_t count,
                                std::uint32_t thread, std::uint32_t threads, const Memory& memory) {
  for (std::uint32_t p = thread; p < chunks<T>(count); p += threads) {
    const auto chunk = Chunk<T>::load(in, p * chunk_numbers<T>, count);
    for (int next = 1; next < boxes.ranks; ++next) { // not all to the same one first
      const int to = (boxes.rank + next) % boxes.ranks;
      send_chunk<T>(slot(boxes, to, boxes.rank, step) + std::uint64_t{p} * chunk_words<T>, step, chunk, memory);
    }
  }
}

/// By one thread. Waits for a chunk from another rank. False if the Memory waits no longer.
KONTOR_EITHER_TEMPLATE
template <class T, class Memory>
KONTOR_EITHER bool receive_chunk(const Word* words, std::uint64_t step, const Memory& memory, Chunk<T>& chunk) {
  const auto expected = static_cast<std::uint32_t>(step);
  auto wait = memory.wait();
  for (;;) {
    std::uint32_t bytes[chunk_words<T>];
    bool all = true;
    for (int w = 0; w < chunk_words<T>; ++w) {
      const Word word = memory.load(words[w]);
      bytes[w] = static_cast<std::uint32_t>(word);
      all = all && word >> 32 == expected;
    }
    if (all) {
      memcpy(&chunk, bytes, sizeof chunk);
      return true;
    }
    if (!wait.goes_on()) return false;
  }
}

/// By the same thread, afterwards. `out`, which may be `in`, becomes the combination of all ranks' numbers, in the
/// order of ranks, so with the same bits on all of them. Returns -1, or the rank that has not come.
KONTOR_EITHER_TEMPLATE
template <class T, class Memory>
KONTOR_EITHER int combine_numbers(const Mailboxes& boxes, std::uint64_t step, const T* in, T* out, std::uint32_t count,
                                  ReduceOp op, std::uint32_t thread, std::uint32_t threads, const Memory& memory) {
  for (std::uint32_t p = thread; p < chunks<T>(count); p += threads) {
    const auto own = Chunk<T>::load(in, p * chunk_numbers<T>, count);
    auto all = own;
    for (int from = 0; from < boxes.ranks; ++from) {
      auto chunk = own;
      if (from != boxes.rank) {
        const Word* const words = slot(boxes, boxes.rank, from, step);
        if (!receive_chunk<T>(words + std::uint64_t{p} * chunk_words<T>, step, memory, chunk)) return from;
      }
      for (int k = 0; k < chunk_numbers<T>; ++k)
        all.numbers[k] = from == 0 ? chunk.numbers[k] : combined(op, all.numbers[k], chunk.numbers[k]);
    }
    all.store(out, p * chunk_numbers<T>, count);
  }
  return -1;
}

/// Mailboxes in memory of all ranks. A word is a message by itself, so none is ordered after another.
class MailboxMemory {
 public:
  /// Words are waited for as it says.
  KONTOR_EITHER explicit MailboxMemory(const PeerWait& wait) : wait_(wait) {}
  /// As send_numbers() and combine_numbers() use it.
  KONTOR_EITHER void store(Word& word, Word value) const { device::store_relaxed(word, value); }
  /// The same.
  KONTOR_EITHER Word load(const Word& word) const { return device::load_relaxed(word); }
  /// The same.
  KONTOR_EITHER PeerWait::Looks wait() const { return PeerWait::Looks(wait_); }

 private:
  PeerWait wait_;
};

} // namespace kontor::comm
