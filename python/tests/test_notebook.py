"""The notebook of the documentation, executed by a kernel as a notebook does."""

from pathlib import Path

import nbclient
import nbformat

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs/python.ipynb"


def test_every_cell_runs_and_shows_its_value(tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pages = ["".join(output["data"]["text/html"]) for output in shown if "text/html" in output.get("data", {})]
    assert any("heat map" in page for page in pages)
    assert any("map of wrong elements" in page for page in pages)
    assert any('aria-label="timeline"' in page for page in pages)


def test_the_notebook_is_kept_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")


def test_progress_is_shown_in_a_notebook(tmp_path):
    code = """
import argus, time
dump = argus.run("vector_example", dump="run").dump
verdict = argus.find(dump, golden=lambda task: time.sleep(0.7))
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    heard = []
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    handle = client.process_message

    def listen(message, cell, index):
        heard.append(message)
        return handle(message, cell, index)

    client.process_message = listen
    client.execute()
    pages = [each["content"]["data"]["text/html"] for each in heard if "text/html" in each["content"].get("data", {})]
    assert any("comparing: " in page and " of 5 tasks" in page for page in pages)
    assert pages[-1] == "<span></span>"
