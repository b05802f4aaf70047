# SPDX-License-Identifier: Apache-2.0
"""Train a classifier of handwritten digits on real data; forward and backward run through aclnn.

The model is softmax regression on scikit-learn's 1,797 images of 8 x 8 pixels: logits = images @ W
+ b, by NumPy. Two losses to choose from:

    --loss log_softmax   minus the log-probability of the right digit, through
                         aclnnLogSoftmax and aclnnLogSoftmaxBackward
    --loss softmax       squared error of the probabilities, through
                         aclnnSoftmax and aclnnSoftmaxBackward

``--device cuda:0`` runs them on a GPU. Every single training step compares its gradient with
float64 NumPy; the program stops with a non-zero status when they disagree, or when the test
accuracy ends below 95 %. The loss curve is written to ./out/.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

import aclnn_py as acl

try:
    import matplotlib as mpl

    mpl.use("Agg")  # draws into a file; needs no screen
    import matplotlib.pyplot as plt
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
except ModuleNotFoundError as error:
    sys.exit(f"this sample needs {error.name}: pip install '.[samples]' where the sources are")

SEED = 0
BATCH = 32
EPOCHS = 60
RATE = 1.0  # of the first step; falls to zero in a straight line, so that the last epochs settle
CLASSES = 10
NEEDED_ACCURACY = 0.95
# Forward and backward in float32, one after the other: the bounds of both (see README) added up.
GRADIENT_RTOL, GRADIENT_ATOL = 3e-5, 2e-6


class Operators:
    """The two-phase calls, on one device and one stream."""

    def __init__(self, device: acl.Device, stream: acl.Stream) -> None:
        self.device = device
        self.stream = stream

    def __call__(self, name: str, *inputs: np.ndarray) -> np.ndarray:
        """Run operator `name` over the last axis of `inputs`; returns its result as a new array."""
        tensors = [self.device.tensor(array) for array in inputs]
        out = self.device.empty(inputs[0].shape, "float32")
        phase_one = getattr(acl, f"{name}GetWorkspaceSize")
        phase_two = getattr(acl, name)
        workspace_size, executor = phase_one(*tensors, -1, out)
        workspace = self.device.malloc(workspace_size) if workspace_size else None
        phase_two(workspace, workspace_size, executor, self.stream)
        self.stream.synchronize()
        return out.numpy()


class Loss(Protocol):
    """A loss over a batch: its value, the gradient of the logits, and the same from NumPy."""

    def step(self, logits: np.ndarray, right: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean loss, and the gradient of the summed loss by the logits, both by aclnn."""
        ...

    def reference(self, logits: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The same gradient by NumPy in float64, straight from the textbook formula."""
        ...


def probabilities64(logits: np.ndarray) -> np.ndarray:
    """Softmax in float64 by NumPy."""
    e = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@dataclass
class LogLoss:
    """Minus the log-probability of the right class."""

    run: Operators

    def step(self, logits: np.ndarray, right: np.ndarray) -> tuple[float, np.ndarray]:
        """Forward by aclnnLogSoftmax, gradient by aclnnLogSoftmaxBackward."""
        log_p = self.run("aclnnLogSoftmax", logits)
        return -float((right * log_p).sum(axis=1).mean()), self.run(
            "aclnnLogSoftmaxBackward", -right, log_p
        )

    def reference(self, logits: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Probability minus one at the right class, probability elsewhere."""
        return probabilities64(logits) - right


@dataclass
class SquaredLoss:
    """Squared distance of the probabilities from one-at-the-right-class."""

    run: Operators

    def step(self, logits: np.ndarray, right: np.ndarray) -> tuple[float, np.ndarray]:
        """Forward by aclnnSoftmax, gradient by aclnnSoftmaxBackward."""
        p = self.run("aclnnSoftmax", logits)
        return float(((p - right) ** 2).sum(axis=1).mean()), self.run(
            "aclnnSoftmaxBackward", 2 * (p - right), p
        )

    def reference(self, logits: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The chain rule through softmax, written out with the whole Jacobian of every row."""
        p = probabilities64(logits)
        jacobian = p[:, :, None] * (np.eye(CLASSES) - p[:, None, :])
        return np.einsum("nij,nj->ni", jacobian, 2 * (p - right))


LOSSES = {"log_softmax": LogLoss, "softmax": SquaredLoss}


def check_gradient(step: int, got: np.ndarray, want: np.ndarray) -> float:
    """Exit with status 1 on disagreement; returns the largest difference."""
    error = np.abs(got - want)
    if not (error <= GRADIENT_RTOL * np.abs(want) + GRADIENT_ATOL).all():  # NaN fails too
        sys.exit(f"step {step}: gradient off by {error.max():.3g} from float64 NumPy")
    return float(error.max())


def load() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images, test images, training digits, test digits; three quarters train."""
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)  # pixels are 0..16
    return train_test_split(
        images, digits.target, test_size=0.25, stratify=digits.target, random_state=SEED
    )


def train(loss: Loss) -> tuple[list[float], list[float], float]:
    """Gradient descent; returns the losses, test accuracies and the worst gradient error."""
    images, test_images, digits, test_digits = load()
    right = np.eye(CLASSES, dtype=np.float32)[digits]
    weights = np.zeros((images.shape[1], CLASSES), np.float32)
    bias = np.zeros(CLASSES, np.float32)
    rng = np.random.default_rng(SEED)
    losses: list[float] = []
    accuracies: list[float] = []
    worst = 0.0
    steps = EPOCHS * -(-len(images) // BATCH)
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as progress:
        task = progress.add_task("", total=steps)
        for _ in range(EPOCHS):
            order = rng.permutation(len(images))
            for start in range(0, len(images), BATCH):
                rows = order[start : start + BATCH]
                logits = images[rows] @ weights + bias
                value, gradient = loss.step(logits, right[rows])
                worst = max(
                    worst,
                    check_gradient(len(losses), gradient, loss.reference(logits, right[rows])),
                )
                rate = RATE * (1 - len(losses) / steps) / len(rows)
                weights -= rate * images[rows].T @ gradient
                bias -= rate * gradient.sum(axis=0)
                losses.append(value)
                progress.advance(task)
            guess = (test_images @ weights + bias).argmax(axis=1)
            accuracies.append(float((guess == test_digits).mean()))
            progress.update(task, description=f"loss {value:.3f}, test {accuracies[-1]:.1%}")
    return losses, accuracies, worst


def draw(path: Path, name: str, losses: list[float], accuracies: list[float]) -> None:
    """The loss of every step and the test accuracy of every epoch."""
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(losses, color="tab:blue", linewidth=0.8)
    axes.set(xlabel="step", title=f"handwritten digits, --loss {name}")
    axes.set_ylabel("training loss", color="tab:blue")
    per_epoch = len(losses) / len(accuracies)
    epochs = per_epoch * np.arange(1, len(accuracies) + 1)
    accuracy_axes = axes.twinx()
    accuracy_axes.plot(epochs, accuracies, color="tab:orange", marker=".")
    accuracy_axes.set(ylim=(0.8, 1.0))
    accuracy_axes.set_ylabel("test accuracy", color="tab:orange")
    accuracy_axes.axhline(NEEDED_ACCURACY, color="gray", linestyle=":", linewidth=0.8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Train, report, draw; exit with status 1 when the model is not good enough."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--loss", choices=sorted(LOSSES), default="log_softmax")
    parser.add_argument("--device", default="cpu:0", help='"cpu:0", or "cuda:0" for a GPU')
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the picture")
    options = parser.parse_args()

    try:
        opened = acl.Device(options.device)
    except acl.AclError as error:
        sys.exit(f"no such device here: {error}")
    with opened as device, device.create_stream() as stream:
        losses, accuracies, worst = train(LOSSES[options.loss](Operators(device, stream)))
    print(f"{len(losses)} steps, every gradient within {worst:.2g} of float64 NumPy")
    picture = options.out / f"train_digits_{options.loss}.png"
    draw(picture, options.loss, losses, accuracies)
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, test accuracy {accuracies[-1]:.2%}")
    print(f"loss curve: {picture}")
    if accuracies[-1] < NEEDED_ACCURACY:
        sys.exit(f"test accuracy is below {NEEDED_ACCURACY:.0%}")


if __name__ == "__main__":
    main()
