"""The explorer: one HTML page that shows a function, its compiled forms, and the origin of each
line.

`page` gathers what the page shows, as JSON: `texts` the user's lines and the places in them,
`listing` the Wengert lists stage by stage, `code` the generated functions, `graphs` the computation
graphs, `values` the numbers of one run, `lives` the memory. ``page.html``, ``style.css`` and the
scripts show it; they need no library and no network.
"""
