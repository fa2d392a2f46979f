/** How far each source went with each decoy: one thing to report however often it is tried. */
import type { HoneypotStage } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import type { ReportedHit } from "../link/messages.ts";
import { createRungs, isMore, isRise, type Rung } from "./rungs.ts";
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
  /** In place of those of the rung. */
  readonly techniques?: readonly string[];
  /** The daemon tries the decoy. */
  readonly isTest: boolean;
  /** Whether the source's address is its own: over UDP it may be forged. */
  readonly isProven: boolean;
}

/** What is kept of each source and decoy until the daemon has written it down, and an hour beyond. */
export interface Ladder {
  /** @param atMs Since the epoch. @param nowMs Of the clock that only rises, as for `flush`. @returns The incident's id; null where there is no room for it. */
  climb(step: Step, atMs: number, nowMs: number): string | null;
  /** There was no room for so many pieces of its evidence. */
  leaveOut(step: Pick<Step, "decoy" | "isTest" | "source" | "sourcePort">, pieces: number): void;
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
  const rungs = createRungs();
  const sent = new Map<number, Rung>();
  let [leftOut, lastNumber] = [0, 0];
  const forget = (rung: Rung) => {
    rungs.forget(rung);
    if (rung.sent) sent.delete(rung.sent.number);
  };
  /** Those whose addresses are their own come first. */
  const flushSome = (isProven: boolean, room: number, nowMs: number, send: Parameters<Ladder["flush"]>[1]): number => {
    let left = room;
    for (const rung of rungs.values()) {
      if (left === 0) return 0;
      if (rung.isProven !== isProven) continue;
      const report = dueReport(rung, nowMs);
      if (report === null) {
        if (rung.written && !rung.sent && !isMore(rung, rung.written) && nowMs - rung.seenMs > FORGET_MS) forget(rung);
        continue;
      }
      const hit = { ...rung.hit, report, services: [...rung.services], usernames: [...rung.usernames], techniques: [...rung.techniques] };
      if (!send(lastNumber + 1, hit)) return 0;
      lastNumber += 1;
      if (rung.sent) sent.delete(rung.sent.number);
      rung.sent = { number: lastNumber, hit, reached: rung.reached.size, atMs: nowMs };
      sent.set(lastNumber, rung);
      left -= 1;
    }
    return left;
  };
  return {
    get size() {
      return rungs.size;
    },
    get leftOut() {
      return leftOut;
    },
    climb(step, atMs, nowMs) {
      const key = keyOf(step);
      const known = rungs.get(key);
      if (known && step.isProven) rungs.prove(known);
      const rung = known ?? rungs.add(step.isProven, () => begin(key, step, atMs, nowMs));
      if (!rung) {
        leftOut += isCounted(step) ? 1 : 0;
        return null;
      }
      add(rung, step, atMs, nowMs);
      rungs.settle(rung);
      return rung.hit.incident_id;
    },
    leaveOut(step, pieces) {
      const rung = rungs.get(keyOf(step));
      if (!rung || pieces === 0) return;
      rung.hit.left_out = Math.min(MAX_COUNT, rung.hit.left_out + pieces);
      rungs.settle(rung);
    },
    flush(nowMs, send) {
      const left = flushSome(true, MAX_OF_FLUSH, nowMs, send);
      if (left > 0) flushSome(false, left, nowMs, send);
    },
    taken(number, nowMs) {
      const rung = sent.get(number);
      if (!rung?.sent) return;
      const { stage, connections, credentials, left_out } = rung.sent.hit;
      rung.written = { stage, connections, credentials, left_out, reached: rung.sent.reached, atMs: nowMs };
      rung.sent = null;
      sent.delete(number);
      rungs.settle(rung);
    },
    lost() {
      for (const rung of sent.values()) rung.sent = null;
      sent.clear();
    },
  };
}

/** Each test is one of its own, so that it is reported at once; who poisons names is one, whatever decoys asked. */
function keyOf({ source, sourcePort, decoy, isTest, rung }: Partial<Pick<Step, "rung">> & Pick<Step, "decoy" | "isTest" | "source" | "sourcePort">): string {
  if (rung === "name_poisoning") return `${source} ${rung}`;
  return isTest ? `${source} ${sourcePort} ${decoy}` : `${source} ${decoy}`;
}

/** Each touch is one, and each false answer. */
function isCounted({ rung }: Pick<Step, "rung">): boolean {
  return rung === "touch" || rung === "name_poisoning";
}

function begin(key: string, step: Step, atMs: number, nowMs: number): Rung {
  return {
    key, usernames: new Set(), services: new Set(), techniques: new Set(), reached: new Set(), seenMs: nowMs, written: null, sent: null, isProven: step.isProven,
    hit: {
      incident_id: createId(), decoy: step.decoy, source_ip: step.source, destination_ip: step.destination, stage: step.rung, severity: RUNG_SEVERITIES[step.rung], service: step.service,
      source_port: step.sourcePort, destination_port: step.destinationPort, username: "", detail: "", is_test: step.isTest, connections: isCounted(step) ? 0 : 1, credentials: 0, left_out: 0, since: atMs, last_at: atMs, services: [], usernames: [], techniques: [],
    },
  };
}

/** Service, ports and words are of the furthest step, and of the last one that went as far. */
function add(rung: Rung, step: Step, atMs: number, nowMs: number): void {
  const { hit } = rung;
  rung.seenMs = nowMs;
  rung.reached.add(step.techniques ? `${step.rung} ${step.techniques.join(" ")}` : step.rung);
  hit.last_at = Math.max(hit.last_at, atMs);
  if (isCounted(step)) hit.connections = Math.min(MAX_COUNT, hit.connections + 1);
  if (step.rung === "credential" || step.rung === "bait_credential") hit.credentials = Math.min(MAX_COUNT, hit.credentials + 1);
  if (step.username !== "" && rung.usernames.size < MAX_USERNAMES) rung.usernames.add(step.username);
  if (rung.services.size < MAX_SERVICES) rung.services.add(step.service);
  for (const technique of step.techniques ?? techniquesOf(step.service, step.rung)) rung.techniques.add(technique);
  if (compareRungs(step.rung, hit.stage) < 0) return;
  Object.assign(hit, {
    stage: step.rung, severity: RUNG_SEVERITIES[step.rung], service: step.service, source_port: step.sourcePort, destination_port: step.destinationPort,
    username: step.username || hit.username, detail: step.detail || hit.detail,
  });
}

/** @returns Null where there is nothing new to say, or where it is on its way. */
function dueReport(rung: Rung, nowMs: number): ReportedHit["report"] | null {
  const { written, sent } = rung;
  if (sent && nowMs - sent.atMs < RESEND_MS) return null;
  if (!written) return "first";
  if (isRise(rung, written)) return "rise";
  return isMore(rung, written) && nowMs - written.atMs >= SUMMARY_MS ? "summary" : null;
}
