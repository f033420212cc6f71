"""How Sphinx builds the reference: ``make docs``."""

import pegasos_stats

project = "pegasos_stats"
author = copyright = "The pegasos_stats developers"
version = release = pegasos_stats.__version__

templates_path = ["_templates"]
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
default_role = "py:obj"

autosummary_generate = True
# Not all file systems tell svm.html from SVM.html.
autosummary_filename_map = {
    f"pegasos_stats.{name}": f"pegasos_stats.{name}-function"
    for name in ("svm", "logit", "reliability", "report")
}
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "alabaster"
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_theme_options = {
    "description": pegasos_stats.__doc__.splitlines()[0],
    "page_width": "1040px",
    "sidebar_width": "230px",
    "show_powered_by": False,
}
html_show_sourcelink = False


def setup(app):
    """Leave out what scikit-learn adds to its classes to pass arguments on."""

    def skipped(app, what, name, found, skip, options):
        passed_on = name.endswith("_request") or name == "get_metadata_routing"
        return True if passed_on else None

    app.connect("autodoc-skip-member", skipped)
