import {
  type Baseline, type Comparison, emptyComparison, factName, factsOfKind, type KnownFact, NOT_CHECKED_MS, noteAppeared, noteChanged, noteGone,
  noteUnlooked, type SeenFact,
} from "./result.ts";
import { compareService, serviceText } from "./service-text.ts";

/** A port of a device as it was seen last. */
export interface PortNow {
  readonly protocol: string;
  readonly port: number;
  /** nmap's word. */
  readonly state: string;
  /** Empty while it is not identified. */
  readonly service: string;
  readonly version: string;
  /** As `ssh-keygen -l` shows it, after its type; null where none was seen. */
  readonly hostKey: string | null;
  readonly seenAt: string;
}

/** A scan's look at a device: what it asked. */
export interface Look {
  readonly scopeId: string;
  readonly lookedAt: string;
  readonly covers: (protocol: string, port: number) => boolean;
  /** What looked, for people. */
  readonly scope: string;
}

/** What is seen of a device's ports. After a look, ports that it covers and that are not open have no row, or one that is not open. */
export interface PortsNow {
  readonly ports: readonly PortNow[];
  readonly looks: readonly Look[];
}

/** What looked where no scan of a known list of ports did. */
const PASSIVE = "probe";

/**
 * Compares ports, their services and SSH host keys. Only what both sides looked at is compared: an open port which no list of ports of the
 * baseline's time covers is new to us, and not to the device.
 * @param now Milliseconds since the epoch.
 */
export function comparePorts({ ports, looks }: PortsNow, baseline: Baseline, now: number): Comparison {
  const to = emptyComparison();
  const { mode, facts, scopes } = baseline;
  const known = looks.filter(({ scopeId }) => scopes.has(scopeId));
  const rows = new Map(ports.map((row) => [portKey(row), row]));
  for (const row of ports) {
    if (row.state !== "open") continue;
    const { lookedAt, scope } = lastLook(row, looks);
    const seen: SeenFact = { kind: "port", key: portKey(row), value: "open", lookedAt, scope };
    const fact = facts.get(factName(seen));
    if (fact) {
      if (isLong(lookedAt, now)) noteUnlooked(to, mode, { ...fact, lookedAt }, now);
      else to.learned.push(seen);
      compareWhatIsThere(to, row, baseline, { scope, now });
    } else if (mode === "frozen" || known.some((look) => look.covers(row.protocol, row.port))) {
      noteAppeared(to, mode, { ...seen, value: openText(row) });
    } else {
      to.learned.push(seen);
      compareWhatIsThere(to, row, baseline, { scope, now });
    }
  }
  for (const fact of factsOfKind(baseline, "port")) {
    const row = rows.get(fact.key);
    if (row?.state !== "open") compareClosed(to, fact, { row, looks, baseline, now });
  }
  return to;
}

/** A port's service and host key, where the port itself is as it should be. */
function compareWhatIsThere(to: Comparison, row: PortNow, { mode, facts }: Baseline, { scope, now }: { readonly scope: string; readonly now: number }): void {
  const key = portKey(row);
  for (const [kind, value] of [["service", serviceText(row)], ["host_key", row.hostKey ?? ""]] as const) {
    const fact = facts.get(factName({ kind, key }));
    const seen: SeenFact = { kind, key, value, lookedAt: row.seenAt, scope };
    if (value === "") {
      // It was not identified, which is no word on what is there.
      if (fact) noteUnlooked(to, mode, fact, now);
    } else if (!fact) {
      if (mode !== "frozen") to.learned.push(seen);
    } else {
      const change = kind === "service" ? compareService(fact.value, value) : fact.value === value ? "same" : "changed";
      if (change === "changed" || change === "replaced") noteChanged(to, mode, fact, { seen, outcome: change });
      else to.learned.push(change === "finer" && mode !== "frozen" ? seen : { ...seen, value: fact.value });
    }
  }
}

function compareClosed(to: Comparison, fact: KnownFact, { row, looks, baseline: { mode, facts }, now }: {
  readonly row: PortNow | undefined; readonly looks: readonly Look[]; readonly baseline: Baseline; readonly now: number;
}): void {
  const [protocol = "", port = ""] = fact.key.split("/");
  const observedAt = row && (row.state === "closed" || row.state === "filtered") ? row.seenAt
    // Silence of a UDP port says nothing; a TCP port that was asked and has no row is not open.
    : row === undefined && protocol === "tcp" ? (latest(looks.filter((look) => look.covers(protocol, Number(port))))?.lookedAt ?? null) : null;
  if (observedAt === null || (row === undefined && observedAt <= (fact.lookedAt ?? ""))) noteUnlooked(to, mode, fact, now);
  else {
    noteGone(to, mode, fact, { observed: row?.state === "filtered" ? "filtered" : "", observedAt });
    if (mode !== "learning") return;
    for (const kind of ["service", "host_key"] as const) {
      const hanging = facts.get(factName({ kind, key: fact.key }));
      if (hanging?.isLearned) to.forgotten.push(hanging);
    }
  }
}

/** What the difference shows of a port that is new. */
function openText(row: PortNow): string {
  const text = serviceText(row);
  return text === "" ? "open" : `open: ${text}`;
}

function lastLook({ protocol, port, seenAt }: PortNow, looks: readonly Look[]): Pick<SeenFact, "lookedAt" | "scope"> {
  // Silence of a UDP port in a later look says nothing.
  const look = latest(looks.filter(({ lookedAt, covers }) => covers(protocol, port) && (protocol === "tcp" || lookedAt <= seenAt)));
  if (!look) return { lookedAt: seenAt, scope: PASSIVE };
  return { lookedAt: look.lookedAt > seenAt ? look.lookedAt : seenAt, scope: look.scope };
}

function latest(looks: readonly Look[]): Look | undefined {
  return looks.reduce<Look | undefined>((a, b) => (a && a.lookedAt >= b.lookedAt ? a : b), undefined);
}

function isLong(lookedAt: string, now: number): boolean {
  return now - Date.parse(lookedAt) > NOT_CHECKED_MS;
}

function portKey({ protocol, port }: PortNow): string {
  return `${protocol}/${port}`;
}
