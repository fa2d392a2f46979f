import { capOf, witnessOf } from "./sources.ts";

/** A value that somebody says a field has. */
export interface Statement {
  readonly value: string;
  /** What said it, as `ssh`, `http-server`, `dhcp`, `mdns:_ipp._tcp`. */
  readonly source: string;
  /** 0–1. */
  readonly confidence: number;
}

/** What is believed of a field after everything was heard. */
export interface Decision extends Statement {
  /** Everything that agrees, the strongest first; `source` is the first of it. */
  readonly sources: readonly string[];
}

/** A value as it is compared: itself first, then what it is a kind of, to the most general. */
export interface Reading {
  /** Equal for values that mean the same. */
  readonly keys: readonly string[];
  /** As they are shown. */
  readonly spelled: readonly string[];
}

const readPlain = (value: string): Reading => ({ keys: [value.toLowerCase()], spelled: [value] });

/** No evidence is proof. */
const MOST = 0.99;
/** What contradicts leaves so much doubt, by its weight beside the winner's. */
const DOUBT = 0.5;
/** A more special value is taken for a general one where it is at least this sure. */
const SPECIAL_ENOUGH = 0.5;

/**
 * Weighs what is said of one field.
 *
 * - A statement weighs what it claims, but never more than its source's cap.
 * - Independent witnesses who agree strengthen each other (noisy-or: the doubt that is left is the product of their doubts). Parts of one
 *   source are one witness, and count by their strongest.
 * - A special value supports the general ones that it is a kind of, and they support it by half their weight; so general and special do
 *   not contradict each other. Of the general that is surest, the special is taken that is sure enough.
 * - What contradicts, by its strongest rival, takes its share away: own / (own + rival / 2).
 *
 * It depends on what is said and not on the order in which it was heard.
 * @param read How values are compared; letter case alone does not matter unless it says otherwise.
 * @returns Null where nothing is said.
 */
export function decide(statements: readonly Statement[], read: (value: string) => Reading = readPlain): Decision | null {
  const heard = statements.filter(({ value, confidence }) => value.trim() !== "" && confidence > 0).map((said): Heard => {
    const { keys, spelled } = read(said.value.trim());
    return { ...said, spelled, lineage: keys, weight: Math.min(said.confidence, capOf(said.source)) };
  });
  const candidates = createCandidates(heard);
  for (const candidate of candidates) {
    const rival = Math.max(0, ...candidates.filter((other) => !isKin(candidate, other)).map(({ support }) => support));
    candidate.confidence = rival === 0 ? candidate.support : (candidate.support * candidate.support) / (candidate.support + rival * DOUBT);
  }
  let best = surest(candidates.filter(({ lineage }) => lineage.length === 1));
  while (best) {
    const general: Candidate = best;
    const special = surest(candidates.filter((one) => isKindOf(one, general)));
    if (!special || special.confidence < SPECIAL_ENOUGH) break;
    best = special;
  }
  return best ? describe(best) : null;
}

interface Heard extends Statement {
  /** What is said and what it is a kind of: see `Reading`. */
  readonly spelled: readonly string[];
  readonly lineage: readonly string[];
  readonly weight: number;
}

interface Candidate {
  readonly name: string;
  readonly lineage: readonly string[];
  /** By witness, the strongest of each; not those that say something more general. */
  readonly witnesses: readonly Heard[];
  readonly support: number;
  confidence: number;
}

/** What was said, and everything that it is a kind of. */
function createCandidates(heard: readonly Heard[]): readonly Candidate[] {
  const byName = new Map<string, Candidate>();
  for (const { spelled, lineage } of heard) {
    for (const [index, name] of lineage.entries()) {
      if (!byName.has(name)) byName.set(name, createCandidate(spelled[index] as string, lineage.slice(index), heard));
    }
  }
  return [...byName.values()];
}

function createCandidate(name: string, lineage: readonly string[], heard: readonly Heard[]): Candidate {
  const [own = ""] = lineage;
  const agreeing = strongestOfEach(heard.filter((one) => one.lineage.includes(own)));
  const voices = new Set(agreeing.map(({ source }) => witnessOf(source)));
  const isMoreGeneral = (one: Heard) => one.lineage[0] !== own && lineage.includes(one.lineage[0] as string);
  const general = strongestOfEach(heard.filter((one) => isMoreGeneral(one) && !voices.has(witnessOf(one.source))));
  const doubt = [...agreeing.map(({ weight }) => weight), ...general.map(({ weight }) => weight / 2)].reduce(
    (product, weight) => product * (1 - weight), 1,
  );
  const support = Math.min(MOST, 1 - doubt);
  return { name, lineage, witnesses: agreeing, support, confidence: support };
}

function strongestOfEach(heard: readonly Heard[]): readonly Heard[] {
  const byWitness = new Map<string, Heard>();
  for (const one of heard) {
    const known = byWitness.get(witnessOf(one.source));
    if (!known || compareHeard(one, known) < 0) byWitness.set(witnessOf(one.source), one);
  }
  return [...byWitness.values()].toSorted(compareHeard);
}

/** The stronger first; where they are equal, an order that does not depend on when they were heard. */
function compareHeard(a: Heard, b: Heard): number {
  return b.weight - a.weight || compareText(a.source, b.source) || compareText(a.value, b.value);
}

function surest(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.toSorted((a, b) => b.confidence - a.confidence || compareText(a.lineage[0] ?? "", b.lineage[0] ?? ""))[0];
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isKindOf(special: Candidate, general: Candidate): boolean {
  return special.lineage.indexOf(general.lineage[0] as string) > 0;
}

function isKin(a: Candidate, b: Candidate): boolean {
  return a === b || isKindOf(a, b) || isKindOf(b, a);
}

function describe({ name, lineage, witnesses, confidence }: Candidate): Decision {
  // Who says the value itself spells it, before who says something more special.
  const own = witnesses.find((one) => one.lineage[0] === lineage[0]);
  const sources = [...(own ? [own] : []), ...witnesses.filter((one) => one !== own)].map(({ source }) => source);
  return { value: own?.value.trim() ?? name, source: sources[0] ?? "", confidence: Math.round(confidence * 100) / 100, sources };
}
