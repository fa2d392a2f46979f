/** What the serving process knows of the decoys' own addresses. */
import type { OwnAddressReport } from "@lanthorn/contract/uplink";
import { readOwnAddresses } from "./address-state.ts";

/** Looked at again by `refresh`. */
export interface AddressWatch {
  refresh(): void;
  /** Null for an address that is there, as those of the machine are. */
  problemOf(decoy: string): string | null;
  /** Undefined for an address of the machine, and while nothing is known. */
  reportOf(decoy: string): OwnAddressReport | undefined;
}

/** @param directory Where the process that takes them writes. */
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
      if (known === null) return "nobody takes its address: start the service lanthorn-decoy-addresses, and see its log";
      const report = known.get(decoy);
      if (!report) return "its address is another one than the service lanthorn-decoy-addresses knows: restart that";
      return report.problem ?? (report.state === "taken" ? null : "it is found out whether its address is free");
    },
  };
}
