import { type Clock, createId, keepUntilDone } from "@lanthorn/runtime";
import type { AlertNotice, Gap } from "../messages.ts";
import type { RingBlock } from "../ring/memory-ring.ts";
import { fromMegabytes } from "../settings.ts";
import type { Sink } from "../sinks.ts";
import { type EvidenceDeps, type EvidenceFile, openEvidenceFile } from "./evidence-file.ts";
import { createFrameSearch, type FoundFrame } from "./find-frame.ts";
import { createPartyFilter } from "./party-filter.ts";

/** Files about alerts, written from the ring. */
export interface Evidence extends Sink {
  notice(alert: AlertNotice): void;
  /** A block leaves the ring: what of it is wanted is written now. */
  onEvict(block: RingBlock): void;
  /** A time of which the ring has nothing. */
  addGap(gap: Gap): void;
  state(): { readonly open: number; readonly alertsLeftOut: number };
}

/** Files at once. More alerts at once join a file that is open. */
const MAX_OPEN = 8;
/** A storm of alerts gets so many files at once, and one more each ten seconds. */
const MAX_BURST = 128;
const REFILL_MS = 10_000;
/** An alert that goes on for longer than a file may last gets so many files. */
const MAX_FILES_OF_ALERT = 3;
const MAX_REMEMBERED_ALERTS = 256;
/** A turn of searching and writing, which then pauses: what the kernel has meanwhile must not wait for it. Half of it is for the search at most. */
const TURN_MS = 4;
const PAUSE_MS = 10;
const BUSY_PAUSE_MS = 50;
/** Of the time that passes, so much may be spent on blocks that leave the ring, and so much at once. */
const EVICT_SHARE = 0.5;
const EVICT_MS = 4;
/** At the end, for alerts that still wait. */
const LAST_SEARCH_MS = 500;
const MAX_GAPS = 32;
const SAME_GAP_MS = 2000;

/** Writes a file about each alert: what was before and after it, as far as the ring has it. */
export function createEvidence(deps: EvidenceDeps): Evidence {
  const { settings, clock, log } = deps;
  let files: EvidenceFile[] = [];
  const ending = new Set<Promise<unknown>>();
  const gaps = createGapLog(clock);
  const allowance = createAllowance(clock);
  const evicting = createTimeShare(clock);
  const search = createFrameSearch({ ...deps, beforeSeconds: settings.before_seconds, onFound: begin });
  let turn = 0;
  let cancelNext: (() => void) | null = null;
  let alertsLeftOut = 0;

  function leaveOut(alert: AlertNotice, reason: string): void {
    alertsLeftOut += 1;
    log.warn({ alert_id: alert.alert_id, kind: alert.kind, reason }, "an alert got no capture file of its own");
  }

  function begin(alert: AlertNotice, found: FoundFrame | null): void {
    const part = { alert, filter: createPartyFilter(alert.device, alert.peer), found, now: clock.now() };
    const shared = files.find((file) => file.isAbout(alert));
    if (shared?.join(part) === true) return;
    if (files.length >= MAX_OPEN || !allowance.permits(alert.alert_id)) {
      // Too many at once: the newest file is the one that lasts longest.
      const other = files.findLast((file) => file.join(part));
      if (!other) leaveOut(alert, "too many alerts at once");
      return;
    }
    const opened = openEvidenceFile(part, { ...deps, id: createId(), maxBytes: fromMegabytes(settings.max_megabytes), gaps: gaps.all });
    if ("refused" in opened) return leaveOut(alert, opened.refused);
    files.push(opened);
    allowance.use(alert.alert_id);
  }

  function work(): void {
    cancelNext?.();
    cancelNext = null;
    const begunAt = clock.monotonic();
    const isSearching = search.run(() => clock.monotonic() - begunAt >= TURN_MS / 2);
    const now = clock.now();
    const how = advanceAll(files, turn, now, () => clock.monotonic() - begunAt >= TURN_MS);
    turn += 1;
    const over = files.filter((file) => file.isOver(now));
    files = files.filter((file) => !over.includes(file));
    for (const file of over) keepUntilDone(ending, file.finish());
    if (isSearching || how !== "done") cancelNext = clock.after(isSearching || how === "behind" ? PAUSE_MS : BUSY_PAUSE_MS, work);
  }

  return {
    name: "evidence",
    notice(alert) {
      if (!deps.isWanted()) return;
      if (!search.add(alert)) leaveOut(alert, "too many alerts at once");
    },
    onEvict: (block) => evictFrom(files, block, evicting),
    // Files are written from the ring, some seconds later; what overload leaves out here is in the ring all the same.
    onBlock: () => undefined,
    shed: () => undefined,
    onMissing(interfaceId, frames, why) {
      for (const file of files) file.missing(interfaceId, frames, why);
      gaps.lost(frames, why);
    },
    addGap: gaps.add,
    tick() {
      // What goes on in turns of its own is not hurried.
      if (cancelNext === null) work();
    },
    state: () => ({ open: files.length, alertsLeftOut }),
    async close() {
      cancelNext?.();
      const until = clock.monotonic() + LAST_SEARCH_MS;
      search.run(() => clock.monotonic() >= until);
      search.giveUp();
      for (const file of files.splice(0)) {
        file.flush();
        keepUntilDone(ending, file.finish());
      }
      await Promise.all(ending);
    },
  };
}

