#!/bin/bash
# Runs the program of a torch_ir_program_test (cc.bzl) with its arguments, in its runfiles.
exec "$@"
