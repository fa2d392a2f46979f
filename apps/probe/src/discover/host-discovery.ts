import type { ProbeConfiguration, ProbeEvent } from "@lanthorn/contract";
import type { Clock, Log } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";

/** What the host discovery needs to know of its own interface; the wiring reads it again at each call. */
export interface InterfaceFacts {
  /** Six lower-case hexadecimal pairs with colons. */
  readonly mac: string;
  /** Up, with a carrier. */
  readonly up: boolean;
  /** Own addresses of both families: IPv4 dotted, IPv6 without a zone. */
  readonly addresses: readonly { readonly address: string; readonly prefixLength: number }[];
}

/** What the probe's own file says; `configure` can only narrow it. */
export interface DiscoverySettings {
  readonly sweep: {
    readonly enabled: boolean;
    /** From the end of the schedule's last sweep begun to the next; a sweep that takes longer delays it. */
    readonly intervalSeconds: number;
    /** Everything that discovery sends, sweeps and checks together. `gentle` is 12. */
    readonly packetsPerSecond: number;
    /** Parts of the own subnets, `10.1.2.0/24`; empty for all of them. A subnet larger than /16 is swept in such parts only. */
    readonly networks: readonly string[];
  };
  /** Addresses and prefixes of both families that nothing is ever sent to. */
  readonly excluded: readonly string[];
  /** Most hosts to hold; the longest offline leave first. */
  readonly maxHosts: number;
}

/** The part of the collector's configuration that concerns discovery. */
export type Narrowing = Pick<ProbeConfiguration, "sweep" | "excluded">;

export interface HostDiscoveryDeps {
  /** The database that holds the outbox: a change of state and its event are one transaction. */
  readonly db: Database;
  /** Called inside a transaction of `db`. A throw rolls the change back; it is tried again a second later. */
  readonly outbox: { append(events: readonly ProbeEvent[]): unknown };
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  /** Null while the interface does not exist. Called every two seconds. */
  readonly interfaceFacts: () => InterfaceFacts | null;
  readonly settings: DiscoverySettings;
  /** Puts a few whole Ethernet frames on the wire now. @returns How many of them, from the first, the kernel took. */
  readonly send: (frames: readonly Uint8Array[]) => number;
  /** Empty for a MAC that no vendor owns. */
  readonly vendorOf: (mac: string) => string;
  /** Names that the site's DNS servers give an address, best first; null where there is no server to ask. A rejection counts as no name. */
  readonly reverseNames: ((address: string) => Promise<readonly string[]>) | null;
}

/** What one sweep did. */
export interface SweepSummary {
  /** `refused` where there was nothing that may be swept; `aborted` when the interface went down or the probe stops. */
  readonly outcome: "completed" | "aborted" | "refused";
  /** Why not everything was swept, in words; empty where everything was. */
  readonly reasons: readonly string[];
  readonly networks: readonly string[];
  readonly addresses: number;
  readonly packetsSent: number;
  /** Addresses that answered while the sweep ran. */
  readonly answered: number;
  readonly newHosts: number;
  readonly durationMs: number;
}

/** Finds the hosts of the interface's own subnets, and keeps whether they are there. */
export interface HostDiscovery {
  /** Frames as captured, own ones among them; nothing of them is kept after the call. */
  onFrames(batch: readonly { readonly bytes: Uint8Array }[]): void;
  /** Begins to watch, and to sweep if that is enabled. */
  start(): void;
  /** A sweep of the same networks; one that is under way is joined. */
  sweepNow(): Promise<SweepSummary>;
  /** Appends presence reports of every host with evidence since the start: for each new connection to the collector. */
  reportAll(): void;
  /** Lays the collector's wishes over the settings. @returns What is wrong with them, in which case nothing changes; else null. */
  configure(narrowing: Narrowing | null): string | null;
  counts(): { readonly online: number; readonly known: number };
  /** Ends a sweep, writes down what is not yet written, and lets go of all timers. */
  close(): Promise<void>;
}
