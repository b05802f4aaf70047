# SPDX-License-Identifier: Apache-2.0
"""Random programs over streams, and what their happens-before order says of the result.

The model knows no stream and no engine: tasks are nodes, edges order them, and any order that
respects the edges gives the same bytes, because the generator puts a wait wherever two tasks would
race. Edges:

- the queue of a stream;
- a record before the waits that saw it;
- a callback's post before its body, the body before the stream's resume (blocking ones have one);
- the bodies of one subscribed thread in the order of their posts, where something orders the posts.

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
THREADS, SUBSCRIBED = 2, 0.4  # for callbacks; the share of streams that have them
PLAIN, EX, FLAG = "plain", "ex", "flag"  # the three ways to create an event


@dataclass(frozen=True)
class Task:
    """One call of the program; `reads` and `writes` are buffers."""

    kind: str  # operator, copy, fill, fold, record, wait; of a callback: post, body, resume
    stream: int
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    salt: int = 0
    event: int = -1
    thread: int = -1  # that runs the body; the post stands before it, the resume behind it

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
    threads: tuple[int, ...]  # that each stream's callbacks run on; -1: none is subscribed
    tasks: tuple[Task, ...]

    @property
    def waits(self) -> list[int]:
        kinds = ("wait", "resume")
        return [index for index, task in enumerate(self.tasks) if task.kind in kinds]

    def blocks(self, post: int) -> bool:
        """Whether the stream goes on only when the body of this post has run."""
        return post + 2 < len(self.tasks) and self.tasks[post + 2].kind == "resume"

    def on_one_thread(self) -> Program:
        """The same program with all callbacks on one thread: their posts order more of them."""
        tasks = (replace(t, thread=0) if t.kind == "body" else t for t in self.tasks)
        threads = tuple(min(thread, 0) for thread in self.threads)
        return replace(self, threads=threads, tasks=tuple(tasks))

    def without(self, index: int) -> Program:
        """The same program with one call forgotten, or one callback that does not block."""
        return replace(self, tasks=self.tasks[:index] + self.tasks[index + 1 :])


# ---- the model ----


class Order:
    """What happens before each task, as bits, while tasks are added one by one."""

    def __init__(self) -> None:
        self.before: list[int] = []
        self._last: dict[int, int] = {}  # task of each stream
        self._recorded: dict[int, int] = {}
        self._bodies: dict[int, list[int]] = {}

    def _with(self, index: int | None) -> int:
        return 0 if index is None else self.before[index] | 1 << index

    def _ordered_bodies(self, thread: int, mask: int) -> int:
        for body in self._bodies.get(thread, ()):
            if mask >> (body - 1) & 1:  # its post
                mask |= self._with(body)
        return mask

    def reached(self, task: Task) -> int:
        """What would happen before the task if it (a body: with its post) came now."""
        mask = self._with(self._last.get(task.stream))
        return self._ordered_bodies(task.thread, mask) if task.kind == "body" else mask

    def add(self, task: Task) -> None:
        """Add the next task of the program."""
        index = len(self.before)
        mask = self.reached(task)
        if task.kind == "wait":
            mask |= self._with(self._recorded[task.event])
        elif task.kind == "resume":
            mask |= self._with(index - 1)
        self.before.append(mask)
        if task.kind == "body":
            self._bodies.setdefault(task.thread, []).append(index)
        else:
            self._last[task.stream] = index
        if task.kind == "record":
            self._recorded[task.event] = index


def ancestors(program: Program) -> list[int]:
    """For each task the set of those that happen before it, as bits."""
    order = Order()
    for task in program.tasks:
        order.add(task)
    return order.before


def apply(task: Task, memory: list[np.ndarray]) -> None:
    """What a task does to memory, in whole numbers."""
    if task.kind == "operator":
        gradient, output = (memory[buffer] for buffer in task.reads)
        memory[task.writes[0]] = output * (gradient - (gradient * output).sum())
    elif task.kind == "copy":
        memory[task.writes[0]] = memory[task.reads[0]].copy()
    elif task.kind == "fill":
        memory[task.writes[0]] = np.zeros(WIDTH, np.int64)
    elif task.writes:  # a fold, on a stream or in a callback
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
        self.threads = tuple(
            self.rng.randrange(THREADS) if self.rng.random() < SUBSCRIBED else -1
            for _ in range(self.streams)
        )
        self.tasks: list[Task] = []
        self.order = Order()

    def add(self, task: Task) -> None:
        self.tasks.append(task)
        self.order.add(task)

    def link(self, source: int, target: int) -> None:
        """Let the target stream wait for what the source stream has so far."""
        if self.rng.random() < 0.2:  # a flag is set once and for all: never recorded again
            self.events.append(FLAG)
            event = len(self.events) - 1
        else:
            event = self.rng.randrange(3)
        self.add(Task("record", source, event=event))
        self.add(Task("wait", target, event=event))

    def call_back(self, body: Task, *, blocks: bool) -> None:
        self.add(Task("post", body.stream))
        self.add(body)
        if blocks:
            self.add(Task("resume", body.stream))

    def settle(self, task: Task) -> None:
        """Order the task behind all that it conflicts with."""
        while True:
            done = self.order.reached(task)
            found = (
                other
                for index, other in enumerate(self.tasks)
                if not done >> index & 1 and task.conflicts(other)
            )
            other = next(found, None)
            if other is None:
                return
            if other.kind == "body" and other.thread != task.thread:
                # Nothing but a later callback knows that this one has run.
                fence = Task("body", other.stream, thread=other.thread)
                self.call_back(fence, blocks=True)
            if other.stream != task.stream:
                self.link(other.stream, task.stream)

    def work(self, task: Task) -> None:
        """Add a task behind all that it conflicts with."""
        thread = self.threads[task.stream]
        if task.kind == "fold" and thread >= 0:  # host functions and subscriptions do not mix
            body = replace(task, kind="body", thread=thread)
            self.settle(body)
            self.call_back(body, blocks=self.rng.random() < 0.5)
        else:
            self.settle(task)
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
    return Program(
        seed, writer.streams, initial, tuple(writer.events), writer.threads, tuple(writer.tasks)
    )


def without_a_wait(program: Program, result: np.ndarray) -> Program | None:
    """The program without one of its waits, such that it can matter; None if there is none.

    All callbacks run on one thread, as they do where schedules are exact.
    """
    program = program.on_one_thread()
    waits = program.waits
    random.Random(program.seed + 1).shuffle(waits)
    for index in waits:
        broken = program.without(index)
        if can_matter(broken, result):
            return broken
    return None
