import {
  type Baseline, type Comparison, emptyComparison, factName, factsOfKind, type KnownFact, noteAppeared, noteChanged, noteGone, noteUnlooked,
  type SeenFact,
} from "./result.ts";

/** Kinds of facts that probes report of their network as a whole. */
export const NETWORK_KINDS = ["dhcp_server", "gateway", "dns_server"] as const;
/** One of `NETWORK_KINDS`. */
export type NetworkKind = (typeof NETWORK_KINDS)[number];

/** A server or gateway as the probes of a site report it. */
export interface NetworkFactNow {
  readonly kind: NetworkKind;
  /** Address, with ` vlan N` in a tagged network. */
  readonly key: string;
  readonly macs: readonly string[];
  readonly seenAt: string;
  /** Whether the probes' guards take it, with these MACs, for normal: they have learned it, or a person has allowed it. */
  readonly isKnown: boolean;
  /** Whether an alert says that it is not to be trusted: it is not learned. */
  readonly isRogue: boolean;
}

/** Since when a probe looks for facts of a kind, and until when it has. */
export interface NetworkLook {
  readonly kind: NetworkKind;
  readonly since: string;
  readonly lookedAt: string;
}

/** What the probes of a site report of its network. */
export interface NetworkNow {
  readonly facts: readonly NetworkFactNow[];
  readonly looks: readonly NetworkLook[];
}

/** A DHCP server shows itself when a lease is renewed, which is half of a day for usual leases of a day. */
const GONE_AFTER_MS = 86_400_000;
/** What a fact may be long. */
const MAX_MACS = 14;

/**
 * Compares the DHCP servers, gateways and DNS servers of a site.
 * @param when.activeSince When the site's baseline was learned: kinds for which nobody had looked by then are new to us.
 * @param when.now Milliseconds since the epoch.
 */
export function compareNetwork(
  { facts, looks }: NetworkNow, baseline: Baseline, { activeSince, now }: { readonly activeSince: string; readonly now: number },
): Comparison {
  const to = emptyComparison();
  const { mode } = baseline;
  for (const kind of NETWORK_KINDS) {
    const known = factsOfKind(baseline, kind);
    const ofKind = looks.filter((look) => look.kind === kind);
    const isNew = known.length === 0 && !ofKind.some(({ since }) => since <= activeSince);
    const here = facts.filter((one) => one.kind === kind);
    for (const one of here) {
      if (isLong(ofKind, one.seenAt)) continue;
      const seen: SeenFact = {
        kind, key: one.key, value: one.macs.toSorted().slice(0, MAX_MACS).join(", "), lookedAt: one.seenAt, scope: "probe",
      };
      const fact = baseline.facts.get(factName(seen));
      // One of which an alert is open is neither learned nor taken for the known one.
      const isNormal = one.isKnown && !one.isRogue && mode !== "frozen";
      if (fact && isNormal) to.learned.push(seen);
      else if (fact) compareMacs(to, one.isRogue && mode === "learning" ? "active" : mode, fact, seen);
      // What a known server hands out anew is known to the guards as well, and is still another gateway or DNS server.
      else if ((isNew && mode !== "frozen" && !one.isRogue) || (isNormal && kind === "dhcp_server")) to.learned.push(seen);
      else if (!one.isRogue || mode !== "learning") noteAppeared(to, mode, seen);
    }
    for (const fact of known) {
      const last = here.find(({ key }) => key === fact.key);
      if (last && !isLong(ofKind, last.seenAt)) continue;
      if (isLong(ofKind, lastSeen(fact, last))) {
        noteGone(to, mode, fact, { observed: "", observedAt: ofKind.map(({ lookedAt }) => lookedAt).toSorted()[0] ?? null });
      } else noteUnlooked(to, mode, fact, now);
    }
  }
  return to;
}

function compareMacs(to: Comparison, mode: Baseline["mode"], fact: KnownFact, seen: SeenFact): void {
  const [before, after] = [fact.value, seen.value].map((text) => text.split(", ").filter(Boolean));
  const isKnown = (mac: string) => before?.includes(mac) ?? false;
  if (!after || after.every(isKnown)) to.learned.push({ ...seen, value: fact.value });
  // Behind a router nobody sees its MAC; the first one seen is no other machine.
  else if (before?.length === 0) to.learned.push(seen);
  else noteChanged(to, mode, fact, { seen, outcome: after.some(isKnown) ? "changed" : "replaced" });
}

/** Whether all who look have done so for long since then: one that looks no more may be the only one that could see it. */
function isLong(looks: readonly NetworkLook[], seenAt: string): boolean {
  return looks.length > 0 && looks.every(({ since, lookedAt }) => Date.parse(lookedAt) - Date.parse(since > seenAt ? since : seenAt) > GONE_AFTER_MS);
}

function lastSeen({ lookedAt, firstSeen }: KnownFact, last: NetworkFactNow | undefined): string {
  return last?.seenAt ?? lookedAt ?? firstSeen ?? "";
}
