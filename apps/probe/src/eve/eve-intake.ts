/** Takes in what a Suricata beside the probe finds, from its EVE file or over a socket. */
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { Finding } from "../intrusions/finding.ts";
import { type EveFile, type EveFileState, followEveFile } from "./eve-file.ts";
import { type EveDrops, parseEveLine } from "./eve-record.ts";
import { type EveSocket, type EveSocketState, listenForEve } from "./eve-socket.ts";
import type { FilePosition } from "./file-position.ts";
import type { PositionStore } from "./position-store.ts";

/** How the intake is. */
export interface EveState {
  readonly file: EveFileState | null;
  readonly socket: EveSocketState | null;
  readonly alerts: number;
  readonly anomalies: number;
  /** Lines that are no records of EVE, and alerts without what an alert needs. */
  readonly malformed: number;
  /** As that Suricata said it last; null until it did. */
  readonly drops: EveDrops | null;
  /** When the last record came, milliseconds since the epoch; null before the first. */
  readonly lastAt: number | null;
  /** Alerts that could not be written down for too long. */
  readonly lost: number;
}

/** The intake. */
export interface EveIntake {
  state(): EveState;
  close(): Promise<void>;
}

/** A second is what a crash of the probe reads twice. */
const SAVE_MS = 1000;
/** Alerts that wait for the disk. The place in the file is that before them, so what is lost here is read again after a restart. */
const MAX_WAITING = 1000;

/**
 * @param deps.report Returns false for what cannot be written down now.
 * @param deps.paths Null for none of the two.
 */
export function createEveIntake(deps: {
  readonly paths: { readonly file: string | null; readonly socket: string | null };
  readonly positions: PositionStore;
  readonly report: (finding: Finding) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}): EveIntake {
  const { paths, positions, clock, log } = deps;
  const counts = { alerts: 0, anomalies: 0, malformed: 0, lost: 0 };
  const waiting: Finding[] = [];
  let drops: EveDrops | null = null;
  let lastAt: number | null = null;
  /** How far the file was read, and the last place in it before which all is written down. */
  let latest: FilePosition | null = null;
  let safe: FilePosition | null = null;

  function onLine(line: Buffer): void {
    const record = parseEveLine(line);
    switch (record.kind) {
      case "alert":
        counts.alerts += 1;
        if (waiting.length === 0 && deps.report(record.finding)) break;
        if (waiting.length < MAX_WAITING) waiting.push(record.finding);
        else counts.lost += 1;
        break;
      case "anomaly":
        counts.anomalies += 1;
        break;
      case "drops":
        ({ drops } = record);
        break;
      case "malformed":
        counts.malformed += 1;
        return;
      case "other":
        break;
      default:
        record satisfies never;
    }
    lastAt = clock.now();
  }

  function save(): void {
    while (waiting[0] !== undefined && deps.report(waiting[0])) waiting.shift();
    if (waiting.length === 0) safe = latest;
    if (safe === null || paths.file === null) return;
    try {
      positions.save(paths.file, safe);
      [latest, safe] = [waiting.length === 0 ? null : latest, null];
    } catch (error) {
      log.debug({ reason: describeError(error) }, "the place in the EVE file cannot be written down; trying again");
    }
  }

  const stop = clock.every(SAVE_MS, save);
  const file: EveFile | null = paths.file === null ? null : followEveFile(paths.file, {
    saved: positions.load(paths.file), onLine, clock, log,
    onPosition(position) {
      latest = position;
      if (waiting.length === 0) safe = position;
    },
  });
  const socket: EveSocket | null = paths.socket === null ? null : listenForEve(paths.socket, { onLine, clock, log });
  return {
    state: () => ({ file: file?.state() ?? null, socket: socket?.state() ?? null, ...counts, drops, lastAt }),
    async close() {
      stop();
      await Promise.all([file?.close(), socket?.close()]);
      save();
    },
  };
}