/** Files take turns at being first. @returns As `advance` of a file, of all. */
function advanceAll(files: readonly EvidenceFile[], turn: number, now: number, isSpent: () => boolean): ReturnType<EvidenceFile["advance"]> {
  let all: ReturnType<EvidenceFile["advance"]> = "done";
  for (let index = 0; index < files.length; index += 1) {
    if (isSpent()) return "behind";
    const how = (files[(turn + index) % files.length] as EvidenceFile).advance(now, isSpent);
    if (how === "behind") return how;
    if (how === "busy") all = how;
  }
  return all;
}

/** The file that is first, and has time for sure, is another one for each block. */
function evictFrom(files: readonly EvidenceFile[], block: RingBlock, share: ReturnType<typeof createTimeShare>): void {
  for (let index = 0; index < files.length; index += 1) {
    share.use((isSpent) => files[(block.sequence + index) % files.length]?.onEvict(block, isSpent));
  }
}

/** A share of the time that passes. */
function createTimeShare(clock: Pick<Clock, "monotonic">) {
  let left = EVICT_MS;
  let at = clock.monotonic();
  return {
    /** @param work What is begun gets all of the time that may be spent at once. */
    use(work: (isSpent: () => boolean) => void): void {
      const now = clock.monotonic();
      left = Math.min(EVICT_MS, left + (now - at) * EVICT_SHARE);
      const hasTime = left > 0;
      work(() => !hasTime || clock.monotonic() - now >= EVICT_MS);
      at = clock.monotonic();
      left -= at - now;
    },
  };
}

/** How many files alerts may still have. */
function createAllowance(clock: Pick<Clock, "monotonic">) {
  const filesOfAlert = new Map<string, number>();
  let left = MAX_BURST;
  let at = clock.monotonic();
  return {
    permits(alertId: string): boolean {
      const now = clock.monotonic();
      left = Math.min(MAX_BURST, left + (now - at) / REFILL_MS);
      at = now;
      return left >= 1 && (filesOfAlert.get(alertId) ?? 0) < MAX_FILES_OF_ALERT;
    },
    use(alertId: string): void {
      left -= 1;
      filesOfAlert.set(alertId, (filesOfAlert.get(alertId) ?? 0) + 1);
      for (const oldest of filesOfAlert.keys()) {
        if (filesOfAlert.size <= MAX_REMEMBERED_ALERTS) break;
        filesOfAlert.delete(oldest);
      }
    },
  };
}

/** The last times of which the ring has nothing, or not all. */
function createGapLog(clock: Pick<Clock, "now">) {
  const all: Gap[] = [];
  function add(gap: Gap): void {
    all.push(gap);
    if (all.length > MAX_GAPS) all.shift();
  }
  return {
    all: all as readonly Gap[], add,
    /** @param frames 0 where their number is not known. */
    lost(frames: number, why: string): void {
      const now = clock.now();
      const last = all.at(-1);
      // A flood goes on for a while: what it costs is one gap.
      if (last && frames > 0 && now - last.to < SAME_GAP_MS && last.reason.endsWith(why)) all[all.length - 1] = { ...last, to: now };
      else add({ from: now, to: now, reason: frames > 0 ? `frames are missing: ${why}` : why });
    },
  };
}
