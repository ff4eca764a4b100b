// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaf.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>

namespace kontor::config {
namespace {

constexpr std::string_view remove_quotes = " (remove the quotes)";
constexpr std::string_view leading_zero = " (remove the leading zero: it means octal in some readers)";

/// The text without a leading plus sign, which std::from_chars does not take.
std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

bool has_leading_zero(std::string_view text) {
  const auto first = text.find_first_not_of("+-");
  return first != std::string_view::npos && first + 1 < text.size() && text[first] == '0' &&
         std::isdigit(static_cast<unsigned char>(text[first + 1]));
}

/// The value and the error of reading all of `text` as a T.
template <class T>
std::pair<T, std::errc> convert(std::string_view text) {
  const auto digits = without_plus(text);
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc{} && end != digits.data() + digits.size()) return {value, std::errc::invalid_argument};
  return {value, error};
}

/// By its bits: with -ffinite-math-only a compiler takes std::isfinite() for true.
bool is_finite(double value) { return (std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) != 0x7ff; }

std::string hint_for_integer(std::string_view text, std::errc error) {
  if (error == std::errc::result_out_of_range) return " (it does not fit into 64 bits)";
  const auto [number, failure] = convert<double>(text);
  if (failure != std::errc{} || !is_finite(number)) return "";
  if (number == std::floor(number) && std::abs(number) < 1e15) return fmt::format(" (write {:.0f})", number);
  return "";
}

std::string hint_for_double(std::string_view text, std::errc error) {
  if (error == std::errc::result_out_of_range) return " (it does not fit into a double)";
  text.remove_prefix(std::min(text.find_first_not_of("+-."), text.size()));
  for (const auto* word : {"inf", "Inf", "INF", "infinity", "nan", "NaN", "NAN"}) {
    if (text == word) return " (it must be finite)";
  }
  return "";
}

template <class T>
bool is_lowest(T value) {
  return value == std::numeric_limits<T>::lowest();
}

template <class T>
bool is_highest(T value) {
  return value == std::numeric_limits<T>::max();
}

template <class T>
bool contains(const Range<T>& range, T value) {
  if (range.exclusive_min && value == range.min) return false;
  return value >= range.min && value <= range.max;
}

} // namespace

template <class T>
std::string Number<T>::expected() const {
  const std::string article = std::is_integral_v<T> ? "an " : "a ";
  std::string result = article + std::string(noun());
  const bool below = !is_lowest(range_.min), above = !is_highest(range_.max);
  if (range_.exclusive_min)
    return fmt::format("{} greater than {}{}", result, range_.min,
                       above ? fmt::format(" and at most {}", range_.max) : "");
  if (below && above) return fmt::format("{} from {} to {}", result, range_.min, range_.max);
  if (below) return fmt::format("{} of at least {}", result, range_.min);
  if (above) return fmt::format("{} of at most {}", result, range_.max);
  return result;
}

template <class T>
bool Number<T>::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_scalar()) return refuse(node, path, problems, "E-DECK-TYPE");
  const auto [value, error] = convert<T>(node.scalar);
  if (node.quoted) return refuse(node, path, problems, "E-DECK-TYPE", error == std::errc{} ? remove_quotes : "");
  if (has_leading_zero(node.scalar))
    return refuse(node, path, problems, "E-DECK-TYPE", error == std::errc{} ? leading_zero : "");
  // std::from_chars also takes "inf" and "nan".
  if (error != std::errc{} || (std::is_floating_point_v<T> && !is_finite(static_cast<double>(value)))) {
    const auto hint =
        std::is_integral_v<T> ? hint_for_integer(node.scalar, error) : hint_for_double(node.scalar, error);
    const bool number = error == std::errc::result_out_of_range ||
                        (std::is_floating_point_v<T> && !hint.empty()); // that no double holds
    return refuse(node, path, problems, number ? errors::Id("E-DECK-RANGE") : errors::Id("E-DECK-TYPE"), hint);
  }
  if (!contains(range_, value)) return refuse(node, path, problems, "E-DECK-RANGE");
  value_ = value;
  return true;
}

template <class T>
Json Number<T>::schema() const {
  Json result{{"type", noun()}};
  if (!is_lowest(range_.min)) result[range_.exclusive_min ? "exclusiveMinimum" : "minimum"] = range_.min;
  if (!is_highest(range_.max)) result["maximum"] = range_.max;
  return result;
}

template class Number<std::int64_t>;
template class Number<double>;

Json plain(const Node& node) {
  Json found = node.is_sequence() ? Json::array() : node.is_mapping() ? Json::object() : Json();
  for (const auto& child : node.children) {
    if (node.is_mapping())
      found[child.key] = plain(child);
    else
      found.push_back(plain(child));
  }
  if (!node.is_scalar()) return found;
  if (node.is_word("true") || node.is_word("false")) return node.scalar == "true";
  if (node.quoted || has_leading_zero(node.scalar)) return node.scalar;
  if (const auto [value, error] = convert<std::int64_t>(node.scalar); error == std::errc{}) return value;
  if (const auto [value, error] = convert<double>(node.scalar); error == std::errc{} && is_finite(value)) return value;
  return node.scalar;
}

} // namespace kontor::config
