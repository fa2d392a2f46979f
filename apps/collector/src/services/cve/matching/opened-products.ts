import { createHash } from "node:crypto";
import {
  type DistributionFix, type FixLookup, indexProduct, openRecord, type OpenRecord, type ProductIndex, type Remedy, remediesOf, type Software,
} from "@lanthorn/vulnerability";
import type { Candidate, CveReader } from "../database/reader.ts";

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

/** A product that is open. */
interface KeptProduct {
  readonly cves: readonly OpenedCve[];
  readonly matches: number;
  /** Made when a second piece of software is judged: a whole pass over a product costs less. */
  readonly index: () => ProductIndex;
}

type Reader = Pick<CveReader, "candidates" | "fixes">;

const NO_FIXES: ReturnType<OpenedProducts["fixesOf"]> = { lookup: () => null, basis: "" };

/** @param maxMatches How many matches of records are kept parsed, some hundred bytes each; those of the product that was used last go last. */
export function createOpenedProducts(reader: Reader, maxMatches: number): OpenedProducts {
  const kept = new Map<string, KeptProduct>();
  const fixes = new Map<string, ReturnType<OpenedProducts["fixesOf"]>>();
  let matches = 0;
  const keep = (key: string, cves: readonly OpenedCve[], size: number) => {
    let index: ProductIndex | null = null;
    kept.set(key, { cves, matches: size, index: () => (index ??= indexProduct(key, cves.map(({ record }) => record))) });
    matches += size;
    for (const [oldest, { matches: its }] of kept) {
      if (matches <= maxMatches) break;
      kept.delete(oldest);
      matches -= its;
    }
  };
  function* open(key: string): Generator<OpenedCve> {
    const cves: OpenedCve[] = [];
    let size = 0;
    for (const candidate of candidatesOf(reader, key)) {
      const cve = openCve(candidate);
      // A product that alone is more than what may be kept is opened each time.
      size += 1 + cve.record.statements.reduce((sum, { nodes }) => sum + nodes.reduce((all, node) => all + node.matches.length, 0), 0);
      if (size <= maxMatches) cves.push(cve);
      yield cve;
    }
    if (size <= maxMatches) keep(key, cves, size);
  }
  return {
    of(key, { names }) {
      const known = kept.get(key);
      if (!known) return open(key);
      kept.delete(key);
      kept.set(key, known);
      const places = known.index().concerning(names);
      return places === null ? known.cves : places.map((place) => known.cves[place] as OpenedCve);
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

/** Packages of which a distribution's word is kept. */
const MAX_FIX_LISTS = 256;

function openCve(candidate: Candidate): OpenedCve {
  const { id, severity, score, isKev, epss } = candidate;
  const record = openRecord({ ...candidate, isRejected: false });
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
