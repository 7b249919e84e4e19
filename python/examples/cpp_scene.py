"""A scene in C++: compiled here with the headers of the package, run, and its first wrong task found."""

import pathlib

import argus

headers = pathlib.Path(argus.include_directory())
assert (headers / "pto" / "pto-inst.hpp").is_file(), f"{headers} has no kernel headers"

run = argus.run("vector_example_cpp", dump="cpp_run", inject=["mul:0:nan"])
verdict = argus.find(run.dump)
assert verdict.first_wrong[0].kernel == "mul"
print(verdict)
