/** What the process that serves the decoys knows about their own addresses. */
import type { OwnAddressReport } from "@lanthorn/contract/uplink";
import { readOwnAddresses } from "./address-state.ts";

/** The reports as of the last `refresh`. */
export interface AddressWatch {
  refresh(): void;
  /** Why the decoy cannot be reached; null if its address is there. Addresses of the machine always are. */
  problemOf(decoy: string): string | null;
  /** Undefined for an address of the machine, and before the first report. */
  reportOf(decoy: string): OwnAddressReport | undefined;
}

/** @param directory Where the service that takes the addresses writes its reports. */
export function watchAddresses(directory: string, decoys: readonly { readonly name: string; readonly address: string; readonly own: object | null }[]): AddressWatch {
  const own = new Map(decoys.flatMap(({ name, address, own: settings }) => (settings ? [[name, address] as const] : [])));
  let known: ReadonlyMap<string, OwnAddressReport> | null = null;
  const refresh = () => {
    const read = own.size === 0 ? [] : readOwnAddresses(directory);
    known = read && new Map(read.filter(({ decoy, address }) => own.get(decoy) === address).map(({ decoy, report }) => [decoy, report]));
  };
  refresh();
  return {
    refresh, reportOf: (decoy) => known?.get(decoy),
    problemOf(decoy) {
      if (!own.has(decoy)) return null;
      if (known === null) return "the service lanthorn-decoy-addresses, which takes its address, is not running: start it, or read its log";
      const report = known.get(decoy);
      if (!report) return "the service lanthorn-decoy-addresses does not know its address: restart that service";
      return report.problem ?? (report.state === "taken" ? null : "its address is not in use yet: first it is checked that no other device uses it");
    },
  };
}
