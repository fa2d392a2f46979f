/** Who is on the ladder, within bounds: a flood costs no look at all that are there. */
import type { HoneypotStage } from "@lanthorn/contract/uplink";
import { type BoundedMap, createBoundedMap } from "../../bounded-map.ts";
import type { ReportedHit } from "../link/messages.ts";
import { compareRungs } from "./techniques.ts";

/** One source at one decoy. */
export interface Rung {
  readonly key: string;
  /** Somebody opened a connection from there. */
  isProven: boolean;
  hit: Omit<ReportedHit, "report">;
  readonly usernames: Set<string>;
  readonly services: Set<string>;
  readonly techniques: Set<string>;
  /** Whoever came in with bait reaches those below it afterwards; to send files and to read ours are two things. */
  readonly reached: Set<string>;
  seenMs: number;
  /** What the daemon has; null before it took anything. */
  written: { readonly stage: HoneypotStage; readonly connections: number; readonly credentials: number; readonly left_out: number; readonly reached: number; readonly atMs: number } | null;
  sent: { readonly number: number; readonly hit: ReportedHit; readonly reached: number; readonly atMs: number } | null;
}

/** All of them. */
export interface Rungs {
  get(key: string): Rung | undefined;
  /** Where there is no room, who was silent the longest of those whom the daemon has is forgotten, and first those whose addresses may be forged. @returns What `begin` gives; null where there is none. */
  add(isProven: boolean, begin: () => Rung): Rung | null;
  /** Its address is its own. */
  prove(rung: Rung): void;
  forget(rung: Rung): void;
  /** Call it after each change of what was seen of the rung, or of what the daemon has written. */
  settle(rung: Rung): void;
  values(): Iterable<Rung>;
  readonly size: number;
}

/** One open alert each: so many sources and decoys at once. */
const MAX_RUNGS = 4096;
/** Of these, of sources whose addresses may be forged: whoever forges them takes no room from the others. */
const MAX_UNPROVEN = 1024;

/** @returns None. */
export function createRungs(): Rungs {
  const rungs = new Map<string, Rung>();
  /** Rungs of which the daemon has written all: the one silent for longest comes first. */
  const [proven, unproven] = [createBoundedMap<string, Rung>(MAX_RUNGS), createBoundedMap<string, Rung>(MAX_RUNGS)];
  let unprovenCount = 0;
  const remove = (rung: Rung) => {
    if (!rungs.delete(rung.key)) return;
    if (!rung.isProven) unprovenCount -= 1;
    settle(rung);
  };
  const settle = (rung: Rung) => {
    for (const settled of [proven, unproven]) settled.delete(rung.key);
    if (rung.written && !isMore(rung, rung.written) && rungs.get(rung.key) === rung) (rung.isProven ? proven : unproven).put(rung.key, rung);
  };
  const takeOldest = (from: BoundedMap<string, Rung>): Rung | null => from.takeOldest()?.[1] ?? null;
  const makeRoom = (isProven: boolean): boolean => {
    if (rungs.size < MAX_RUNGS && (isProven || unprovenCount < MAX_UNPROVEN)) return true;
    const oldest = takeOldest(unproven) ?? (isProven ? takeOldest(proven) : null);
    if (oldest) remove(oldest);
    return oldest !== null;
  };
  return {
    get: (key) => rungs.get(key),
    add(isProven, begin) {
      if (!makeRoom(isProven)) return null;
      const rung = begin();
      rungs.set(rung.key, rung);
      if (!isProven) unprovenCount += 1;
      return rung;
    },
    prove(rung) {
      if (!rung.isProven) unprovenCount -= 1;
      rung.isProven = true;
    },
    forget: remove,
    settle,
    values: () => rungs.values(),
    get size() {
      return rungs.size;
    },
  };
}

/** Whether the source went further than the daemon has written. */
export function isRise({ hit, reached }: Rung, written: NonNullable<Rung["written"]>): boolean {
  return compareRungs(hit.stage, written.stage) > 0 || reached.size > written.reached;
}

/** Whether anything was seen that the daemon has not written: a rung of which this is true is not forgotten to make room. */
export function isMore(rung: Rung, written: NonNullable<Rung["written"]>): boolean {
  const { hit } = rung;
  return isRise(rung, written) || hit.connections > written.connections || hit.credentials > written.credentials || hit.left_out > written.left_out;
}
