"""The mutants fit the sources, and the switches are put in as they should."""

import pathlib
import unittest

import mutation_check


class MutationCheckTest(unittest.TestCase):
    def test_each_mutant_is_of_one_place(self):
        text = pathlib.Path("tools/mutants.bzl").read_text()
        mutants = mutation_check.read_mutants(text)
        self.assertGreaterEqual(len(mutants), 60)
        for file in {mutant.file for mutant in mutants}:
            of_file = [mutant for mutant in mutants if mutant.file == file]
            mutation_check.insert(of_file, pathlib.Path(file).read_text())

    def test_each_mutant_has_its_own_words(self):
        mutants = mutation_check.read_mutants(pathlib.Path("tools/mutants.bzl").read_text())
        self.assertEqual(len({(mutant.file, mutant.what) for mutant in mutants}), len(mutants))

    def test_puts_switches_in(self):
        text = 'MUTANTS = {"a.cc": [("one", "x + 1", "x"), ("two", "f(x);", "")]}'
        source = mutation_check.insert(mutation_check.read_mutants(text), "f(x); return x + 1;")
        self.assertTrue(source.endswith("\n{ if (TORCH_IR_MUTANT(2)) {  } else { f(x); } } "
                                        "return (TORCH_IR_MUTANT(1) ? (x) : (x + 1));"))

    def test_refuses_what_is_not_there_once(self):
        mutants = mutation_check.read_mutants('MUTANTS = {"a.cc": [("one", "x", "y")]}')
        for source in ["x = x;", "y;"]:
            with self.assertRaisesRegex(ValueError, "a.cc has 'x'"):
                mutation_check.insert(mutants, source)


if __name__ == "__main__":
    unittest.main()
