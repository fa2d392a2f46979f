import { rename, stat } from "node:fs/promises";
import type { PcapRecorded } from "@lanthorn/contract/uplink";
import type { PcapngWriter } from "@lanthorn/packets";
import { type Clock, describeError, syncFolder } from "@lanthorn/runtime";
import { type InterfaceCounters, NO_COUNTERS, sumCounters } from "./counters.ts";
import type { DiskRoom } from "./disk-room.ts";
import { type CaptureFileFacts, filePath, inParts, partPath, removeCaptureFile, writeNote } from "./facts.ts";
import type { FileContents } from "./file-contents.ts";
import { cleanComment, type FrameGaps } from "./frame-gaps.ts";
import type { CapturePrivacy } from "./privacy.ts";
import { readFileContents } from "./repair.ts";

/** An interface that frames of a file come from. */
export interface CapturedInterface {
  readonly name: string;
  readonly description?: string;
  /** Six bytes. */
  readonly mac?: Uint8Array;
  /** 1, Ethernet, unless given. */
  readonly linkType?: number;
  /** Frames are cut to so many bytes. */
  readonly snapLength: number;
}

/** What statistics and comment of one interface take at most. */
export const TRAILER_BYTES = 2048;

const DETAILS: Readonly<Record<string, string>> = {
  budget: "The space that captures may take on the probe is used up.",
  floor: "The probe's disk has no more than the space that is kept free.",
};

/** What is reported of a file that was begun and has nothing yet. */
export function beginRecord(options: {
  readonly id: string; readonly interfaces: readonly CapturedInterface[]; readonly filter: string; readonly privacy: CapturePrivacy;
  readonly about: Pick<PcapRecorded, "trigger" | "alert_ids" | "macs" | "ips"> | null;
}, now: number): PcapRecorded {
  const about = options.about ?? { trigger: "request", alert_ids: [], macs: [], ips: [] };
  const startedAt = new Date(now).toISOString();
  return {
    pcap_id: options.id, ...about, state: "recording", detail: "", size_bytes: 0, sha256: "", packets: 0, started_at: startedAt, finished_at: null,
    file_name: `lanthorn-${about.trigger}-${startedAt.replaceAll(/[-:]|\.\d+/g, "")}-${options.id.slice(-8)}.pcapng`,
    interfaces: options.interfaces.slice(0, 16).map(({ name }) => name.slice(0, 64)), filter: options.filter.slice(0, 1024),
    snap_length: Math.min(262_144, Math.max(0, ...options.interfaces.map(({ snapLength }) => snapLength))), headers_only: options.privacy.headersOnly,
    counters: sumCounters([]), summary: null,
  };
}

/** @returns The last blocks of a file: what became of the frames of each interface, in numbers and in words. */
export function statisticsOf(facts: {
  readonly pcapng: Pick<PcapngWriter, "statistics">; readonly interfaces: readonly CapturedInterface[]; readonly counters: readonly InterfaceCounters[]; readonly gaps: FrameGaps;
  /** What was left out of frames. */
  readonly words: string;
  readonly from: number; readonly to: number;
}): Buffer {
  return Buffer.concat(facts.interfaces.map((_, interfaceId) => {
    const { received, leftOut, droppedByInterface, droppedByKernel, droppedByProbe } = facts.counters[interfaceId] ?? NO_COUNTERS;
    const counted = `received ${received}, left out by the filter ${leftOut}, dropped by the kernel ${droppedByKernel}, dropped by the probe ${droppedByProbe}`;
    return facts.pcapng.statistics({
      interfaceId, at: inParts(facts.to), startedAt: inParts(facts.from), endedAt: inParts(facts.to), received, accepted: received - leftOut, droppedByInterface, droppedByKernel,
      delivered: received - leftOut - droppedByProbe, comment: cleanComment([counted, facts.gaps.atEnd(interfaceId), facts.words].filter((text) => text !== "").join("; ")),
    });
  }));
}

interface Written {
  readonly folder: string;
  readonly id: string;
  readonly room: DiskRoom;
  readonly about: object | null;
  readonly clock: Pick<Clock, "now">;
  readonly begun: PcapRecorded;
  /** Null where there is no file. */
  readonly written: { readonly bytes: number; readonly sha256: string | null } | null;
  readonly fault: string | null;
  /** Why it lacks what was asked for; "" where it does not. */
  readonly lack: string;
  /** What was taken: with a fault, some of it may not be in the file. */
  readonly contents: FileContents;
  readonly counters: readonly InterfaceCounters[];
}

/** Gives a file that is closed its name, or removes it where it has nothing. @returns What is known of it then; never rejects. */
export async function settleFile(file: Written): Promise<CaptureFileFacts> {
  try {
    return await settle(file);
  } catch (error) {
    // Somebody may have removed it meanwhile: its room is free again then. What is there is for the next start.
    const isGone = (await Promise.all([partPath, filePath].map((path) => stat(path(file.folder, file.id)).then(() => false, () => true)))).every(Boolean);
    if (isGone && file.written) file.room.removed(file.written.bytes);
    return { path: null, recorded: { ...file.begun, state: "failed", detail: describeError(error).slice(0, 500) } };
  }
}

async function settle({ folder, id, room, written, fault, lack, begun, ...file }: Written): Promise<CaptureFileFacts> {
  const held = fault === null || written === null ? file.contents : (await readFileContents(partPath(folder, id))).contents;
  const reason = fault === null ? "" : DETAILS[fault] ?? fault;
  const detail = [lack, reason, begun.detail].filter((text) => text !== "").join(" ").slice(0, 500);
  const finishedAt = new Date(held.lastAt ?? file.clock.now()).toISOString();
  const ended = { ...begun, detail, finished_at: finishedAt, counters: sumCounters(file.counters) };
  if (written === null || (fault !== null && held.packets === 0)) {
    if (written) room.removed(written.bytes);
    await removeCaptureFile(folder, id);
    const recorded = { ...ended, state: "failed" } as const;
    if (file.about !== null) await writeNote(folder, { recorded, is_reported: false }).catch(() => {});
    return { path: null, recorded };
  }
  await rename(partPath(folder, id), filePath(folder, id));
  // From here on the file is there and counts as one that is: what the disk refuses now is what is known of it, which the next start finds out anew.
  if (file.about !== null) await syncFolder(folder).catch(() => {});
  const recorded: PcapRecorded = {
    ...ended, state: fault === null && lack === "" ? "whole" : "cut", size_bytes: written.bytes, sha256: written.sha256 ?? "", packets: held.packets,
    started_at: held.firstAt === null ? begun.started_at : new Date(held.firstAt).toISOString(), summary: file.about === null ? null : held.summary?.read() ?? null,
  };
  if (file.about !== null) await writeNote(folder, { recorded, is_reported: false }).catch(() => {});
  return { path: filePath(folder, id), recorded };
}
