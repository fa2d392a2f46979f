/** Which of this machine's own connections are tests: one for each time that the daemon announces it. */

/** Tests that the daemon has announced. */
export interface ExpectedTests {
  expect(decoy: string, port: number, nowMs: number): void;
  /** @returns Whether a connection of this machine is one. It is expected no more. */
  take(decoy: string, port: number, nowMs: number): boolean;
}

/** The daemon connects at once. */
const EXPECTED_MS = 5000;
const MAX_EXPECTED = 16;

/** @returns One that expects none. */
export function createExpectedTests(): ExpectedTests {
  const until = new Map<string, number>();
  return {
    expect(decoy, port, nowMs) {
      for (const [key, endMs] of until) if (endMs < nowMs) until.delete(key);
      if (until.size < MAX_EXPECTED) until.set(`${port} ${decoy}`, nowMs + EXPECTED_MS);
    },
    take(decoy, port, nowMs) {
      const key = `${port} ${decoy}`;
      const endMs = until.get(key);
      until.delete(key);
      return endMs !== undefined && endMs >= nowMs;
    },
  };
}
