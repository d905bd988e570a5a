"""Containers of `collections`, and of classes that derive from list, dict and deque, that a program
makes: they do what Python's do."""

from __future__ import annotations

import collections
import copy
import heapq
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest

import stcompile as st
from stcompile import LanguageError, TypingError
from tests.diagnostics.refusals import Refusals
from tests.programs import Examples

example = Examples()
refused = Refusals()
X = np.array([0.3, 0.7, 1.1])
TREE = {0: [1, 2], 1: [3, 4], 2: [], 3: [], 4: []}

# --- deque ---------------------------------------------------------------------------------------


@example(X)
def a_walk_by_breadth(x):
    queue, total, order = deque([0]), 0.0, []
    while queue:
        node = queue.popleft()
        order.append(node)
        total = total + x[node % 3] * (node + 1) ** len(order)
        queue.extend(TREE[node])
    return total


@example(X)
def a_window(x):
    last, total = deque(maxlen=2), 0.0
    for i in range(3):
        last.append(x[i])
        total = total + sum(last) * last[-1] + last[0] * len(last)
    return total * last.maxlen


@example(X)
def both_ends(x):
    queue = deque([x[0], x[1]])
    queue.appendleft(x[2])
    queue.rotate(1)
    queue.extendleft([x[0] * 2, x[1] * 3])
    queue.insert(1, x[2] * 5)
    queue[0] = queue[0] * 2
    del queue[2]
    queue += [x[1]]
    queue.reverse()
    dropped = queue.pop()
    return np.sum(np.array(queue) * np.arange(5.0)) + dropped + max(queue) * min(queue)


@example(X)
def compared_deques(x):
    one, other = deque([x[0], x[1]]), deque([x[0], x[1]], maxlen=4)
    found = [one == other, one != other, x[0] in one, one < deque([x[2]]), one == [x[0], x[1]]]
    return x * sum(2**i for i, flag in enumerate(found) if flag)


@example(X)
def deques_that_are_made_of_others(x):
    one = deque([x[0], x[1]], 2)
    other, third, fourth = one.copy(), copy.copy(one), deque(reversed(one))
    other.append(x[2])
    third *= 2
    both = one + fourth
    return [*other, *third, *both, third.maxlen, both.maxlen, deque("aab").count("a")]


@example(X)
def a_deque_of_arrays(x):
    rows = deque([x, x**2], maxlen=2)
    rows.append(rows[0] * rows[1])
    total = np.zeros(3)
    for i, row in enumerate(rows):
        total += row * (i + 1)
    return total, [row * 2 for row in rows], np.stack(rows)


@example(X)
def a_deque_in_a_kept_loop(x):
    last = deque([x[0], x[1]], maxlen=2)
    for _ in range(60):
        last.append(np.sin(last[0] + last[1] * x[2]))
    return last[0] + 2 * last[1]


@example(X)
def a_deque_that_turns_in_a_kept_loop(x):
    ring, total = deque([x[0], x[1], x[2]]), 0.0
    for i in range(60):
        total = total + np.cos(ring[0] * total)
        ring.rotate(3)
        ring[1] = ring[1] * 0.9
    return total + ring[1]


@example(X)
def containers_on_two_paths(x):
    last, table = deque([x[0], x[1]], maxlen=2), defaultdict(float, a=x[0])
    ordered = OrderedDict(a=x[0], b=x[1])
    if x[0] > 0.1:
        last.append(x[2])
        table["a"] += x[1]
        ordered["a"] = x[2]
    else:
        last.append(x[1] * 2)
        table["a"] *= 2
    return last[0] * last[1] + table["a"] * ordered["a"] + table["late"]


@example(X)
def one_of_two_deques(x):
    chosen = deque([x[0]], 3) if x[0] > x[1] else deque([x[1]], 3)
    return chosen[0] * chosen.maxlen


# --- dicts ---------------------------------------------------------------------------------------


@example(X)
def groups(x):
    table = defaultdict(list)
    for i in range(3):
        table[i % 2].append(x[i])
    return sum(sum(items) * (key + 1) for key, items in table.items()) * len(table)


@example(X)
def sums_by_key(x):
    table = defaultdict(float)
    table["a"] += x[0]
    table["b"] += x[1] * x[2]
    table["a"] += x[1]
    return table["a"] * table["b"], table.get("c"), "c" in table, sorted(table)


