// Texts and trees that writers stumble over.
#pragma once

#include "compiler/ir/tree.h"

#include <cmath>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace kft::emit {

using ir::Tree;

inline const std::vector<std::string> &nastyTexts() {
  static const std::vector<std::string> texts = {
      "", " ", "~", "null", "Null", "y", "N", "yes", "No", "on", "OFF", "true", "False", "=", "<<", "<", "012", "0o17", "0x1F", "0b11", "1e3", "1E3", "1e+3", "1.5",
      "-1", "+1", "1_000", "0_1", "1_0.5", "._5", "12:30", "1:2:3", "1:02:03.5", "190:20:30", "12:60", "08", "09", "0", "-0", "00", ".5", "5.", ".", "..", "...", ".inf", "-.Inf", "+.INF",
      ".nan", "inf", "nan", "NaN", "1.2.3", "v1", "1.0-beta", "2001-12-14", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "2001-12-14x", "2001-12", "a: b", "a:b",
      "a :b", "a:", ":a", ":", ": a", "a #b", "a#b", "#a", "# a", "-", "- a", "-a", "--a", "--lr=0.1", "---", "--- a", "---a", "?", "? a", "?a", "!a", "&a", "*a", "|", ">", "%a", "@a", "`a`",
      "'a'", "\"a\"", "a'b", "a\"b", "[a]", "{a}", "a, b", ",a", "]", "}", "a\\b", "\\", "C:\\x", "a b", " a", "a ", "a  b", "\ta", "a\t", "a\tb", "a\t#b", "a:\tb", "-\ta", "\n", "\n\n", "a\n",
      "a\n\n", "a\n\n\n", "\na", "a\nb", "a\nb\n", "a\n b\n", " a\nb", "a \nb", "a\n \nb", "a\n\nb\n", "a\n  ", "a\n\t", "a\n\tb", "#!/bin/sh\nset -e\n\necho \"hi\"\n", "a\n# b\n", "a\n---\nb\n", "a: b\n- c\n",
      "a\r\nb", "\r", "\b", std::string("a\0b", 3), "\x7f", "\xC2\x80", "\xC2\x85", "a\xC2\x85" "b", "\xE2\x80\xA8", "\xE2\x80\xA9x", "\xEF\xBB\xBF", "\xEF\xBB\xBFx", "\xC2\xA0", "\xC3\xA9", "\xE6\x97\xA5\xE6\x9C\xAC", "\xF0\x9F\x98\x80",
      "\xEF\xBF\xBE", "\xEF\xBF\xBD", "0x", "0xg", "0b2", "0o8", "1__0", "1e", "1e-", "+", "+.", "-.", "1.e5", "1.5e3", "0.1.2", "1:", "1:a", "n ", "yes ", "True\n", "10m", "16Gi", "1h", "$(HOME)", "${a}", "{{a}}",
      "metadata.labels['jobset.sigs.k8s.io/jobset-name']", "ghcr.io/a/b:1.4", "hf://a/b", "nvidia.com/gpu", "65535:1", "1,000", "0777", "+012", "-0x1F", "0X1F", "685_230.15", "685.230_15e+03", "190:20:30.15",
      std::string(2000, 'x'), std::string(300, ' ') + "x", "\"\n", "'\n", "a\n'b\"\\"};
  return texts;
}

// Pieces that mean something to YAML or JSON, glued together.
inline std::string randomText(std::mt19937_64 &random) {
  static const char *const pieces[] = {"a", "B", "0", "1", "9", "_", "-", "+", ".", ":", " ", "  ", "\n", "\t", "#", "e", "E", "x", "o", "0x", "0b", "0o", "'", "\"", "\\", "{", "}", "[", "]", ",", "&", "*", "!", "|", ">", "%", "@", "`", "?",
                                       "=", "<", "~", "null", "yes", "true", "12:30", "2001-01-01", "T", "Z", "inf", "nan", "---", "...", "\r", "\x01", "\x7f", "\xC3\xA9", "\xE2\x80\xA8", "\xEF\xBB\xBF", "\xF0\x9F\x98\x80", "\xC2\x85", "$"};
  std::string text;
  for (size_t n = random() % 7; n > 0; --n) text += pieces[random() % std::size(pieces)];
  return text;
}

inline Tree randomTree(std::mt19937_64 &random, int depth) {
  switch (random() % (depth > 0 ? 9 : 6)) {
  case 0: return Tree::null();
  case 1: return Tree::of(random() % 2 == 0);
  case 2: return Tree::of(static_cast<int64_t>(random()) >> (random() % 64));
  case 3: return Tree::of(static_cast<double>(static_cast<int64_t>(random())) * std::pow(10.0, static_cast<double>(random() % 40) - 30));
  case 4: return Tree::of(randomText(random));
  case 5: return Tree::of(nastyTexts()[random() % nastyTexts().size()]);
  case 6: {
    Tree list = Tree::list();
    for (size_t n = random() % 5; n > 0; --n) list.add(randomTree(random, depth - 1));
    return list;
  }
  default: {
    Tree map = Tree::map();
    for (size_t n = random() % 5; n > 0; --n) map.set(random() % 3 ? randomText(random) : nastyTexts()[random() % nastyTexts().size()], randomTree(random, depth - 1));
    return map;
  }
  }
}

} // namespace kft::emit
