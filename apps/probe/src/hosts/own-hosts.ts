import type { Clock, Log } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import { macKey } from "./host.ts";
import { createHostEvents, type HostEvents } from "./host-events.ts";
import { createHostTable, type HostTable, onlineAt } from "./host-table.ts";
import { createHostsStore } from "./hosts-store.ts";
import { createAdmission } from "./newcomers/admission.ts";
import { createFactsTaker, type FactsTaker } from "./service-facts.ts";
import { createHostTracker, type HostTracker } from "./host-tracker.ts";
import { createHostAnnouncer, type HostAnnouncer } from "./host-announcer.ts";

/** The hosts of the own link: what is known of them, and its reports to the collector. */
export interface OwnHosts {
  readonly table: HostTable;
  readonly announcer: HostAnnouncer;
  readonly facts: FactsTaker;
  readonly tracker: HostTracker;
  readonly events: HostEvents;
  /** Empty where nobody is at the address. */
  macAt(address: string): string;
  /** A host has answered a packet of ours that the bus does not hear. */
  noteAnswer(host: { readonly ip: number; readonly mac: Uint8Array }): void;
  /** Packets went out: each may bring one host that nobody knew. */
  noteSent(count: number): void;
  /** Takes up what an earlier run knew. */
  load(): void;
  /** Writes down what is due. Call it twice a second. */
  flush(now: number): void;
  /** Writes when hosts were last seen, in parts, with the next flushes. */
  saveLastSeen(): void;
  /** Reports those at these addresses that were not reported yet. */
  announce(addresses: readonly string[]): void;
  /** Writes down all that is not yet written. */
  close(): void;
}

/** What one burst of frames brings is reported together. */
const FLUSH_AFTER_MS = 50;
const SAVED_AT_ONCE = 2000;

/** What the hosts of the own link need: a place to be stored, a way to report, and a bound. */
export interface OwnHostsDeps {
  /** The database that holds the outbox: a change of state and its event are one transaction. */
  readonly db: Database;
  /** Called inside a transaction of `db`. A throw rolls the change back; it is tried again a second later. */
  readonly outbox: EventSink;
  readonly clock: Clock;
  readonly log: Log;
  /** Most hosts to hold; of those that are offline, who was there for the shortest time leaves first. */
  readonly maxHosts: number;
  /**
   * `all` admits every host that speaks, at any rate, as a capture file needs it, and asks nobody; `paced` unless given, against made-up
   * MACs without end.
   */
  readonly unasked?: "paced" | "all";
  /** Empty for a MAC that no vendor owns. */
  readonly vendorOf: (mac: string) => string;
}

/** @throws What better-sqlite3 throws when its table cannot be made. */
export function createOwnHosts(deps: OwnHostsDeps): OwnHosts {
  const { clock } = deps;
  const store = createHostsStore(deps.db);
  const table = createHostTable(deps.maxHosts);
  const admission = createAdmission({ unasked: deps.unasked ?? "paced" });
  const events = createHostEvents();
  /** The contract's limit is cut to here, as registries hold whole addresses. */
  const vendorOf = (mac: string) => deps.vendorOf(mac).slice(0, 255);
  let flushing: (() => void) | null = null;
  let saving = false;

  const flushSoon = () => {
    flushing ??= clock.after(FLUSH_AFTER_MS, () => {
      flushing = null;
      if (announcer.flush(clock.monotonic())) flushSoon();
    });
  };
  const announcer = createHostAnnouncer({ table, store, publisher: createPublisher({ ...deps, what: "hosts" }), clock, onDue: flushSoon });
  const facts = createFactsTaker({ table, announcer, clock });
  const tracker = createHostTracker({ table, announcer, admission, clock, vendorOf, facts, events });
  return {
    table, announcer, facts, tracker, events,
    macAt: (address) => onlineAt(table, address)[0]?.mac ?? "",
    noteAnswer: ({ ip, mac }) => tracker.answered(macKey(mac), ip),
    noteSent: (count) => admission.asked(count),
    load() {
      for (const host of store.load(clock.monotonic())) {
        // Null: the limit is lower than it was. The registry of vendors may be newer than the row.
        announcer.forget(table.add(host, clock.now()) ?? [host]);
        host.vendor = vendorOf(host.mac) || host.vendor;
        if (host.vendor !== host.published?.vendor) announcer.announceChange(host);
      }
    },
    flush(now) {
      if (announcer.flush(now)) flushSoon();
      if (saving) saving = announcer.saveLastSeen(SAVED_AT_ONCE);
    },
    saveLastSeen() {
      saving = true;
    },
    announce(addresses) {
      tracker.enterAll();
      announcer.announce(addresses.flatMap((address) => onlineAt(table, address)));
    },
    close() {
      flushing?.();
      tracker.enterAll();
      // Newcomers that still wait for a name, and changes that still wait for more of them, are reported as they are.
      while (announcer.flush(Number.POSITIVE_INFINITY));
      while (announcer.saveLastSeen(SAVED_AT_ONCE));
    },
  };
}
