// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <sstream>
#include <string_view>

namespace kontor::fuzz {
namespace {

constexpr std::size_t longest = 1 << 16; ///< no input grows beyond this, but for those that repeat a piece often

const std::vector<std::string> numbers = [] {
  std::istringstream all("0 -1 1 2 3 255 65536 2147483647 2147483648 -2147483649 4294967296 9223372036854775807 "
                         "9223372036854775808 1e308 1e999 -1e-999 nan inf 0x10 010 1.5D+3 . 1e "
                         "99999999999999999999999999");
  return std::vector<std::string>(std::istream_iterator<std::string>(all), {});
}();

class Mutator {
 public:
  Mutator(const Material& material, std::uint64_t seed, std::uint64_t number)
      : material_(material), random_(seed * 0x9e3779b97f4a7c15U + number) {}

  std::string result() {
    text_ = any(material_.samples);
    for (auto changes = 1 + below(1 + below(8)); changes > 0; --changes) change();
    return std::move(text_);
  }

 private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }
  std::size_t place() { return below(text_.size() + 1); }
  const std::string& any(const std::vector<std::string>& of) { return of[below(of.size())]; }

  void change() {
    switch (below(material_.binary ? 9 : 13)) {
    case 0:
    case 1: flip(); break;
    case 2: byte(); break;
    case 3: integer(); break;
    case 4: copy_within(); break;
    case 5: remove(); break;
    case 6: cut_off(); break;
    case 7: splice(); break;
    case 8: integer(); break;
    case 9: word(); break;
    case 10: number(); break;
    case 11: swap_lines(); break;
    default: repeat(); break;
    }
  }

  void flip() {
    if (!text_.empty()) text_[below(text_.size())] ^= static_cast<char>(1U << below(8));
  }
  void byte() {
    if (!text_.empty()) text_[below(text_.size())] = static_cast<char>(below(256));
  }
  /// 1, 2, 4 or 8 bytes become a number at the edge of what they hold, or one more or less than it was.
  void integer() {
    const std::size_t bytes = std::size_t{1} << below(4);
    if (text_.size() < bytes) return;
    const auto at = below(text_.size() - bytes + 1);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(text_[at + i])} << (8 * i);
    switch (below(6)) {
    case 0: value = 0; break;
    case 1: value = ~std::uint64_t{0}; break;
    case 2: value = ~std::uint64_t{0} >> (65 - 8 * bytes); break;
    case 3: value += 1; break;
    case 4: value -= 1; break;
    default: value <<= 1 + below(16); break;
    }
    for (std::size_t i = 0; i < bytes; ++i) text_[at + i] = static_cast<char>(value >> (8 * i));
  }
  void copy_within() {
    const auto from = place();
    put(place(), text_.substr(from, below(64)));
  }
  void remove() {
    const auto from = place();
    text_.erase(from, below(64));
  }
  void cut_off() {
    if (below(4) == 0) text_.resize(place());
  }
  void splice() {
    const auto& other = any(material_.samples);
    const auto from = below(other.size() + 1);
    put(place(), other.substr(from, below(256)));
  }
  void word() {
    if (!material_.words.empty()) put(place(), any(material_.words));
  }
  /// The digits at a place become another number.
  void number() {
    constexpr std::string_view digits = "0123456789";
    const auto from = text_.find_first_of(digits, place());
    if (from == std::string::npos) return put(place(), any(numbers));
    const auto end = std::min(text_.find_first_not_of(digits, from), text_.size());
    text_.replace(from, end - from, any(numbers));
  }
  void swap_lines() {
    const auto begin = text_.find('\n', place());
    if (begin == std::string::npos) return;
    const auto end = std::min(text_.find('\n', begin + 1), text_.size());
    const auto line = text_.substr(begin, end - begin);
    text_.erase(begin, end - begin);
    put(std::min(text_.find('\n', place()), text_.size()), line);
  }
  /// Brackets and the like, often: what is nested, long, or both.
  void repeat() {
    const auto from = place();
    const auto piece = text_.substr(from, 1 + below(3));
    std::string all;
    for (auto times = std::size_t{1} << below(15); times > 0; --times) all += piece;
    text_.insert(from, all);
  }
  void put(std::size_t at, std::string_view what) {
    if (below(2) == 0) text_.erase(at, what.size()); // instead of what is there
    if (text_.size() + what.size() < longest) text_.insert(at, what);
  }

  const Material& material_;
  std::mt19937_64 random_;
  std::string text_;
};

} // namespace

std::string mutated(const Material& material, std::uint64_t seed, std::uint64_t number) {
  return Mutator(material, seed, number).result();
}

} // namespace kontor::fuzz
