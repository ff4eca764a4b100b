// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "comm_test.hpp"
#include "views.hpp"

/// What tests of collective operations share: every form of a call, for any Views by functions that are compiled once.
namespace kontor::comm::test {

struct Pair {
  double weight;
  std::int64_t index;
};

/// x -> a x + b. Applying one after the other is associative, and the order matters.
struct Affine {
  std::int64_t a;
  std::int64_t b;
  bool operator==(const Affine&) const = default;
};
inline constexpr auto then = [](const Affine& f, const Affine& g) {
  return Affine{f.a * g.a % 10007, (g.a * f.b + g.b) % 10007};
};
inline Affine affine_of(int rank, int i) { return {2 + (3 * rank + i) % 5, 1 + (rank + 2 * i) % 7}; }
/// Of ranks `first` to `last`.
inline Affine affine_of_ranks(int first, int last, int i) {
  auto result = affine_of(first, i);
  for (int r = first + 1; r <= last; ++r) result = then(result, affine_of(r, i));
  return result;
}

template <class View>
using ValueOf = typename View::non_const_value_type;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// A collective call as it is written, blocking and non-blocking, whatever Views it has: for one full expression. The
/// non-blocking call is followed by wait(), or by test() until it is complete.
class Forms {
 public:
  template <class Blocking, class Nonblocking>
  Forms(const char* text, const Blocking& blocking, const Nonblocking& nonblocking)
      : text(text), blocking_(&blocking), nonblocking_(&nonblocking), call_(call<Blocking>),
        begin_(begin<Nonblocking>) {}
  template <class Blocking>
  Forms(const char* text, const Blocking& blocking) : text(text), blocking_(&blocking), call_(call<Blocking>) {}
  const char* text;
  void blocking() const { call_(blocking_); }
  bool has_nonblocking() const { return begin_ != nullptr; }
  void nonblocking(bool waits) const { begin_(nonblocking_, waits); }

 private:
  template <class Blocking>
  static void call(const void* blocking) {
    (*static_cast<const Blocking*>(blocking))();
  }
  template <class Nonblocking>
  static void begin(const void* nonblocking, bool waits) {
    auto request = (*static_cast<const Nonblocking*>(nonblocking))();
    if (waits) return (void)request.wait();
    while (!request.test()) {
    }
  }

  const void *blocking_, *nonblocking_ = nullptr;
  void (*call_)(const void*);
  void (*begin_)(const void*, bool waits) = nullptr;
};

/// KONTOR_FORMS(bcast, comm, view, root): bcast(comm, view, root) and ibcast(comm, view, root).
#define KONTOR_FORMS(call, ...)                                                                                        \
  ::kontor::comm::test::Forms(                                                                                         \
      #call "(" #__VA_ARGS__ ")", [&] { return call(__VA_ARGS__); }, [&] { return i##call(__VA_ARGS__); })

/// Where there is no icall().
#define KONTOR_FORM(call, ...)                                                                                         \
  ::kontor::comm::test::Forms(#call "(" #__VA_ARGS__ ")", [&] { return call(__VA_ARGS__); })

/// Makes the call in each of its forms, three at most, between prepare() and verify(form).
inline void in_all_forms(const std::function<void()>& prepare, const Forms& forms,
                         const std::function<void(const char* form)>& verify) {
  SCOPED_TRACE(forms.text);
  for (const auto* form : {"blocking", "wait()", "test()"}) {
    if (*form != 'b' && !forms.has_nonblocking()) continue;
    prepare();
    *form == 'b' ? forms.blocking() : forms.nonblocking(*form == 'w');
    verify(form);
  }
}

/// The elements of several Views.
using Given = std::vector<Bytes>;

/// Views of a collective operation. Each form of a call finds them filled anew. Afterwards one of them holds what the
/// same operation of MPI makes of its elements; the other Views, and all memory around, are unchanged.
class Twins {
 public:
  using Fill = std::function<void(Watched& view, int number)>;
  using Mpi = std::function<void(const Given& given, void* result)>;

  Twins(std::vector<Watched> views, Fill fill) : views_(std::move(views)), fill_(std::move(fill)) {}

  /// `into`: the number of the View that has the result. `gets`: whether it has one on this rank.
  void expect(std::size_t into, bool gets, const Mpi& mpi, const Forms& forms) {
    in_all_forms([this] { prepare(); }, forms, [&](const char* form) { verify(into, gets, mpi, form); });
  }

 private:
  void verify(std::size_t into, bool gets, const Mpi& mpi, const char* form) const {
    auto expected = given_[into];
    mpi(given_, expected.data());
    for (std::size_t v = 0; v < views_.size(); ++v)
      if (gets && v == into)
        views_[v].expect(expected, form);
      else
        views_[v].expect_unchanged(form);
  }
  void prepare() {
    given_.clear();
    for (auto& view : views_) {
      fill_(view, static_cast<int>(given_.size()));
      given_.push_back(view.elements());
    }
  }

  std::vector<Watched> views_;
  Fill fill_;
  Given given_;
};

} // namespace kontor::comm::test
