import type { DnsQueryLevel } from "@lanthorn/contract/uplink";
import type { SiteDevice, SitePolicy, VlanNetwork } from "@lanthorn/dns";

/** What the thread is started with. */
export interface SiteTask {
  /** Where versions lie, and the file there whose first line names the one that counts. */
  readonly directory: string;
  readonly pointer: string;
  /** Only lists of these categories, as `categoryKey` writes them; null for all. */
  readonly categories: readonly string[] | null;
  /** With more rules than that it is a fault; null for as many as a set can hold. */
  readonly maxRules: number | null;
  /** Names that are held already; null for none. */
  readonly knownNames: string | null;
  readonly hashKey: readonly [number, number];
}

/** What the thread says once, at its end. */
export type SiteRead =
  /** The daemon has left nothing. */
  | { readonly kind: "none" }
  | { readonly kind: "fault"; readonly reason: string }
  | {
    readonly kind: "read";
    readonly policy: SitePolicy & {
      readonly site_id: string; readonly devices: readonly SiteDevice[]; readonly vlans?: readonly VlanNetwork[] | undefined; readonly queries?: { readonly level: DnsQueryLevel } | undefined;
    };
    /** By which names are the same as those of another version. */
    readonly names: string;
    /** A whole set; null where the names are those that are held. */
    readonly bytes: Uint8Array | null;
    readonly lists: readonly { readonly name: string; readonly rules: number }[];
  };
