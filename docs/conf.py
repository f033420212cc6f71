"""How Sphinx builds the site: ``make docs``."""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
VIGNETTES = HERE.parent / "vignettes"
sys.path.insert(0, str(HERE / "_site"))

# Sphinx reads what is below its own folder: the notebooks and their list go there.
shown = shutil.ignore_patterns("*.py", "*.toml", "matplotlibrc", "__pycache__", ".*")
shutil.rmtree(HERE / "vignettes", ignore_errors=True)
shutil.copytree(VIGNETTES, HERE / "vignettes", ignore=shown)
for notebook in (HERE / "vignettes").glob("*.ipynb"):  # links to pages of the site
    text = notebook.read_text("utf-8")
    notebook.write_text(text.replace("](../docs/", "](../"), "utf-8")

import pegasos_stats  # noqa: E402

project = "pegasos_stats"
author = copyright = "The pegasos_stats developers"
version = release = pegasos_stats.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_nb",
    "numpydoc",
    "accessible",
    "doors",
    "formulas",
    "members",
    "running",
    "texts",
]
exclude_patterns = ["_site"]
default_role = "py:obj"
html_math_renderer = "outlines"

nb_execution_mode = "off"  # notebooks are shown as `make vignettes` executed them
myst_enable_extensions = ["dollarmath", "html_image"]

add_module_names = False
toc_object_entries = False
autosummary_generate = False
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = "pegasos_stats"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}


def setup(app):
    """Show how to make an object only where its users make it."""

    def signature(app, what, name, found, options, arguments, returned):
        made = what != "class" or "Parameters" in (found.__doc__ or "")
        return (arguments if made else "", returned)

    app.connect("autodoc-process-signature", signature)