@example(X)
def arrays_by_key(x):
    table = defaultdict(lambda: np.zeros(3))
    table["a"] += x
    table["a"] += x**2
    table["b"][1] = x[0]
    return np.sum(table["a"] * table["b"]) + len(table)


@example(X)
def nested_defaults(x):
    table = defaultdict(lambda: defaultdict(float))
    table[0][1] += x[0]
    table[0][1] += x[1]
    table[1][2] += x[2]
    return table[0][1] * table[1][2] * sum(len(inner) for inner in table.values())


@example(X)
def a_factory_that_changes(x):
    table = defaultdict(None)
    table["a"] = x[0]
    table.default_factory = lambda: x[1]
    total = table["a"] * table["b"]
    table.default_factory = None
    try:
        total = total + table["c"]
    except KeyError:
        total = total * 3
    return total


@example(X)
def counted_letters(x):
    count = Counter("abracadabra")
    count["z"] += 1
    count.update("ab")
    count.subtract({"a": 2})
    del count["never"]
    (first, most), second = count.most_common(2)
    total = x[0] * count["a"] + x[1] * count["missing"] + second[1] * x[2]
    return total + sum(count.values()) * len(first) * most, [*count.elements()]


@example(X)
def sums_of_counters(x):
    one, other = Counter(a=2, b=1), Counter(a=1, c=3)
    both, rest = one + other, one - other
    one += other
    found = sum(x[0] * v for v in both.values()) + x[1] * rest["a"] + len(one | other) * x[2]
    return found, one == both, (one & other) == Counter(a=1, c=3), +Counter(a=-1), one.most_common()


@example(X)
def weights_by_key(x):
    weights = Counter()
    for i in range(3):
        weights[i % 2] += x[i]
    return weights[0] * weights[1] * weights[7] + weights[0], weights


@example(X)
def ordered(x):
    table = OrderedDict(a=x[0], b=x[1])
    table["c"] = x[2]
    table.move_to_end("a")
    table.move_to_end("c", last=False)
    key, value = table.popitem(last=False)
    total = 0.0
    for i, (_, each) in enumerate(table.items()):
        total = total + (i + 1) * each
    return total * value, list(table), key, [*reversed(table)], list(table.values())


@example(X)
def orders_compared(x):
    one, other = OrderedDict(a=1, b=x[0]), OrderedDict([("b", x[0]), ("a", 1)])
    found = [one == other, one == dict(other), dict(one) == other, one != other]
    return x[0] * sum(2**i for i, flag in enumerate(found) if flag)


@example(X)
def dicts_of_keys(x):
    one, other = OrderedDict.fromkeys("ab", x[0]), dict.fromkeys(["c", "d"], x[1])
    other["d"] = x[2]
    return one, other, defaultdict.fromkeys("e"), dict.fromkeys(range(2))


@example(X)
def dicts_that_are_made_of_others(x):
    one = OrderedDict(b=x[0], a=x[1])
    table = defaultdict(list, one, c=x[2])
    other, third = one.copy(), table.copy()
    one.update(a=x[2])
    other |= {"d": x[0]}
    third["e"].append(x[1])
    plain = {**table, "f": 1.0}
    deep = copy.deepcopy(third)
    deep["e"].append(x[0])
    return one, other, table, third, plain, dict(one), one | {"z": x[0]}, deep


@example(X)
def a_counter_in_a_kept_loop(x):
    table, count = defaultdict(float), Counter()
    table["s"] = x[0]
    for _ in range(60):
        table["s"] = np.sin(table["s"]) + x[1]
        count["steps"] += 1
    return table["s"] * count["steps"]


@example(X)
def classes(x):
    made = [deque(), defaultdict(int), Counter(), OrderedDict()]
    found = [type(value) is deque for value in made]
    found += [isinstance(value, dict) for value in made]
    found += [not value for value in made]
    found += [isinstance(made[2], Counter), issubclass(type(made[3]), OrderedDict)]
    return x[0] * sum(2**i for i, flag in enumerate(found) if flag)


@example(X)
def least_and_greatest(x):
    pairs = [(3, "c"), (1, "a"), (2, "b")]
    return x * heapq.nlargest(2, pairs)[1][0] + heapq.nsmallest(1, [5, 4])[0]


