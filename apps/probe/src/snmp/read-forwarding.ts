// Which port a switch has heard a MAC at. @see RFC 4188 section 4 (BRIDGE-MIB), RFC 4363 section 5 (Q-BRIDGE-MIB)
import { macOf, numberOf, type ReadColumn } from "./columns.ts";
import type { Binding } from "./session/pdu.ts";

/** An entry of the forwarding table. */
export interface Heard {
  readonly mac: string;
  /** The interface's name. */
  readonly port: string;
  /** Null where the switch does not say, or learns for several in one. */
  readonly vlan: number | null;
}

const BRIDGE = "1.3.6.1.2.1.17";
const PORT = `${BRIDGE}.1.4.1.2`;
/** dot1dTpFdbTable, and dot1qTpFdbTable with the id of the table before the MAC. */
const PLAIN = { port: `${BRIDGE}.4.3.1.2`, status: `${BRIDGE}.4.3.1.3` } as const;
const BY_VLAN = { port: `${BRIDGE}.7.1.2.2.1.2`, status: `${BRIDGE}.7.1.2.2.1.3` } as const;
/** dot1qVlanFdbId of dot1qVlanCurrentTable, by a time and the VLAN. */
const VLAN_TABLE = `${BRIDGE}.7.1.4.2.1.3`;
/** `learned`, of dot1dTpFdbStatus; `self` and what was set by hand is no host that was heard. */
const LEARNED = 3;
/** IEEE 802.1Q: 4095 is reserved. */
const LAST_VLAN = 4094;

/** @param names Of ports, by ifIndex. */
export async function readForwarding(table: ReadColumn, names: ReadonlyMap<number, string>): Promise<readonly Heard[]> {
  const ports = new Map([...(await table(PORT))].map(([port, index]) => [Number(port), names.get(numberOf(index)) ?? ""]));
  const read = async (columns: { readonly port: string; readonly status: string }, macAt: 0 | 1) => {
    const found = await table(columns.port);
    const states = found.size > 0 ? await table(columns.status) : new Map<string, Binding>();
    return [...found].flatMap(([index, value]) => {
      const parts = index.split(".").map(Number);
      const mac = macOfIndex(parts.slice(macAt));
      const port = ports.get(numberOf(value)) ?? "";
      const state = states.get(index);
      const isHeard = mac !== "" && port !== "" && (!state || numberOf(state) === LEARNED);
      return isHeard ? [{ mac, port, fdb: parts[0] ?? 0 }] : [];
    });
  };
  const byFdb = await read(BY_VLAN, 1);
  const vlanOf = byFdb.length > 0 ? await readVlans(table) : () => null;
  // The older table says the same without VLANs; many switches have but one of the two.
  const plain = await read(PLAIN, 0);
  const known = new Set(byFdb.map(({ mac }) => mac));
  return [
    ...byFdb.map(({ mac, port, fdb }) => ({ mac, port, vlan: vlanOf(fdb) })),
    ...plain.filter(({ mac }) => !known.has(mac)).map(({ mac, port }) => ({ mac, port, vlan: null })),
  ];
}

/** @returns The VLAN that a forwarding table's id stands for. An agent that does not say mostly counts its tables by their VLANs. */
async function readVlans(table: ReadColumn): Promise<(fdb: number) => number | null> {
  // All that has changed since time 0 is all there is; else each row comes once for every time that it may be asked for. @see RFC 4502,
  // TimeFilter
  const sinceStart = await table(`${VLAN_TABLE}.0`);
  const rows = sinceStart.size > 0 ? sinceStart : await table(VLAN_TABLE);
  const vlans = new Set<number>();
  const byFdb = new Map<number, Set<number>>();
  for (const [index, value] of rows) {
    const vlan = Number(index.split(".").at(-1));
    const fdb = numberOf(value);
    vlans.add(vlan);
    byFdb.set(fdb, (byFdb.get(fdb) ?? new Set<number>()).add(vlan));
  }
  return (fdb) => {
    const [vlan, ...others] = byFdb.get(fdb) ?? (vlans.size === 0 || vlans.has(fdb) ? [fdb] : []);
    return vlan !== undefined && others.length === 0 && vlan > 0 && vlan <= LAST_VLAN ? vlan : null;
  };
}

function macOfIndex(parts: readonly number[]): string {
  return parts.every((byte) => byte >= 0 && byte < 256) ? macOf(Uint8Array.from(parts)) : "";
}
