import { createFeedReader, type FeedKind, type FeedSummary, RECOGNIZE_BYTES, recognizeFeed } from "@lanthorn/vulnerability";
import type { CveFeed, FeedFormat } from "../import-types.ts";
import { type FeedSinks, forgetBefore, sourceOf, takeEntry } from "./feed-entries.ts";

/** Reads the unpacked bytes of one file of a feed into the database. */
export interface FileReader {
  push(chunk: Uint8Array): void;
  /** @returns Why the file is none of this feed's, or not all of it; null where it is whole. */
  end(): string | null;
}

/** The kinds of files that each format comes in. */
const KINDS: Readonly<Record<FeedFormat, readonly FeedKind[]>> = {
  nvd: ["nvd-page", "nvd-lines", "nvd-records"],
  "cve-list": ["cve-list", "cve-list-array"],
  kev: ["kev"],
  epss: ["epss"],
  "capec-stix": ["capec-stix", "capec-xml", "attack-patterns"],
  "cwe-xml": ["cwe-xml"],
  "attack-stix": ["attack-stix", "techniques"],
  "ctid-mappings": ["technique-mappings"],
  "ctid-csv": ["technique-mappings-csv"],
  "debian-tracker": ["debian"],
  osv: ["osv", "osv-array"],
};

/** How a file of a feed is read. */
export interface FileReading {
  /** Its `format` is null where the file may be any. */
  readonly feed: Pick<CveFeed, "format" | "isWhole">;
  readonly sinks: FeedSinks;
  /** Called with what the file is, before its entries are taken. */
  readonly onKind: (kind: FeedKind) => void;
  /** Whether the file is one of an archive's. A single advisory that is not only adds to what is there. */
  readonly isOfArchive?: boolean;
}

/** What a file is, is seen by how it begins. */
export function createFileReader({ feed, sinks, onKind, isOfArchive }: FileReading): FileReader {
  let reader: ReturnType<typeof createFeedReader> | null = null;
  let fault: string | null = null;
  let head: Uint8Array = new Uint8Array(0);
  const start = () => {
    const found = recognizeFeed(head);
    if (!found.ok) {
      fault = found.detail;
    } else if (feed.format !== null && !KINDS[feed.format].includes(found.kind)) {
      fault = `It is ${found.kind}, which is not ${feed.format}.`;
    } else {
      onKind(found.kind);
      const source = sourceOf(found.kind, feed.isWhole && (isOfArchive === true || found.kind !== "osv"));
      forgetBefore(found.kind, source, sinks.facts);
      reader = createFeedReader(found.kind, (entry) => takeEntry(entry, source, sinks));
      reader.push(head);
    }
    head = new Uint8Array(0);
  };
  return {
    push(chunk) {
      if (reader !== null) {
        reader.push(chunk);
      } else if (fault === null) {
        head = Buffer.concat([head, chunk]);
        if (head.length >= RECOGNIZE_BYTES) start();
      }
    },
    end() {
      if (reader === null && fault === null) start();
      return reader === null ? fault : countRefused(reader.end(), sinks);
    },
  };
}

/** Reads a file of an archive of which it is known what its files are, one record each. */
export function createRecordFileReader(kind: FeedKind, { feed, sinks }: FileReading): FileReader {
  const source = sourceOf(kind, feed.isWhole);
  const reader = createFeedReader(kind, (entry) => takeEntry(entry, source, sinks));
  return { push: (chunk) => reader.push(chunk), end: () => countRefused(reader.end(), sinks) };
}

function countRefused(summary: FeedSummary, { tally }: FeedSinks): string | null {
  for (const [reason, count = 0] of Object.entries(summary.refused)) tally.refused(reason, count);
  return faultOf(summary);
}

function faultOf({ fault, isFound, claimedElements, elements }: FeedSummary): string | null {
  if (fault?.code === "truncated") return `It is cut off after ${fault.offset} octets.`;
  if (fault) return `It is malformed at octet ${fault.offset}.`;
  if (!isFound) return "It has no records of this feed.";
  return claimedElements === null ? null : `It says that it has ${claimedElements} records, and has ${elements}.`;
}
