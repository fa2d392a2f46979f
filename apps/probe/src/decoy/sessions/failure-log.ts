import { type Clock, describeError, type Log } from "@lanthorn/runtime";

const LOG_MS = 60_000;

/** @returns Logs what a service threw, each service once a minute: whoever knows how to make it throw does not fill the log. */
export function createFailureLog(log: Pick<Log, "error">, clock: Pick<Clock, "monotonic">): (error: unknown, service: string) => void {
  const services = new Map<string, { failures: number; atMs: number }>();
  return (error, service) => {
    const one = services.get(service) ?? { failures: 0, atMs: Number.NEGATIVE_INFINITY };
    services.set(service, one);
    one.failures += 1;
    if (clock.monotonic() - one.atMs < LOG_MS) return;
    one.atMs = clock.monotonic();
    log.error({ service, failures: one.failures, reason: describeError(error) }, "a decoy's service failed; its connection was closed");
  };
}
