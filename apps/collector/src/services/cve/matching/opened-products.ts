import { createHash } from "node:crypto";
import {
  type DistributionFix, type FixLookup, indexProduct, openRecord, type OpenRecord, type ProductIndex, type Remedy, remediesOf, type Software,
} from "@lanthorn/vulnerability";
import type { Candidate, CveReader } from "../database/reader.ts";
import { createRecent } from "./recent.ts";

/** A CVE that names a product, parsed. */
export interface OpenedCve extends Pick<Candidate, "id" | "severity" | "score" | "isKev" | "epss"> {
  readonly record: OpenRecord;
  /** What its ranges say to update to; read when first asked. */
  readonly remedies: () => readonly Remedy[];
}

/** What software is judged by. */
export interface OpenedProducts {
  /** The CVEs that name a product, by its `vendor:product`, without such as are known not to concern the software. */
  of(key: string, software: Pick<Software, "names">): Iterable<OpenedCve>;
  /** What a distribution says of the software's package. `basis` is another text when that is another: a SHA-256, empty where it says nothing. */
  fixesOf(software: Pick<Software, "distribution" | "sourcePackage">): { readonly lookup: FixLookup; readonly basis: string };
}

/** A product whose records are kept as they are stored, and opened when they are judged. */
interface KeptProduct {
  readonly candidates: readonly Candidate[];
  readonly index: ProductIndex;
}

/** How much is kept. */
export interface KeepLimits {
  /** Characters of records as they are stored; those of the product that was used last go last. */
  readonly characters: number;
  /** Matches of records that are open, some hundred bytes each; those that were judged last go last. */
  readonly matches: number;
}

type Reader = Pick<CveReader, "candidates" | "fixes">;

const NO_FIXES: ReturnType<OpenedProducts["fixesOf"]> = { lookup: () => null, basis: "" };

/** @param limits Zero for a single piece of software, for which an index does not pay. */
export function createOpenedProducts(reader: Reader, limits: KeepLimits): OpenedProducts {
  const products = createRecent<KeptProduct>(limits.characters);
  const records = createRecent<OpenedCve>(limits.matches);
  const fixes = new Map<string, ReturnType<OpenedProducts["fixesOf"]>>();
  const open = (candidate: Candidate): OpenedCve => {
    const known = records.get(candidate.id);
    if (known) return known;
    const cve = openCve(candidate);
    records.set(candidate.id, cve, 1 + cve.record.statements.reduce((sum, { nodes }) => sum + nodes.reduce((all, node) => all + node.matches.length, 0), 0));
    return cve;
  };
  /** Null for a product that alone is more than what may be kept. */
  const keep = (key: string): KeptProduct | null => {
    const candidates: Candidate[] = [];
    let characters = 0;
    for (const candidate of candidatesOf(reader, key)) {
      characters += candidate.characters;
      if (characters > limits.characters) return null;
      candidates.push(candidate);
    }
    const product = { candidates, index: indexProduct(key, recordsOf(candidates)) };
    products.set(key, product, characters);
    return product;
  };
  return {
    of(key, { names }) {
      const known = products.get(key) ?? keep(key);
      if (known === null) return streamed(candidatesOf(reader, key));
      const places = known.index.concerning(names);
      return streamed(places === null ? known.candidates : places.map((place) => known.candidates[place] as Candidate), open);
    },
    fixesOf({ distribution, sourcePackage }) {
      if (distribution === null || sourcePackage === "") return NO_FIXES;
      const key = JSON.stringify([distribution.name, distribution.release, sourcePackage]);
      const known = fixes.get(key) ?? readFixes(reader, distribution, sourcePackage);
      if (fixes.size >= MAX_FIX_LISTS) fixes.clear();
      fixes.set(key, known);
      return known;
    },
  };
}

/** Opens one after the other, as they are taken. */
function* streamed(candidates: Iterable<Candidate>, open = openCve): Generator<OpenedCve> {
  for (const candidate of candidates) yield open(candidate);
}

function* recordsOf(candidates: readonly Candidate[]): Generator<OpenRecord> {
  for (const { record } of streamed(candidates)) yield record;
}

/** Packages of which a distribution's word is kept. */
const MAX_FIX_LISTS = 256;

function openCve(candidate: Candidate): OpenedCve {
  const { id, severity, score, isKev, epss } = candidate;
  const record = openRecord({ ...candidate, statements: candidate.statements(), isRejected: false });
  let remedies: readonly Remedy[] | null = null;
  return { id, severity, score, isKev, epss, record, remedies: () => (remedies ??= remediesOf(record)) };
}

function* candidatesOf(reader: Pick<Reader, "candidates">, key: string): Generator<Candidate> {
  const [vendor, product] = splitKey(key);
  let after: string | null = null;
  do {
    const page: ReturnType<CveReader["candidates"]> = reader.candidates(vendor, product, { after });
    yield* page.items;
    after = page.next;
  } while (after !== null);
}

/** A vendor has no colon, and a product may have one. */
function splitKey(key: string): readonly [vendor: string, product: string] {
  const at = key.indexOf(":");
  return [key.slice(0, at), key.slice(at + 1)];
}

function readFixes(
  reader: Pick<Reader, "fixes">, distribution: NonNullable<Software["distribution"]>, sourcePackage: string,
): ReturnType<OpenedProducts["fixesOf"]> {
  const fixes = new Map<string, DistributionFix>();
  const hash = createHash("sha256");
  const rows = reader.fixes(distribution.name, sourcePackage);
  const affected = new Set(rows.flatMap(({ id, status }) => (status === "not-affected" ? [] : [id])));
  for (const { id, release, status, fixedVersion } of rows) {
    const isOfAllReleases = !affected.has(id);
    const isOfRelease = distribution.release === "" ? isOfAllReleases : isRelease(release, distribution.release);
    const fix = isOfRelease ? toFix(status, fixedVersion, isOfAllReleases) : null;
    if (fix === null) continue;
    fixes.set(id, fix);
    hash.update(`${id} ${status} ${fixedVersion} ${isOfAllReleases}\n`);
  }
  return { lookup: ({ cveId }) => fixes.get(cveId) ?? null, basis: fixes.size === 0 ? "" : hash.digest("hex") };
}

/** OSV writes `22.04:LTS`. */
function isRelease(known: string, wanted: string): boolean {
  return known === wanted || known.startsWith(`${wanted}:`);
}

function toFix(status: string, fixedVersion: string, isOfAllReleases: boolean): DistributionFix | null {
  if (status === "open") return { kind: "open" };
  if (status === "not-affected") return { kind: "fixed", version: "0", isOfAllReleases };
  return status === "fixed" && fixedVersion !== "" ? { kind: "fixed", version: fixedVersion } : null;
}
