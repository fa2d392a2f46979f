/** What is said of files, folders and the volume. @see MS-FSCC sections 2.4 and 2.5, MS-SMB2 section 3.3.5.20 */
import type { BaitDocument } from "../../documents/bait-documents.ts";
import { encodeFiletime } from "../windows/filetime.ts";
import { pack } from "./message.ts";

/** A document, or the folder that they are in. */
export interface SmbEntry {
  /** "" for the folder. */
  readonly name: string;
  /** The same ever since. */
  readonly id: number;
  readonly modifiedMs: number;
  readonly document: BaitDocument | null;
}

const [ATTRIBUTE_FOLDER, ATTRIBUTE_ARCHIVE] = [0x10, 0x20] as const;
const CLUSTER_OCTETS = 4096;
const [SECTOR_OCTETS, SECTORS_OF_CLUSTER] = [512, 8] as const;
/** Of the volume: 465 GiB, of which 211 are free. */
const [CLUSTERS, FREE_CLUSTERS] = [121_896_960, 55_312_384] as const;
const READ_ACCESS = 0x0012_0089;
const [DISK, REMOTE] = [0x7, 0x10] as const;
/** Names keep their case, and are compared without it; they may be in Unicode. */
const VOLUME_ATTRIBUTES = 0x7;
const MAX_NAME_LENGTH = 255;

const octetsOf = ({ document }: SmbEntry) => document?.content.length ?? 0;
const allocated = (entry: SmbEntry) => Math.ceil(octetsOf(entry) / CLUSTER_OCTETS) * CLUSTER_OCTETS;

/** Directory or archive. */
export function attributesOf({ document }: SmbEntry): number {
  return document ? ATTRIBUTE_ARCHIVE : ATTRIBUTE_FOLDER;
}

/** @returns Four times, lengths and attributes, as CREATE, CLOSE and lists have them. */
export function encodeFacts(entry: SmbEntry, order: "allocation-first" | "end-first"): Buffer {
  const lengths = order === "end-first" ? [octetsOf(entry), allocated(entry)] : [allocated(entry), octetsOf(entry)];
  return Buffer.concat([encodeTimes(entry), pack([8, lengths[0] ?? 0], [8, lengths[1] ?? 0], [4, attributesOf(entry)])]);
}

function encodeTimes({ modifiedMs }: SmbEntry): Buffer {
  return Buffer.concat([encodeFiletime(modifiedMs), encodeFiletime(modifiedMs), encodeFiletime(modifiedMs), encodeFiletime(modifiedMs)]);
}

/** As Windows makes them for programs of DOS. */
function shortName(name: string): string {
  const [stem = "", extension = ""] = name.toUpperCase().split(".");
  return `${stem.replaceAll("-", "").slice(0, 6)}~1.${extension.slice(0, 3)}`;
}

const basic = (entry: SmbEntry) => Buffer.concat([encodeTimes(entry), pack([4, attributesOf(entry)], [4, 0])]);
const standard = (entry: SmbEntry) => pack([8, allocated(entry)], [8, octetsOf(entry)], [4, 1], [1, 0], [1, entry.document ? 0 : 1], [2, 0]);
const internal = ({ id }: SmbEntry) => pack([8, id]);
const named = (name: string) => Buffer.concat([pack([4, name.length * 2]), Buffer.from(name, "utf16le")]);
const stream = (entry: SmbEntry) => (entry.document ? Buffer.concat([pack([4, 0], [4, 14], [8, octetsOf(entry)], [8, allocated(entry)]), Buffer.from("::$DATA", "utf16le")]) : Buffer.alloc(0));

