# SPDX-License-Identifier: Apache-2.0
"""Rows of a table such that every pair of values of any two columns stands in some row."""

from __future__ import annotations

from itertools import combinations, product


def all_pairs(columns, allowed=bool):
    """Rows (dicts) that cover every pair which some allowed row can hold.

    Parameters
    ----------
    columns : dict of str to sequence
        The values of each column.
    allowed : callable
        Whether a full row may exist; rows that may not are never made.

    Notes
    -----
    Greedy and deterministic: a row begins with a pair that is still missing and takes, column by
    column, the value that covers most missing pairs; where that leads nowhere it tries the next.
    """
    names = list(columns)
    missing = {
        ((a, i), (b, j))
        for a, b in combinations(names, 2)
        for i, j in product(range(len(columns[a])), range(len(columns[b])))
    }
    rows = []
    while missing:
        pair = min(missing, key=lambda p: [(names.index(n), i) for n, i in p])
        row = _complete(columns, names, dict(pair), missing, allowed)
        if row is None:
            missing.discard(pair)  # no allowed row holds it
            continue
        missing -= set(combinations([(n, row[n]) for n in names], 2))
        rows.append({n: columns[n][i] for n, i in row.items()})
    return rows


def _complete(columns, names, row, missing, allowed):
    open_names = [n for n in names if n not in row]
    if not open_names:
        full = {n: row[n] for n in names}
        return full if allowed({n: columns[n][i] for n, i in full.items()}) else None
    name = open_names[0]

    def gain(index):
        return sum(_pair(names, (name, index), item) in missing for item in row.items())

    for index in sorted(range(len(columns[name])), key=lambda i: (-gain(i), i)):
        found = _complete(columns, names, row | {name: index}, missing, allowed)
        if found is not None:
            return found
    return None


def _pair(names, one, other):
    return (one, other) if names.index(one[0]) < names.index(other[0]) else (other, one)
