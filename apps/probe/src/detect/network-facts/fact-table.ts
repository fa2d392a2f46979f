import { MAX_FACT_MACS, MAX_NETWORK_FACTS, NETWORK_FACT_KINDS, type NetworkFact, type NetworkFactKind } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";
import type { LearnedRow } from "../guard.ts";

/** One thing that was heard: by its name, with the MAC that it was heard from or "". */
export interface Heard {
  readonly what: NetworkFactKind;
  readonly name: string;
  readonly mac: string;
  readonly vlanId: number | null;
}

/** What facts are read with. */
export interface Reading {
  /** What the guards take for normal. */
  readonly learned: readonly LearnedRow[];
  /** Gateways of the probe's own interface. */
  readonly ownGateways: readonly string[];
  /** What a monotonic time is behind wall milliseconds. */
  readonly wallOffset: number;
}

/** What was heard on the link, and when. */
export interface FactTable {
  note(heard: Heard, now: number): void;
  /** Of a kind; one of several VLANs more than once. */
  names(what: NetworkFactKind): readonly string[];
  read(now: number, by: Reading): readonly NetworkFact[];
}

interface Row {
  readonly heard: Heard;
  readonly firstAt: number;
  at: number;
  readonly macs: Map<string, number>;
}

/** As many of each kind, so that a flood of one takes no room of another. */
const MAX_OF_KIND = Math.floor(MAX_NETWORK_FACTS / NETWORK_FACT_KINDS.length);
/** A lease is renewed after half its time, often 12 hours. */
const KEEP_MS = 24 * 3_600_000;
/** Of one that was replaced, the MAC before is not its own any more after this. */
const MAC_MS = 3_600_000;
/** The forged senders of a flood are heard once; they make room after this. */
const ONCE_MS = 60_000;

/** Times are monotonic milliseconds. */
export function createFactTable(): FactTable {
  const kinds = new Map<NetworkFactKind, Map<string, Row>>(NETWORK_FACT_KINDS.map((kind) => [kind, new Map()]));
  const rowsOf = (kind: NetworkFactKind) => kinds.get(kind) as Map<string, Row>;
  const isOver = ({ at, firstAt }: Row, now: number) => now - at > KEEP_MS || (firstAt === at && now - at > ONCE_MS);
  /** Room is made only where none is left: else one that was heard once stays for a day. */
  function makeRoom(rows: Map<string, Row>, now: number): boolean {
    if (rows.size < MAX_OF_KIND) return true;
    for (const [key, row] of rows) if (isOver(row, now)) rows.delete(key);
    return rows.size < MAX_OF_KIND;
  }
  return {
    note(heard, now) {
      const { what, name, mac, vlanId } = heard;
      const rows = rowsOf(what);
      const key = `${name} ${vlanId ?? ""}`;
      let row = rows.get(key);
      if (!row) {
        if (!makeRoom(rows, now)) return;
        row = { heard, firstAt: now, at: now, macs: new Map() };
        rows.set(key, row);
      }
      row.at = now;
      if (mac === "") return;
      const [oldest] = row.macs.keys();
      if (row.macs.size >= MAX_FACT_MACS && !row.macs.has(mac) && oldest !== undefined) row.macs.delete(oldest);
      // Those heard last are at the end.
      row.macs.delete(mac);
      row.macs.set(mac, now);
    },
    names: (what) => [...rowsOf(what).values()].map(({ heard }) => heard.name),
    read(now, by) {
      const { wallOffset } = by;
      const normal = normalOf(by);
      return [...kinds.values()].flatMap((rows) => [...rows.values()]).filter(({ at }) => now - at <= KEEP_MS)
        .map(({ heard: { what, name, vlanId }, at, macs }): NetworkFact => {
          const recent = [...macs].filter(([, seenAt]) => at - seenAt <= MAC_MS).map(([mac]) => mac).toSorted();
          return { what, name, macs: recent, vlan_id: vlanId, seen_at: toInstant(at + wallOffset), known: isNormal(normal, { what, name, macs: recent }) };
        });
    },
  };
}

/** MACs of what is normal, by kind and name; none where any will do. */
type Normal = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Servers are known with their MACs; of what they hand out the addresses. A gateway is normal where a known server hands it out or the
 * probe uses it: the guard of addresses knows those of forged offers too, and is only asked for MACs.
 */
function normalOf({ learned, ownGateways }: Reading): Normal {
  const normal = new Map<string, Set<string>>();
  const add = (key: string, macs: readonly string[]) => void normal.set(key, new Set([...(normal.get(key) ?? []), ...macs]));
  for (const name of ownGateways) add(`gateway ${name}`, []);
  for (const { what, name, macs, facts } of learned) {
    if (what !== "gateway") add(`${what} ${name}`, macs);
    for (const address of (facts["gateway"] ?? "").split(" ")) add(`gateway ${address}`, []);
    for (const address of (facts["dns"] ?? "").split(" ")) add(`dns_server ${address}`, []);
  }
  for (const { what, name, macs } of learned) if (what === "gateway" && normal.has(`gateway ${name}`)) add(`gateway ${name}`, macs);
  return normal;
}

function isNormal(normal: Normal, { what, name, macs }: Pick<NetworkFact, "what" | "name" | "macs">): boolean {
  const known = normal.get(`${what} ${name}`);
  if (known === undefined) return false;
  return known.size === 0 || macs.every((mac) => known.has(mac));
}
