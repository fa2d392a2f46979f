import { Client, Pool } from "pg";

/** Of the test file that is running: what another one left unanswered holds up no later one. */
let current = { inFlight: 0 };
let isCounting = false;

/**
 * Counts, from now on, what this process asks PostgreSQL for. The driver is changed once, however many test files share the process.
 * @returns Says whether an answer is outstanding.
 */
export function areQueriesInFlight(): () => boolean {
  if (!isCounting) {
    isCounting = true;
    countCalls(Client.prototype, "query");
    countCalls(Pool.prototype, "connect");
  }
  const count = { inFlight: 0 };
  current = count;
  return () => count.inFlight > 0;
}

function countCalls(of: object, name: string): void {
  const methods = of as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
  const real = methods[name] as (...args: readonly unknown[]) => unknown;
  methods[name] = function counted(...args) {
    const answer = Reflect.apply(real, this, args);
    if (answer instanceof Promise) {
      const count = current;
      count.inFlight += 1;
      const end = () => void (count.inFlight -= 1);
      answer.then(end, end);
    }
    return answer;
  };
}
