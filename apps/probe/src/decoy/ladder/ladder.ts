/** How far each source went with each decoy: one thing to report however often it is tried. */
import type { HoneypotStage } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import type { ReportedHit } from "../link/messages.ts";
import { compareRungs, RUNG_SEVERITIES, techniquesOf } from "./techniques.ts";

/** What somebody did. */
export interface Step {
  readonly decoy: string;
  readonly service: string;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly rung: HoneypotStage;
  /** "" for none. */
  readonly username: string;
  /** In a few words; "" for none. */
  readonly detail: string;
  /** The daemon tries the decoy. */
  readonly isTest: boolean;
}

/** What is kept of each source and decoy until the daemon has written it down, and an hour beyond. */
export interface Ladder {
  /** @param atMs Since the epoch. @param nowMs Of the clock that only rises, as for `flush`. @returns The incident's id; null where there is no room for it. */
  climb(step: Step, atMs: number, nowMs: number): string | null;
  /** Sends what is due: what is new, what rose, and each ten minutes what goes on. @param send Whether it went out. */
  flush(nowMs: number, send: (number: number, hit: ReportedHit) => boolean): void;
  /** The daemon has written down the message of this number. */
  taken(number: number, nowMs: number): void;
  /** The daemon is gone: what it did not take waits again. */
  lost(): void;
  readonly size: number;
  /** Connections that there was no room for. */
  readonly leftOut: number;
}

interface Rung {
  hit: Omit<ReportedHit, "report">;
  readonly usernames: Set<string>;
  readonly services: Set<string>;
  readonly techniques: Set<string>;
  seenMs: number;
  /** What the daemon has; null before it took anything. */
  written: { readonly stage: HoneypotStage; readonly connections: number; readonly credentials: number; readonly atMs: number } | null;
  sent: { readonly number: number; readonly hit: ReportedHit; readonly atMs: number } | null;
}

/** One open alert each: so many sources and decoys at once. */
const MAX_RUNGS = 4096;
const SUMMARY_MS = 600_000;
/** Who is silent for so long begins anew. */
const FORGET_MS = 3_600_000;
const RESEND_MS = 30_000;
/** What one flush sends: the daemon reads a hundred in a second. */
const MAX_OF_FLUSH = 25;
const MAX_USERNAMES = 16;
const MAX_SERVICES = 32;
const MAX_COUNT = 1_000_000_000;

/** @returns One that has seen nobody. */
export function createLadder(): Ladder {
  const rungs = new Map<string, Rung>();
  let [leftOut, lastNumber] = [0, 0];
  return {
    get size() {
      return rungs.size;
    },
    get leftOut() {
      return leftOut;
    },
    climb(step, atMs, nowMs) {
      // Each test is one of its own, so that it is reported at once.
      const key = step.isTest ? `${step.source} ${step.sourcePort} ${step.decoy}` : `${step.source} ${step.decoy}`;
      let rung = rungs.get(key);
      if (!rung) {
        if (rungs.size >= MAX_RUNGS && !makeRoom(rungs)) {
          leftOut += step.rung === "touch" ? 1 : 0;
          return null;
        }
        rung = begin(step, atMs, nowMs);
        rungs.set(key, rung);
      }
      add(rung, step, atMs, nowMs);
      return rung.hit.incident_id;
    },
    flush(nowMs, send) {
      let room = MAX_OF_FLUSH;
      for (const [key, rung] of rungs) {
        if (room === 0) return;
        const report = dueReport(rung, nowMs);
        if (report === null) {
          if (rung.written && !rung.sent && nowMs - rung.seenMs > FORGET_MS) rungs.delete(key);
          continue;
        }
        const hit = { ...rung.hit, report, services: [...rung.services], usernames: [...rung.usernames], techniques: [...rung.techniques] };
        if (!send(lastNumber + 1, hit)) return;
        lastNumber += 1;
        rung.sent = { number: lastNumber, hit, atMs: nowMs };
        room -= 1;
      }
    },
    taken(number, nowMs) {
      for (const rung of rungs.values()) {
        if (rung.sent?.number !== number) continue;
        const { stage, connections, credentials } = rung.sent.hit;
        rung.written = { stage, connections, credentials, atMs: nowMs };
        rung.sent = null;
        return;
      }
    },
    lost() {
      for (const rung of rungs.values()) rung.sent = null;
    },
  };
}

function begin(step: Step, atMs: number, nowMs: number): Rung {
  return {
    usernames: new Set(), services: new Set(), techniques: new Set(), seenMs: nowMs, written: null, sent: null,
    hit: {
      incident_id: createId(), decoy: step.decoy, source_ip: step.source, destination_ip: step.destination, stage: step.rung, severity: RUNG_SEVERITIES[step.rung], service: step.service,
      source_port: step.sourcePort, destination_port: step.destinationPort, username: "", detail: "", is_test: step.isTest, connections: step.rung === "touch" ? 0 : 1, credentials: 0, since: atMs, last_at: atMs, services: [], usernames: [], techniques: [],
    },
  };
}

/** Service, ports and words are of the furthest step, and of the last one that went as far. */
function add(rung: Rung, step: Step, atMs: number, nowMs: number): void {
  const { hit } = rung;
  rung.seenMs = nowMs;
  hit.last_at = Math.max(hit.last_at, atMs);
  if (step.rung === "touch") hit.connections = Math.min(MAX_COUNT, hit.connections + 1);
  if (step.rung === "credential" || step.rung === "bait_credential") hit.credentials = Math.min(MAX_COUNT, hit.credentials + 1);
  if (step.username !== "" && rung.usernames.size < MAX_USERNAMES) rung.usernames.add(step.username);
  if (rung.services.size < MAX_SERVICES) rung.services.add(step.service);
  for (const technique of techniquesOf(step.service, step.rung)) rung.techniques.add(technique);
  if (compareRungs(step.rung, hit.stage) < 0) return;
  Object.assign(hit, {
    stage: step.rung, severity: RUNG_SEVERITIES[step.rung], service: step.service, source_port: step.sourcePort, destination_port: step.destinationPort,
    username: step.username || hit.username, detail: step.detail || hit.detail,
  });
}

/** @returns Null where there is nothing new to say, or where it is on its way. */
function dueReport({ hit, written, sent }: Rung, nowMs: number): ReportedHit["report"] | null {
  if (sent && nowMs - sent.atMs < RESEND_MS) return null;
  if (!written) return "first";
  if (compareRungs(hit.stage, written.stage) > 0) return "rise";
  const isMore = hit.connections > written.connections || hit.credentials > written.credentials;
  return isMore && nowMs - written.atMs >= SUMMARY_MS ? "summary" : null;
}

/** Forgets who has been silent the longest among those of whom the daemon has all. @returns False where there is none. */
function makeRoom(rungs: Map<string, Rung>): boolean {
  let oldest: string | null = null;
  let seenMs = Number.POSITIVE_INFINITY;
  for (const [key, { hit, written, seenMs: atMs }] of rungs) {
    const isWritten = written !== null && written.stage === hit.stage && written.connections === hit.connections && written.credentials === hit.credentials;
    if (isWritten && atMs < seenMs) [oldest, seenMs] = [key, atMs];
  }
  return oldest !== null && rungs.delete(oldest);
}
