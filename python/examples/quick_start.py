"""Ten lines from a run to the first wrong task."""

import argus

run = argus.run("vector_example", dump="my_run", inject=["add_scalar:1:scale"])
for record in run.dump.filter(kernel="mul", role="output"):
    print(record.task_id, record.kernel, record.numpy().mean())

verdict = argus.find(run.dump)
print(verdict)
print(argus.replay(verdict.first_wrong[0]).word)
print(argus.trace(verdict.first_wrong[0]).bottleneck)
