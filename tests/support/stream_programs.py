# SPDX-License-Identifier: Apache-2.0
"""Random programs over streams, and what their happens-before order says of the result.

The model knows no stream and no engine: tasks are nodes, two kinds of edges order them (the queue
of a stream, a record before the waits that saw it), and any order that respects the edges gives the
same bytes, because the generator puts a wait wherever two tasks would race.

Buffers hold four float32. Small ones stay within -3..3, results come from operators that read small
ones, so that every number is a small integer and every result is exact.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np

WIDTH = 4
SMALL, RESULTS = 4, 3
BUFFERS = SMALL + RESULTS
MOST_STREAMS = 6
PLAIN, EX, FLAG = "plain", "ex", "flag"  # the three ways to create an event


@dataclass(frozen=True)
class Task:
    """One call of the program; `reads` and `writes` are buffers."""

    kind: str  # operator, copy, fill, fold, record, wait
    stream: int
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    salt: int = 0
    event: int = -1

    @property
    def touches(self) -> tuple[int, ...]:
        return self.reads + self.writes

    def conflicts(self, other: Task) -> bool:
        """Whether the order of the two can be seen."""
        return not (
            set(self.writes).isdisjoint(other.touches)
            and set(other.writes).isdisjoint(self.touches)
        )


@dataclass(frozen=True)
class Program:
    """Calls in the order in which one thread makes them."""

    seed: int
    streams: int
    initial: tuple[tuple[int, ...], ...]
    events: tuple[str, ...]  # the kind of each
    tasks: tuple[Task, ...]

    @property
    def waits(self) -> list[int]:
        return [index for index, task in enumerate(self.tasks) if task.kind == "wait"]

    def without(self, index: int) -> Program:
        """The same program with one call forgotten."""
        return replace(self, tasks=self.tasks[:index] + self.tasks[index + 1 :])


# ---- the model ----


def ancestors(program: Program) -> list[int]:
    """For each task the set of those that happen before it, as bits."""
    before: list[int] = []
    last_of_stream: dict[int, int] = {}
    last_record: dict[int, int] = {}
    for index, task in enumerate(program.tasks):
        mask = 0
        sources = [last_of_stream.get(task.stream)]
        if task.kind == "wait":
            sources.append(last_record[task.event])
        for source in sources:
            if source is not None:
                mask |= before[source] | 1 << source
        before.append(mask)
        last_of_stream[task.stream] = index
        if task.kind == "record":
            last_record[task.event] = index
    return before


def apply(task: Task, memory: list[np.ndarray]) -> None:
    """What a task does to memory, in whole numbers."""
    if task.kind == "operator":
        gradient, output = (memory[buffer] for buffer in task.reads)
        memory[task.writes[0]] = output * (gradient - (gradient * output).sum())
    elif task.kind == "copy":
        memory[task.writes[0]] = memory[task.reads[0]].copy()
    elif task.kind == "fill":
        memory[task.writes[0]] = np.zeros(WIDTH, np.int64)
    elif task.kind == "fold":
        target = task.writes[0]
        mixed = 31 * memory[target] + task.salt
        for factor, source in enumerate(task.reads, 17):
            mixed = mixed + factor * memory[source]
        memory[target] = mixed % 7 - 3


def outcome(program: Program, order: list[int]) -> np.ndarray:
    """Memory after the tasks have run in this order."""
    memory = [np.array(values, dtype=np.int64) for values in program.initial]
    for index in order:
        apply(program.tasks[index], memory)
    return np.stack(memory)


def any_order(program: Program, before: list[int], rng: random.Random) -> list[int]:
    """Some order that the edges allow."""
    left = set(range(len(program.tasks)))
    done, order = 0, []
    while left:
        ready = sorted(index for index in left if not before[index] & ~done)
        chosen = rng.choice(ready)
        left.remove(chosen)
        done |= 1 << chosen
        order.append(chosen)
    return order


def expected(program: Program) -> np.ndarray:
    """The one result of a program without races."""
    return outcome(program, any_order(program, ancestors(program), random.Random(program.seed)))


def races(program: Program) -> list[tuple[int, int]]:
    """Pairs of conflicting tasks that nothing orders."""
    before = ancestors(program)
    return [
        (early, late)
        for late, task in enumerate(program.tasks)
        for early in range(late)
        if not before[late] >> early & 1 and task.conflicts(program.tasks[early])
    ]


def can_matter(program: Program, result: np.ndarray) -> bool:
    """Whether some order of a program with races ends with another result."""
    before = ancestors(program)
    for _, late in races(program):
        first = [index for index in range(len(before)) if before[late] >> index & 1]
        rest = [index for index in range(len(before)) if index != late and index not in first]
        if not np.array_equal(outcome(program, [*first, late, *rest]), result):
            return True
    return False


# ---- the generator ----


class _Writer:
    """Adds calls to a program; waits for whatever would race."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.streams = self.rng.randint(2, MOST_STREAMS)
        self.events = [self.rng.choice((PLAIN, EX)) for _ in range(3)]
        self.tasks: list[Task] = []
        self.before: list[int] = []
        self.last: dict[int, int] = {}
        self.recorded: dict[int, int] = {}

    def add(self, task: Task) -> None:
        mask = 0
        sources = [self.last.get(task.stream, -1)]
        if task.kind == "wait":
            sources.append(self.recorded[task.event])
        for source in sources:
            if source >= 0:
                mask |= self.before[source] | 1 << source
        index = len(self.tasks)
        self.tasks.append(task)
        self.before.append(mask)
        self.last[task.stream] = index
        if task.kind == "record":
            self.recorded[task.event] = index

    def link(self, source: int, target: int) -> None:
        """Let the target stream wait for what the source stream has so far."""
        if self.rng.random() < 0.2:  # a flag is set once and for all: never recorded again
            self.events.append(FLAG)
            event = len(self.events) - 1
        else:
            event = self.rng.randrange(3)
        self.add(Task("record", source, event=event))
        self.add(Task("wait", target, event=event))

    def work(self, task: Task) -> None:
        """Add a task, ordered behind all that it conflicts with."""
        last = self.last.get(task.stream)
        done = 0 if last is None else self.before[last] | 1 << last
        for source in range(self.streams):
            conflict = any(
                other.stream == source and not done >> index & 1 and task.conflicts(other)
                for index, other in enumerate(self.tasks)
            )
            if conflict:
                self.link(source, task.stream)
                waited = self.last[task.stream]
                done = self.before[waited] | 1 << waited
        self.add(task)

    def random_task(self) -> Task:
        rng = self.rng
        stream = rng.randrange(self.streams)
        small, result = range(SMALL), range(SMALL, BUFFERS)
        kind = rng.choices(("fold", "operator", "copy", "fill"), (5, 3, 3, 1))[0]
        if kind == "operator":
            return Task(kind, stream, tuple(rng.sample(small, 2)), (rng.choice(result),))
        if kind == "copy":
            source, target = rng.sample(rng.choice((small, result)), 2)
            return Task(kind, stream, (source,), (target,))
        if kind == "fill":
            return Task(kind, stream, (), (rng.randrange(BUFFERS),))
        target = rng.choice(small)
        others = [buffer for buffer in range(BUFFERS) if buffer != target]
        sources = tuple(rng.sample(others, rng.randint(1, 2)))
        return Task(kind, stream, sources, (target,), rng.randint(1, 6))


def generate(seed: int, length: int = 14) -> Program:
    """A program of `length` tasks that do something, and the events that they need."""
    writer = _Writer(seed)
    rng = writer.rng
    for _ in range(length):
        if rng.random() < 0.1:
            writer.link(*rng.sample(range(writer.streams), 2))
        writer.work(writer.random_task())
    initial = tuple(tuple(rng.randint(-3, 3) for _ in range(WIDTH)) for _ in range(BUFFERS))
    return Program(seed, writer.streams, initial, tuple(writer.events), tuple(writer.tasks))


def without_a_wait(program: Program, result: np.ndarray) -> Program | None:
    """The program without one of its waits, such that it can matter; None if there is none."""
    waits = program.waits
    random.Random(program.seed + 1).shuffle(waits)
    for index in waits:
        broken = program.without(index)
        if can_matter(broken, result):
            return broken
    return None
