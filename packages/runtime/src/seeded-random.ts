/** Draws an integer in [0, below). */
export type Random = (below: number) => number;

/**
 * Chance that repeats, for tests and benches: the same draws in every run.
 * @see Numerical Recipes §7.1, "an even quicker generator": a linear congruence, of which the upper bits are used.
 */
export function seededRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
