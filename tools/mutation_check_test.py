"""Tests of mutation_check.py."""

import unittest

from mutation_check import find_mutants


class FindMutantsTest(unittest.TestCase):
    def changed(self, line):
        return [after for _, _, after in find_mutants(line)]

    def test_operators_constants_and_calls(self):
        self.assertEqual(self.changed("  if (a < b && !c) return 0;"),
                         ["  if (a <= b && !c) return 0;", "  if (a < b || !c) return 0;",
                          "  if (a < b && c) return 0;", "  if (a < b && !c) return 1;"])
        self.assertEqual(self.changed("  list.push_back(x);"), ["  ;"])
        self.assertEqual(self.changed("  return check(x);"), [])

    def test_only_code(self):
        for line in ("  // a < b", '  log("a < b");  // true', "#if true", "std::vector<int> x;",
                     "constexpr int kOne = 1;"):
            self.assertNotIn(line.replace("<", "<="), self.changed(line))
            self.assertNotIn(line.replace("true", "false"), self.changed(line))


if __name__ == "__main__":
    unittest.main()