@example(X)
def what_is_returned(x):
    last, table = deque([x[0]], maxlen=3), defaultdict(list)
    last.append(x * 2)
    table["a"].append(x[0])
    return last, table, Counter("aab"), OrderedDict(z=x, a=x[1]), deque([1]), defaultdict(None, a=x)


# --- classes of the user's -----------------------------------------------------------------------


class Lists(dict):
    def __missing__(self, key):
        self[key] = made = []
        return made


class Stack(list):
    def __init__(self, items, pushed=0):
        super().__init__(items)
        self.pushed = pushed

    def push(self, value):
        self.append(value)
        self.pushed += 1

    def __getitem__(self, index):
        return super().__getitem__(index) * 2


class Doubled(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)


class Doubling(OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)


class Last(deque):
    def __init__(self, items=()):
        super().__init__(items, 2)

    @property
    def mean(self):
        return sum(self) / len(self)


class Upper(collections.UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.upper(), value)


class Numbers(collections.UserList):
    def total(self):
        return sum(self.data)


@example(X)
def a_class_with_missing_keys(x):
    table = Lists()
    table["a"].append(x[0])
    table["a"].append(x[1])
    return sum(table["a"]) * len(table), isinstance(table, dict), "b" in table


@example(X)
def a_stack(x):
    stack = Stack([x[0]], 3)
    stack.push(x[1])
    return stack[0] * stack[1] * stack.pushed + sum(stack) + len(stack), stack.pop(), bool(stack)


@example(X)
def overridden_items(x):
    one, other = Doubled(a=x[0]), Doubling(a=x[0])
    for table in (one, other):
        table["b"] = x[1]
        table.update(c=x[2])
    return dict(one), dict(other)


@example(X)
def a_deque_of_a_class(x):
    last = Last([x[0], x[1]])
    last.append(x[2])
    return last.mean * last.maxlen


@example(X)
def objects_on_two_paths(x):
    stack, table = Stack([x[0]]), Lists(a=x[0])
    if x[0] > x[1]:
        stack[0] = x[1]
        table["a"] = x[2]
        stack.pushed = 4
    else:
        stack.pushed = 5
    return stack[0] * table["a"] * stack.pushed


@example(X)
def wrapped_containers(x):
    table, numbers = Upper(a=x[0]), Numbers([x[1]])
    table["b"] = x[1]
    numbers.append(x[2])
    return table["A"] * table["B"] * len(table) + numbers.total() * numbers[0], "b" in table


@example(X)
def a_chain(x):
    chain = collections.ChainMap({"a": x[0]}, {"a": x[1], "b": x[2]})
    chain["c"] = x[1]
    inner = chain.new_child({"b": x[0]})
    return chain["a"] * chain["b"] * inner["b"] + chain.maps[0]["c"]


test_program = example.tests()


# --- refusals ------------------------------------------------------------------------------------


@refused(X, at="queue.popleft()", reason="pop from an empty deque", error=LanguageError)
def an_empty_deque(x):
    queue = deque([x[0]])
    return queue.popleft() * queue.popleft()


@refused(X, at="queue[0:1]", reason="must be integer, not 'slice'", error=TypingError)
def a_slice_of_a_deque(x):
    queue = deque([x[0], x[1]])
    return sum(queue[0:1])


@refused(X, at="for item in queue:", reason="deque mutated during iteration", error=TypingError)
def a_deque_that_changes_on_the_way(x):
    queue = deque([x[0], x[1]])
    for item in queue:
        queue.append(item)
    return sum(queue)


@refused(X, at='table["b"]', reason="KeyError: 'b'", error=TypingError)
def a_key_that_is_missing(x):
    table = defaultdict(None, a=x[0])
    return table["b"]


@refused(X, at="table[x[0]] += 1.0", reason="known only at run time")
def a_key_of_the_data(x):
    table = defaultdict(float)
    table[x[0]] += 1.0
    return table["a"]


@refused(X, at="if x[0] > 0:", reason="a deque gets items on one path", hint="on both paths alike")
def a_deque_that_grows_on_one_path(x):
    queue = deque([x[0]])
    if x[0] > 0:
        queue.append(x[1])
    return sum(queue)


test_refusal = refused.tests()


def test_factories_of_the_program_are_not_returned() -> None:
    def made(x):
        return defaultdict(lambda: 1.0, a=x[0])

    with pytest.raises(LanguageError, match="a defaultdict whose factory is") as caught:
        st.compile(made)(X)
    assert "dict(table)" in caught.value.hint
