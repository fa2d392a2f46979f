import type { SaidFact } from "./facts.ts";
import type { EvidenceSource } from "./host.ts";
import type { NameSource } from "./names.ts";

/**
 * Takes what frames show of hosts. MACs are keys as `macKey` makes them, of one host and never ours; addresses are views of the frame,
 * possible neighbors only.
 */
export interface Observer {
  /**
   * A host is alive, at this address if there is one.
   * @param evidence.solicited It answered a question that went out from our MAC.
   */
  seen(mac: number, address: Uint8Array | null, evidence: { readonly source: EvidenceSource; readonly solicited: boolean }): void;
  /** A host is about to use an address: it probes it, or asks a DHCP server for it. */
  expectation(mac: number, address: Uint8Array): void;
  /** Somebody names a host, by its MAC or by its address. The text is as it was on the wire. */
  name(host: { readonly mac: number } | { readonly address: Uint8Array }, text: string, source: NameSource): void;
  /** A router asked for the multicast groups that IPv6 nodes listen to. */
  listenerQuery(): void;
  /** Something says what a host is, or shows a key of its. Values are as they were on the wire. */
  facts(host: { readonly mac: number } | { readonly address: Uint8Array }, facts: readonly SaidFact[]): void;
}
