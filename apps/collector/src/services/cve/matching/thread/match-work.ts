import { keysOfRecord, openRecord, type Remedy } from "@lanthorn/vulnerability";
import { cveKey } from "../../database/rows/cve-key.ts";
import type { CveReader, StoredCve } from "../../database/reader.ts";
import { readEvidence } from "../evidence.ts";
import { judgeProducts, type SoftwareMatch } from "../match-software.ts";
import { createOpenedProducts, type OpenedProducts } from "../opened-products.ts";
import type { MatchedCveRow } from "../store/match-rows.ts";
import type { CveVersion, FreshJudgment, MatchTaskName, MatchTasks } from "./match-tasks.ts";

/** Does what the thread is asked. @param part Takes some judgments of the question. */
export type MatchWork = <N extends MatchTaskName>(name: N, input: MatchTasks[N]["input"], part: (judgments: readonly FreshJudgment[]) => void) => MatchTasks[N]["output"];

/** A network of some dozens of products needs a third of the characters. Open matches take up to a kilobyte each. */
const KEPT = { characters: 32_000_000, matches: 100_000 } as const;
/** Judgments a message: the loop takes one in a millisecond or two. */
const PART = 100;
/** More of them than this are as good as all. */
const MAX_CHANGED = 50_000;
const MAX_LINKS = 20;
const MAX_DESCRIPTION = 4096;
const MAX_TECHNIQUES = 50;
/** As `risk` of the CVE database orders: known exploitation, then EPSS, then CVSS. */
const [RISK_OF_KEV, RISK_OF_EPSS, EPSS_STEPS, CVSS_STEPS] = [1_000_000_000, 1000, 100_000, 10];

/** @param reader Of the CVE database; it goes over to the next generation by itself. */
export function createMatchWork(reader: CveReader): MatchWork {
  let opened: { readonly version: CveVersion; readonly products: OpenedProducts; readonly changes: Map<string, Changes> } | null = null;
  const current = () => {
    const facts = reader.facts();
    if (facts === null) return null;
    const { lineage, generation } = facts;
    if (opened?.version.lineage !== lineage || opened.version.generation !== generation) {
      opened = { version: { lineage, generation }, products: createOpenedProducts(reader, KEPT), changes: new Map() };
    }
    return opened;
  };
  const changesSince = (since: CveVersion): Changes | null => {
    const now = current();
    if (now === null) return null;
    const key = `${since.lineage} ${since.generation}`;
    const known = now.changes.get(key) ?? readChanges(reader, since, now.version);
    now.changes.set(key, known);
    return known;
  };
  const work: { readonly [N in MatchTaskName]: (input: MatchTasks[N]["input"], part: (judgments: readonly FreshJudgment[]) => void) => MatchTasks[N]["output"] } = {
    version: () => current()?.version ?? null,
    judge({ evidence }, part) {
      const now = current();
      if (now === null) return null;
      const software = readEvidence(evidence);
      const found = software === null ? [] : judgeProducts(now.products, software).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      for (let at = 0; at < found.length; at += PART) part(found.slice(at, at + PART).map(toJudgment));
      // One that was judged by two generations is judged again with the next look.
      const { basis } = software === null ? { basis: "" } : now.products.fixesOf(software);
      return { ...now.version, basis, product: software?.keys[0] ?? "" };
    },
    concerned({ software, ...since }) {
      const changes = changesSince(since);
      const now = current();
      if (changes === null || now === null) return null;
      const isConcerned = ({ evidence, basis }: (typeof software)[number]) => {
        const read = changes.products === null ? null : readEvidence(evidence);
        return changes.products === null || (read !== null && (read.keys.some((key) => changes.products?.has(key)) || now.products.fixesOf(read).basis !== basis));
      };
      return { ...now.version, ids: software.filter(isConcerned).map(({ id }) => id) };
    },
    changed(since) {
      const changes = changesSince(since);
      return changes && { ids: changes.ids };
    },
    facts: ({ ids }) => (current() === null ? null : ids.flatMap((id) => {
      const stored = reader.record(id);
      return stored === null ? [] : [toMatchedCve(stored)];
    })),
  };
  return (name, input, part) => work[name](input, part);
}

/** Null where all may have changed. */
interface Changes {
  readonly ids: readonly string[] | null;
  readonly products: ReadonlySet<string> | null;
}

function readChanges(reader: Pick<CveReader, "changedSince" | "record">, since: CveVersion, now: CveVersion): Changes {
  if (since.lineage !== now.lineage || since.lineage === "" || since.generation > now.generation) return { ids: null, products: null };
  const ids: string[] = [];
  const products = new Set<string>();
  let after: string | null = null;
  do {
    const page: ReturnType<CveReader["changedSince"]> = reader.changedSince(since.generation, { after });
    for (const id of page.items) {
      ids.push(id);
      const record = reader.record(id);
      if (record) for (const key of keysOfRecord(openRecord({ ...record, source: "nvd" }))) products.add(key);
    }
    if (ids.length > MAX_CHANGED) return { ids: null, products: null };
    after = page.next;
  } while (after !== null);
  return { ids, products };
}

function toJudgment({ id, cpe, range, confidence, status, isCounted, reasons, remedies }: SoftwareMatch): FreshJudgment {
  return {
    cve_id: id, cpe, version_range: range, confidence, status, is_counted: Number(isCounted), reasons: JSON.stringify(reasons),
    remedies: toText(remedies),
  };
}

/** Most software of a product is given the same ones of a record. */
const texts = new WeakMap<readonly Remedy[], string>();

function toText(remedies: readonly Remedy[]): string {
  let text = texts.get(remedies);
  if (text === undefined) {
    text = JSON.stringify(remedies.map(({ product, fixed, lastAffected }) => ({ product, fixed, last_affected: lastAffected })));
    texts.set(remedies, text);
  }
  return text;
}

function toMatchedCve({ id, description, metrics: [best], published, kev, epss, references, techniques }: StoredCve): MatchedCveRow {
  const isKev = kev !== null;
  const score = best?.score ?? null;
  return {
    cve_id: id, description: description.slice(0, MAX_DESCRIPTION), severity: best?.severity ?? null, score, published, is_kev: Number(isKev), epss: epss?.score ?? null,
    risk: Number(isKev) * RISK_OF_KEV + Math.round((epss?.score ?? 0) * EPSS_STEPS) * RISK_OF_EPSS + Math.round((score ?? 0) * CVSS_STEPS),
    number: cveKey(id) ?? 0,
    links: JSON.stringify(references.slice(0, MAX_LINKS).map(({ url }) => url)),
    techniques: JSON.stringify(techniques.slice(0, MAX_TECHNIQUES).map((one) => one.id)),
  };
}
