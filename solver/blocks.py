"""One block of nodes: its own matrix, what it sends to its neighbours, and what it receives from them.

What a block sends to the right is K + m numbers: for each term of the exponential sum of the jumps the sum
Σ_j q_k^{b-1-j} ρ_j, and its last m densities, which the neighbour's band needs. The message to the left is the same
thing in the mirror, so only the rightward half is written here and `Scheme.mirrored` gives the other.

The catch: the band acts with the drift at the SENDING node, so what a block receives depends on m drift values of its
neighbour. The weights of jumps to the right and to the left are kept apart throughout, although they are equal today.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from solver.far_jumps import far_jumps
from solver.generator import stencil
from solver.jumps import JumpLaw

Array = NDArray[np.float64]

# Nodes in a block: the cost per node is about b + K²/b multiplications and numpy's overhead per block is fixed; 64 is
# within 10% of the best of 32, 48, 64, 96, 128 for K near 70 (two cores, OpenBLAS).
BLOCK = 64


@dataclass(frozen=True, eq=False)
class Sends:
    """Jumps in one direction: w_n = Σ_k weights_k ratios_k^{n-1} for n ≥ 1."""

    weights: Array
    log_ratios: Array

    def powers(self, exponents: Array) -> Array:
        """q_k^e, one row for each exponent."""
        return np.exp(np.multiply.outer(exponents, self.log_ratios))

    @cached_property
    def beyond(self) -> Array:
        """g_k / (1 - q_k): all the weight from distance 1 to infinity."""
        return -self.weights / np.expm1(self.log_ratios)


@dataclass(frozen=True, eq=False)
class Scheme:
    """The translation-invariant parts of the adjoint: stencils, diffusion, near corrections, far jumps."""

    spacing: float
    first: Array  # stencil of d/dζ, offsets -m … m
    even: Array  # diffusion and near jump corrections at offsets -m … m, without the diagonal's out-rate
    right: Sends
    left: Sends
    reach: float  # distance in nodes to which the far jumps are exact
    tempering: float  # decay rate of the jump density, which no density exceeds; inf without jumps

    @property
    def m(self) -> int:
        return self.first.size // 2

    @cached_property
    def out_rate(self) -> float:
        """Total rate of far jumps out of a node."""
        return float(self.right.beyond.sum() + self.left.beyond.sum())

    @cached_property
    def mirrored(self) -> Scheme:
        """The scheme seen in the mirror; the drift changes sign and order with it."""
        return replace(self, right=self.left, left=self.right)

    def band(self, drift: Array) -> Array:
        """Band entries (2m+1, n): entry [m+o, j] is the coupling of sender j to receiver j+o."""
        return self.first[:, None] * drift[None, :] + self.even[:, None]

    @lru_cache(maxsize=8)  # noqa: B019 - a handful of block lengths for the life of one solve
    def _constant(self, n: int) -> tuple[Array, Array]:
        """The drift-free block (n, n) and the Toeplitz matrix of the first derivative."""
        distance = np.arange(n - 1, dtype=float)
        lower = np.zeros(n)
        upper = np.zeros(n)
        lower[1:] = self.right.powers(distance) @ self.right.weights
        upper[1:] = self.left.powers(distance) @ self.left.weights
        matrix = scipy.linalg.toeplitz(lower, upper)
        derivative = np.zeros((n, n))
        for offset in range(-self.m, self.m + 1):
            diagonal = np.eye(n, k=-offset)
            matrix += self.even[self.m + offset] * diagonal
            derivative += self.first[self.m + offset] * diagonal
        matrix[np.diag_indices(n)] -= self.out_rate
        return matrix, derivative

    def matrix(self, drift: Array) -> Array:
        """The block's own part of the adjoint, (n, n); `drift` at its n nodes."""
        constant, derivative = self._constant(drift.size)
        return constant + derivative * drift[None, :]

    def send(self, n: int) -> Array:
        """V (K+m, n): the message to the right of a block of n nodes."""
        jumps = self.right.powers(np.arange(n - 1, -1, -1.0)).T
        band = np.eye(self.m, n, k=n - self.m)
        return np.concatenate([jumps, band])

    def receive(self, n: int, neighbour: Array) -> Array:
        """U (n, K+m): what a message from the left does; `neighbour` is the drift at its last m nodes."""
        jumps = self.right.powers(np.arange(float(n))) * self.right.weights
        band = np.zeros((n, self.m))
        entries = self.band(neighbour)
        for sender in range(self.m):
            for row in range(min(sender + 1, n)):
                band[row, sender] = entries[2 * self.m - sender + row, sender]
        return np.concatenate([jumps, band], axis=1)

    def through(self, n: int) -> Array:
        """Diagonal of T: what passes a block of n ≥ m nodes without landing."""
        return np.concatenate([np.exp(n * self.right.log_ratios), np.zeros(self.m)])

    def landing(self, last: Array) -> Array:
        """Rate at which a message to the right lands anywhere; `last` is the drift at the sender's last m nodes."""
        entries = self.band(last)
        band = [entries[2 * self.m - sender :, sender].sum() for sender in range(self.m)]
        return np.concatenate([self.right.beyond, band])


