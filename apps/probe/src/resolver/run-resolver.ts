import { type Clock, createServiceManager, type Log } from "@lanthorn/runtime";
import { givenSockets } from "./listeners/given-sockets.ts";
import { watchLoop } from "./loop-watch.ts";
import { openResolver } from "./open-resolver.ts";
import type { ResolverSettings } from "./settings.ts";

/** What the process stands on. */
export interface ResolverProcess {
  readonly settings: ResolverSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: Promise<unknown>;
  /** @param task Is called at SIGHUP. */
  readonly onReload: (task: () => void) => void;
  /** @param listeners `udp 192.0.2.1:53` */
  readonly onReady: (listeners: readonly string[]) => void;
}

const REPORT_MS = 60_000;

/** Answers until it is stopped. @throws As `openResolver`. */
export async function runResolver({ settings, environment, clock, log, stop, onReload, onReady }: ResolverProcess): Promise<void> {
  const resolver = await openResolver(settings, givenSockets(environment, process.pid), { clock, log });
  const manager = createServiceManager({ environment, clock, log, alive: resolver.isAnswering });
  onReload(() => void resolver.refreshLists());
  const endReports = clock.every(REPORT_MS, () => {
    const { counts, upstreams } = resolver;
    log.debug({ ...counts, upstreams: upstreams.map(({ label, isDown, usualMs, counts: ofServer }) => ({ label, isDown, usualMs: Math.round(usualMs), ...ofServer })) }, "the last minutes");
  });
  const listeners = resolver.listeners.map(({ label }) => label);
  const endWatch = watchLoop(clock);
  manager.ready(`answers on ${listeners.join(", ")}`);
  onReady(listeners);
  await stop;
  await manager.stopping();
  endReports();
  await endWatch();
  await resolver.close();
}
