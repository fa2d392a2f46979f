import type { Database } from "better-sqlite3";
import { exchangeDatagram } from "../identify/datagrams.ts";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import type { SwitchWatch, SwitchWatchDeps } from "./switch-watch.ts";
import { createSwitchesStore } from "./switches-store.ts";

/** The daemon's part that asks switches. */
export interface Switches extends SwitchWatch {
  /** Call it for new credentials: switches that wait for one are polled at once, and those that are no longer polled are reported. */
  onCredentials(): void;
}

/**
 * What speaks SNMP is loaded when there is a switch to poll, or to report as no longer polled.
 * @throws SqliteError when its table cannot be made.
 */
export function openSwitches(
  deps: Omit<SwitchWatchDeps, "ask" | "store" | "publisher"> & { readonly db: Database; readonly outbox: EventSink },
): Switches {
  const { access, clock } = deps;
  const store = createSwitchesStore(deps.db);
  const publisher = createPublisher({ ...deps, what: "reports of switches" });
  let watch: Promise<SwitchWatch> | null = null;
  let round = Promise.resolve();
  let isOpen = true;
  let isBegun = false;
  const hasWork = () => store.all().size > 0 || [...access.namedHosts(), ...deps.announced()].some((ip) => access.forHost(ip).length > 0);
  const poll = async () => {
    if (!isOpen || (!watch && !hasWork())) return;
    const given = { ...deps, store, publisher, ask: exchangeDatagram };
    watch ??= import("./switch-watch.ts").then(({ createSwitchWatch }) => createSwitchWatch(given));
    await (await watch).pollNow();
  };
  const pollNow = () => (round = poll());
  const begin = () => {
    isBegun = true;
    void pollNow();
  };
  const cancel = [clock.after(FIRST_MS, begin), clock.every(deps.intervalMs, () => void pollNow())];
  return {
    pollNow,
    onCredentials() {
      // A round in progress may be past those whom they are for.
      if (isBegun) void round.then(pollNow);
    },
    async close() {
      isOpen = false;
      for (const one of cancel) one();
      await (await watch)?.close();
    },
  };
}

/** The collector's configuration and the neighbors' words come first. */
const FIRST_MS = 30_000;
