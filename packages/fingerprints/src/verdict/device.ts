import { readAnswer } from "../rules/answers.ts";
import { type Decision, decide, type Reading, type Statement } from "./decide.ts";
import { COMPUTER, readDeviceKind } from "./device-kinds.ts";
import { readSystem } from "./families.ts";
import { witnessOf } from "./sources.ts";
import { readVendor } from "./vendors.ts";

/** What can be concluded of a device. */
export const VERDICT_FIELDS = ["os", "os_version", "device_type", "vendor", "model", "hostname"] as const;
/** One of `VERDICT_FIELDS`. */
export type VerdictField = (typeof VERDICT_FIELDS)[number];

/** One piece of evidence, from wherever it comes. */
export interface DeviceEvidence {
  readonly field: string;
  readonly value: string;
  /** A protocol's name, and what of it behind a colon; see `decide`. */
  readonly source: string;
  /** 0–1. */
  readonly confidence: number;
  /** ISO 8601 in UTC. */
  readonly seen_at: string;
}

/** What is believed of a device: of each field that anything sure enough is known of. */
export type DeviceVerdicts = Readonly<Partial<Record<VerdictField, Omit<Decision, "source">>>>;

/** `printer` and `printer.lab.example` are one machine's. */
function readHostname(value: string): Reading {
  return { keys: [(value.split(".")[0] ?? value).toLowerCase()], spelled: [value] };
}

const READERS: Readonly<Partial<Record<VerdictField, (value: string) => Reading>>> = {
  vendor: readVendor, hostname: readHostname, device_type: readDeviceKind,
};

/** Below this, nothing is concluded. */
const SURE_ENOUGH = 0.5;
/** What was seen that long before the newest evidence may be of a machine's life before it was installed anew; it counts half. */
const OLD_MS = 30 * 86_400_000;

/**
 * Combines evidence into one verdict for each field, as `decide` weighs it.
 *
 * - Of what one source said of a field, the newest counts. So evidence that comes late changes nothing that is newer, whatever its order.
 * - What is thirty days older than the newest evidence of all counts half.
 * - A version belongs to its system: only that of a source which names the very system that was decided for is heard.
 * - A maker is spelled as in the registry of MACs, where that begins with what he calls himself.
 * - What is less sure than 0.5 is no verdict; a device type of `unknown` says nothing, and one of `computer` which of them it is not.
 * - A system that runs on one kind of device counts as one more source for that kind: as sure as the system itself, and only where the
 *   sources of the system say nothing about the kind.
 * @param evidence In any order; fields that are not concluded about are passed over.
 */
export function decideDevice(evidence: readonly DeviceEvidence[]): DeviceVerdicts {
  const newest = evidence.reduce((latest, { seen_at }) => (seen_at > latest ? seen_at : latest), "");
  const oldBefore = newest === "" ? "" : new Date(Date.parse(newest) - OLD_MS).toISOString();
  const heard = latestOfEach(evidence).map((one) => (one.seen_at < oldBefore ? { ...one, confidence: one.confidence / 2 } : one));
  const of = (field: VerdictField) => heard.filter((one) => one.field === field && !(field === "device_type" && one.value === "unknown"));
  const os = decide(of("os"), readSystem);
  const naming = new Set(of("os").filter(({ value }) => value.toLowerCase() === os?.value.toLowerCase()).map(({ source }) => source));
  const verdicts: Partial<Record<VerdictField, Omit<Decision, "source">>> = {};
  for (const field of VERDICT_FIELDS) {
    const said = of(field).filter(({ source }) => field !== "os_version" || naming.has(source));
    const bySystem = field === "device_type" ? kindBySystem(os, said) : [];
    const decision = field === "os" ? os : decide([...said, ...bySystem], READERS[field]);
    if (decision && decision.confidence >= SURE_ENOUGH && decision.value !== COMPUTER) {
      const value = field === "vendor" ? spellInFull(decision.value, of(field)) : decision.value;
      verdicts[field] = { value, confidence: decision.confidence, sources: decision.sources };
    }
  }
  // A version of an unknown system is none.
  if (!verdicts.os) delete verdicts.os_version;
  return verdicts;
}

function kindBySystem(os: Decision | null, said: readonly DeviceEvidence[]): readonly Statement[] {
  const witnesses = new Set(said.map(({ source }) => witnessOf(source)));
  if (!os || os.sources.some((source) => witnesses.has(witnessOf(source)))) return [];
  const claims = readAnswer("system", os.value);
  return claims.map(({ value, confidence }) => ({ value, source: "os", confidence: Math.min(confidence, os.confidence) }));
}

/**
 * A maker as the registry of MACs has him, so that "Brother" after "Brother industries, LTD." is no
 * change; who is called otherwise there, as he says.
 */
function spellInFull(maker: string, said: readonly DeviceEvidence[]): string {
  return said.find(({ value, source }) => source === "oui" && value.toLowerCase().startsWith(maker.toLowerCase()))?.value ?? maker;
}

/** Of each field and source the newest; of what came at once, the surest. */
function latestOfEach(evidence: readonly DeviceEvidence[]): readonly DeviceEvidence[] {
  const latest = new Map<string, DeviceEvidence>();
  for (const one of evidence) {
    const key = `${one.field} ${one.source}`;
    const known = latest.get(key);
    if (!known || isAfter(one, known)) latest.set(key, one);
  }
  return [...latest.values()];
}

function isAfter(one: DeviceEvidence, other: DeviceEvidence): boolean {
  if (one.seen_at !== other.seen_at) return one.seen_at > other.seen_at;
  return one.confidence === other.confidence ? one.value < other.value : one.confidence > other.confidence;
}
