import { type Clock, createServiceManager, type Log } from "@lanthorn/runtime";
import { openDecoys } from "./open-decoys.ts";
import type { ServedPlace } from "./open-places.ts";
import type { DecoysSettings } from "./settings.ts";

/** What the process stands on. */
export interface DecoyProcess {
  readonly settings: DecoysSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly ownAddresses: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: Promise<unknown>;
  readonly onReady: (places: readonly ServedPlace[]) => void;
}

const REPORT_MS = 60_000;

/** Serves decoys until it is stopped. @throws As `openDecoys`. */
export async function runDecoys({ settings, environment, ownAddresses, clock, log, stop, onReady }: DecoyProcess): Promise<void> {
  const decoys = await openDecoys(settings, { clock, log, ownAddresses });
  const manager = createServiceManager({ environment, clock, log, alive: () => true });
  const endReports = clock.every(REPORT_MS, () => {
    const { counts, ladder, sessions, exemptions } = decoys;
    log.debug({ ...counts, sources: ladder.size, left_out: ladder.leftOut, sessions: sessions.size, evicted: sessions.evicted, exempt: exemptions.counts() }, "since the start");
  });
  const served = decoys.places.filter(({ problem }) => problem === null);
  manager.ready(`serves ${served.length} of ${decoys.places.length} ports`);
  onReady(decoys.places);
  await stop;
  await manager.stopping();
  endReports();
  await decoys.close();
}