def build_scheme(jumps: JumpLaw | None, diffusion: float, spacing: float, order: int, reach: float) -> Scheme:
    """Assemble the scheme of an even order 2m; far jumps are exact up to `reach` nodes."""
    first, second = stencil(order)
    m = order // 2
    even = diffusion * second / spacing**2
    if jumps is None:
        none = Sends(np.zeros(0), np.zeros(0))
        return Scheme(spacing, first / spacing, even, none, none, np.inf, np.inf)
    near = jumps.lattice_corrections(spacing, m)
    even = even + np.concatenate([near[::-1], [-2 * near.sum()], near])
    far = far_jumps(jumps, spacing, reach)
    sends = Sends(far.weights, far.log_ratios)
    return Scheme(spacing, first / spacing, even, sends, sends, reach, jumps.tempering)


@dataclass(frozen=True, eq=False)
class Block:
    """Everything the elimination needs of one block; see the module's docstring for the letters.

    `a` (n, n); `u`, `u_back` (n, p) receive from the left and from the right; `v`, `v_back` (p, n) send to the right
    and to the left; `t`, `t_back` (p,) pass through; `land`, `land_back` (p,) are the rates at which messages land.
    """

    a: Array
    u: Array
    u_back: Array
    v: Array
    v_back: Array
    t: Array
    t_back: Array
    land: Array
    land_back: Array


def assemble(scheme: Scheme, drift: Array, stop_left: bool = False, stop_right: bool = False) -> Block:
    """The block whose nodes have `drift[m:-m]`, with m values of either neighbour around them.

    At a stop edge what would leave the grid acts on the edge node: one row gains the jumps and the band's overflow.
    """
    m, mirror = scheme.m, scheme.mirrored
    own = drift[m:-m]
    n = own.size
    flipped = -drift[::-1]
    a = scheme.matrix(own)
    u = scheme.receive(n, drift[:m])
    u_back = mirror.receive(n, flipped[:m])[::-1]
    if stop_left:
        a[0] += _overflow(scheme.left, scheme.band(own[:m])[:m], n)
        u_back[0, : scheme.left.weights.size] += scheme.left.beyond * np.exp(n * scheme.left.log_ratios)
    if stop_right:
        entries = scheme.band(own[-m:])[m + 1 :]
        a[-1] += _overflow(scheme.right, entries[::-1, ::-1], n)[::-1]
        u[-1, : scheme.right.weights.size] += scheme.right.beyond * np.exp(n * scheme.right.log_ratios)
    return Block(
        a,
        u,
        u_back,
        scheme.send(n),
        mirror.send(n)[:, ::-1],
        scheme.through(n),
        mirror.through(n),
        scheme.landing(own[-m:]),
        mirror.landing(flipped[m:-m][-m:]),
    )


def _overflow(sends: Sends, entries: Array, n: int) -> Array:
    """What each of n nodes would send past an edge at node 0; `entries[o, j]`: sender j to receiver j - m + o."""
    m = entries.shape[0]
    row = sends.powers(np.arange(float(n))) @ sends.beyond
    for sender in range(m):
        row[sender] += entries[: m - sender, sender].sum()
    return row
