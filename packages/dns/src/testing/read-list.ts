import { type RuleBody, type RuleTrigger, PLAIN_BLOCK } from "../lists/list-rule.ts";
import type { ListOptions } from "../lists/line-parser.ts";
import { createListReader, type ListFormat, type ListReport } from "../lists/list-reader.ts";
import { formatKey } from "../names/name-key.ts";
import { createNameSetBuilder } from "../names/name-set-builder.ts";
import type { ListFacts } from "../names/name-set-file.ts";
import { type NameSet, openNameSet } from "../names/name-set.ts";

/** A rule as tests compare it; `body` is left out where it is the plain block. */
export interface ReadRule {
  readonly trigger?: RuleTrigger;
  readonly name: string;
  readonly scope: string;
  readonly body?: RuleBody;
}

/** Reads a list's lines in pieces of some length. */
export function readList(format: ListFormat, text: string, options: Partial<ListOptions> = {}, pieceLength = 7): ListReport & { readonly read: readonly ReadRule[] } {
  const read: ReadRule[] = [];
  const reader = createListReader(format, { mayRewrite: true, origin: null, ...options }, ({ trigger, key, scope, body }) => {
    read.push({ ...(trigger === "qname" ? {} : { trigger }), name: formatKey(key), scope, ...(body === PLAIN_BLOCK ? {} : { body }) });
  });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += pieceLength) reader.push(bytes.subarray(at, at + pieceLength));
  return { ...reader.end(), read };
}

/** A list for `buildSet`. */
export interface TestList extends Partial<ListFacts> {
  readonly format: ListFormat;
  readonly text: string;
}

/** A set of the lists, with ids `list-0` and so on unless they say otherwise. */
export function buildSet(lists: readonly TestList[], rest: { readonly day?: number; readonly before?: NameSet } = {}): NameSet {
  const facts = lists.map(({ id, name, category, kind, format }, index): ListFacts => ({
    id: id ?? `list-${index}`, name: name ?? `List ${index}`, category: category ?? "advertising", kind: kind ?? (format === "rpz" ? "rpz" : "filter"),
  }));
  const builder = createNameSetBuilder({ lists: facts, hashKey: [1, 2], day: rest.day ?? 20_000, expectedNames: 0, before: rest.before ?? null });
  for (const [index, { format, text }] of lists.entries()) {
    const reader = createListReader(format, { mayRewrite: true, origin: null }, (rule) => builder.add(index, rule));
    reader.push(new TextEncoder().encode(text));
    reader.end();
  }
  return openFile(joinPieces(builder.finish()));
}

/** A file that must be good. */
export function openFile(file: Uint8Array): NameSet {
  const set = openNameSet(file);
  if ("fault" in set) throw new Error(set.fault);
  return set;
}

/** The pieces of a file in one. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const file = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    file.set(piece, at);
    at += piece.length;
  }
  return file;
}
