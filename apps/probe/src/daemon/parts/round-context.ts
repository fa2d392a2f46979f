import type { VendorLookup } from "@lanthorn/fingerprints";
import type { Clock, Lifecycle, Log } from "@lanthorn/runtime";
import type { Configuration } from "../../configuration.ts";
import type { Identity } from "../../identity/identity.ts";
import type { FindProgram } from "../../nmap/find-program.ts";
import type { Entry } from "../../queue/entry.ts";

/** What stays the same however often the database has to be replaced. */
export interface DaemonDeps {
  readonly configuration: Configuration;
  readonly identity: Identity;
  /** A capture file instead of the interface. */
  readonly replay: { readonly path: string; readonly exitWhenDrained: boolean } | null;
  readonly version: string;
  readonly vendorOf: VendorLookup["vendorOf"];
  /** Programs of the machine's own: nmap. */
  readonly findProgram: FindProgram;
  /** Program and arguments of this program's traffic process. */
  readonly trafficCommand: readonly string[];
  /** Gets a new certificate and keeps it with the identity. */
  readonly renewCertificate: () => Promise<void>;
  /** Verifies a bundle that was fetched, tries it, and puts it in its place. */
  readonly installBundle: (name: string, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** How a round ended: for good, or because the database has to be replaced. */
export type RoundEnd =
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "corrupt"; readonly reason: string };

/** What a round leaves to the next one when its database could not be used any more. */
export interface Inheritance {
  readonly reason: string;
  /** Events that it could not write. */
  readonly carry: readonly Entry[];
}

/** What each part of a round is opened with. */
export interface RoundContext extends Omit<DaemonDeps, "identity"> {
  /** As it is now: a certificate is renewed while the round runs. */
  readonly identity: () => Identity;
  /** Closes what was opened, the last first. */
  readonly lifecycle: Lifecycle;
  /** Ends the round. */
  readonly finish: (end: RoundEnd) => void;
}
