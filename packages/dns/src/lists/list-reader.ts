import { createAdblockParser } from "./formats/adblock.ts";
import { createDnsmasqParser } from "./formats/dnsmasq.ts";
import { createDomainsParser } from "./formats/domains.ts";
import { createHostsParser } from "./formats/hosts.ts";
import type { EmitRule, LineParser, ListOptions } from "./line-parser.ts";
import { createRpzParser } from "./rpz/rpz.ts";
import { createWildcardParser } from "./formats/wildcard.ts";

/** Formats of lists. */
export type ListFormat = "hosts" | "domains" | "wildcard" | "adblock" | "dnsmasq" | "rpz";

/** A parser of each format. */
export const LIST_PARSERS: Readonly<Record<ListFormat, (options: ListOptions) => LineParser>> = {
  rpz: createRpzParser, dnsmasq: createDnsmasqParser, adblock: createAdblockParser, hosts: createHostsParser, wildcard: createWildcardParser, domains: createDomainsParser,
};

/** A line that was not taken. */
export interface RefusedLine {
  /** From 1. */
  readonly line: number;
  /** At most 80 characters of it. */
  readonly text: string;
  /** What the line is or does, as the end of a sentence. */
  readonly reason: string;
}

/** What was read. */
export interface ListReport {
  readonly lines: number;
  readonly rules: number;
  /** Lines that were not taken. */
  readonly refused: number;
  /** The first of them, at most 100. */
  readonly refusals: readonly RefusedLine[];
}

/** Reads a list piece by piece and holds no more of it than a line. */
export interface ListReader {
  /** @param bytes UTF-8, of any length; a line may begin in one piece and end in another. */
  push(bytes: Uint8Array): void;
  end(): ListReport;
}

/** Longer ones are refused: rules name one host, and files of hosts a few. */
const MAX_LINE_LENGTH = 4096;
const MAX_REFUSALS = 100;
const MAX_TEXT_LENGTH = 80;
/** Bytes that are made text at a time. */
const SLICE_LENGTH = 65_536;

/** @param emit Gets each rule in the order of the lines; its key is good for as long as the call. */
export function createListReader(format: ListFormat, options: ListOptions, emit: EmitRule): ListReader {
  const parser = LIST_PARSERS[format](options);
  const decoder = new TextDecoder();
  const refusals: RefusedLine[] = [];
  const counts = { lines: 0, rules: 0, refused: 0 };
  let rest = "";
  let isTooLong = false;

  const count: EmitRule = (rule) => {
    counts.rules += 1;
    emit(rule);
  };

  function refuse(text: string, reason: string): void {
    counts.refused += 1;
    if (refusals.length < MAX_REFUSALS) refusals.push({ line: counts.lines, text: text.slice(0, MAX_TEXT_LENGTH), reason });
  }

  function take(text: string): void {
    counts.lines += 1;
    if (isTooLong || text.length > MAX_LINE_LENGTH) refuse(text, `has more than ${MAX_LINE_LENGTH} characters`);
    else {
      const line = text.endsWith("\r") ? text.slice(0, -1) : text;
      const reason = parser.line(line, count);
      if (reason !== null) refuse(line, reason);
    }
    isTooLong = false;
  }

  function takeLines(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      take(rest + text.slice(start, end));
      rest = "";
      start = end + 1;
    }
    rest += text.slice(start);
    if (rest.length <= MAX_LINE_LENGTH) return;
    isTooLong = true;
    rest = rest.slice(0, MAX_TEXT_LENGTH);
  }

  return {
    push(bytes) {
      for (let at = 0; at < bytes.length; at += SLICE_LENGTH) takeLines(decoder.decode(bytes.subarray(at, at + SLICE_LENGTH), { stream: true }));
    },
    end() {
      takeLines(decoder.decode());
      if (rest !== "" || isTooLong) take(rest);
      rest = "";
      const reason = parser.end();
      if (reason !== null) refuse("", reason);
      return { ...counts, refusals };
    },
  };
}