/** By FileInformationClass. */
const FILE_INFO: Readonly<Record<number, (entry: SmbEntry) => Buffer>> = {
  4: basic, 5: standard, 6: internal, 7: () => pack([4, 0]), 8: () => pack([4, READ_ACCESS]), 14: () => pack([8, 0]), 16: () => pack([4, 0]), 17: () => pack([4, 0]),
  18: (entry) => Buffer.concat([basic(entry), standard(entry), internal(entry), pack([4, 0], [4, READ_ACCESS], [8, 0], [4, 0], [4, 0]), named(`\\${entry.name}`)]),
  21: (entry) => (entry.document ? named(shortName(entry.name)) : named("")), 22: stream, 34: (entry) => Buffer.concat([encodeFacts(entry, "allocation-first"), pack([4, 0])]), 35: (entry) => pack([4, attributesOf(entry)], [4, 0]), 48: ({ name }) => named(name),
};

/** By FsInformationClass. */
const VOLUME_INFO: Readonly<Record<number, (serial: number, root: SmbEntry) => Buffer>> = {
  1: (serial, { modifiedMs }) => Buffer.concat([encodeFiletime(modifiedMs), pack([4, serial], [4, 0], [1, 0], [1, 0])]),
  3: () => pack([8, CLUSTERS], [8, FREE_CLUSTERS], [4, SECTORS_OF_CLUSTER], [4, SECTOR_OCTETS]), 4: () => pack([4, DISK], [4, REMOTE]),
  5: () => Buffer.concat([pack([4, VOLUME_ATTRIBUTES], [4, MAX_NAME_LENGTH]), named("NTFS")]),
  7: () => pack([8, CLUSTERS], [8, FREE_CLUSTERS], [8, FREE_CLUSTERS], [4, SECTORS_OF_CLUSTER], [4, SECTOR_OCTETS]),
};

/** @returns Null for a class that is not known here. */
export function encodeFileInfo(kind: number, entry: SmbEntry): Buffer | null {
  return Object.hasOwn(FILE_INFO, kind) ? FILE_INFO[kind]?.(entry) ?? null : null;
}

/** @param serial 32 bits. @returns Null for a class that is not known here. */
export function encodeVolumeInfo(kind: number, serial: number, root: SmbEntry): Buffer | null {
  return Object.hasOwn(VOLUME_INFO, kind) ? VOLUME_INFO[kind]?.(serial, root) ?? null : null;
}

/** What stands between the common fields and the name, by FileInformationClass. */
const LIST_FIELDS: Readonly<Record<number, (id: number) => Buffer>> = {
  1: () => Buffer.alloc(0), 2: () => Buffer.alloc(4), 3: () => Buffer.alloc(30), 37: (id) => Buffer.concat([Buffer.alloc(32), pack([8, id])]), 38: (id) => Buffer.concat([Buffer.alloc(8), pack([8, id])]),
};
const NAMES_ALONE = 12;

/** Whether a folder can be listed so. */
export function isListKind(kind: number): boolean {
  return kind === NAMES_ALONE || Object.hasOwn(LIST_FIELDS, kind);
}

/** @param entries By the name that is shown. @returns As many as fit, each but the last with where the next one begins, and how many they are. */
export function encodeList(kind: number, entries: readonly (readonly [name: string, entry: SmbEntry])[], room: number): { readonly bytes: Buffer; readonly count: number } {
  const parts: Buffer[] = [];
  let octets = 0;
  for (const [name, entry] of entries) {
    const letters = Buffer.from(name, "utf16le");
    const facts = kind === NAMES_ALONE ? Buffer.alloc(0) : encodeFacts(entry, "end-first");
    const part = Buffer.concat([pack([4, 0], [4, 0]), facts, pack([4, letters.length]), LIST_FIELDS[kind]?.(entry.id) ?? Buffer.alloc(0), letters]);
    const padding = (8 - octets % 8) % 8;
    if (octets + padding + part.length > room) break;
    const before = parts.at(-1);
    if (before) {
      before.writeUInt32LE(before.length + padding, 0);
      parts[parts.length - 1] = Buffer.concat([before, Buffer.alloc(padding)]);
    }
    parts.push(part);
    octets += padding + part.length;
  }
  return { bytes: Buffer.concat(parts), count: parts.length };
}
