/** What the traffic process and the process of an export say to each other: one JSON text a line. */
import { Id, PCAP_COMMANDS, PcapRecorded } from "@lanthorn/contract/uplink";
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";

const { host, peer, side, pcap_id: pcapId } = PCAP_COMMANDS.pcap_export.shape;
const Path = z.string().max(4096);
/** More files than any ring has: the request is one line. */
const MAX_FILES = 100_000;

/** Octets; it goes on to the file's end where `to` is null. */
const Part = z.object({ from: z.int().min(0), to: z.int().min(0).nullable() });

/** What is left out of frames. */
const Privacy = { headers_only: z.boolean(), headers_only_networks: z.array(z.string().max(64)).max(256) };

/** What is to be cut, from which files, into which. */
export const ExportRequest = z.object({
  kind: z.literal("begin"),
  pcap_id: pcapId, host, peer, side,
  /** Milliseconds since the epoch. */
  from: z.number(), to: z.number(),
  /** In words, and compiled; null for every frame. */
  filter: z.string().max(4096),
  program: z.array(z.tuple([z.int(), z.int(), z.int(), z.int()])).max(4096).nullable(),
  /** Oldest first; of the paths of each one is there. `part` is where in it the time lies; null for all of it. */
  files: z.array(z.object({ id: Id, paths: z.tuple([Path, Path]), part: Part.nullable() })).max(MAX_FILES),
  folder: Path,
  max_bytes: z.int().min(1), floor_bytes: z.int().min(0),
  interfaces: z.array(z.string().max(64)).max(16), snap_length: z.int().min(1).max(262_144),
  ...Privacy,
  application: z.string().max(128),
});
export type ExportRequest = z.infer<typeof ExportRequest>;

/** To the process of the export. */
export const ToExport = z.discriminatedUnion("kind", [
  ExportRequest,
  /** The answer to `want`: whether the file is still there; it is kept until `done`. */
  z.object({ kind: z.literal("file"), is_there: z.boolean() }),
  /** The capture has much to do, or has time again. */
  z.object({ kind: z.literal("pace"), is_paused: z.boolean() }),
  /** From the next frame on this is left out too. */
  z.object({ kind: z.literal("privacy"), ...Privacy }),
  /** Whatever there is so far is the export. */
  z.object({ kind: z.literal("stop") }),
]);
export type ToExport = z.infer<typeof ToExport>;

/** From it. */
export const FromExport = z.discriminatedUnion("kind", [
  /** This file is to be read next. */
  z.object({ kind: z.literal("want"), id: Id }),
  z.object({ kind: z.literal("done"), id: Id }),
  z.object({ kind: z.literal("finished"), path: Path.nullable(), recorded: PcapRecorded }),
]);
export type FromExport = z.infer<typeof FromExport>;

/** @returns Null for a line that is none of these. */
export function readLine<T>(schema: z.ZodType<T>, line: string): T | null {
  return schema.safeParse(parseJson(line)).data ?? null;
}
