import type { Clock } from "@lanthorn/runtime";
import type { AlertNotice, Gap, ProcessCounters } from "../messages.ts";

/** Alerts that a process that is started again is given once more, and gaps that it learns of. */
const MAX_ALERTS = 64;
const MAX_GAPS = 16;
const MAX_REASON = 255;
const MAX_RECORDED_A_MINUTE = 600;

/** A time without a recording; it goes on while `to` is null. Milliseconds since the epoch. */
interface OpenGap {
  readonly from: number;
  readonly to: number | null;
  readonly reason: string;
}

/** The last times in which nothing was recorded. Each begins with the last word of the process that ended. */
export function createGaps(clock: Pick<Clock, "now">) {
  const gaps: OpenGap[] = [];
  let heardAt = clock.now();
  const last = () => gaps.at(-1) ?? null;
  return {
    last,
    begin(reason: string): void {
      if (last()?.to === null) return;
      gaps.push({ from: heardAt, to: null, reason: reason.slice(0, MAX_REASON) });
      if (gaps.length > MAX_GAPS) gaps.shift();
    },
    /** The process has said something. @returns Whether a gap is over by that. */
    end(): boolean {
      heardAt = clock.now();
      const open = last();
      if (open?.to !== null) return false;
      gaps[gaps.length - 1] = { ...open, to: heardAt };
      return true;
    },
    known: (): Gap[] => gaps.map(({ from, to, reason }) => ({ from, to: to ?? clock.now(), reason })),
    /** How many there were within so many milliseconds. */
    since: (recentMs: number) => gaps.filter(({ to }) => to === null || clock.now() - to < recentMs).length,
  };
}

/** Alerts that still go on, each once. */
export function createAlertMemory(afterMs: number, clock: Pick<Clock, "now">) {
  let alerts: AlertNotice[] = [];
  return {
    add(notice: AlertNotice): void {
      alerts = [...alerts.filter(({ alert_id: id }) => id !== notice.alert_id), notice].slice(-MAX_ALERTS);
    },
    recent(): readonly AlertNotice[] {
      alerts = alerts.filter(({ at }) => at >= clock.now() - afterMs);
      return alerts;
    },
  };
}

/** A process that says more than files can be made of is not listened to: it says it again. @returns Whether one more may be taken. */
export function createAllowance(clock: Pick<Clock, "monotonic">): () => boolean {
  let recorded = { minute: 0, count: 0 };
  return () => {
    const minute = Math.floor(clock.monotonic() / 60_000);
    recorded = recorded.minute === minute ? { minute, count: recorded.count + 1 } : { minute, count: 1 };
    return recorded.count <= MAX_RECORDED_A_MINUTE;
  };
}

/** Adds up what processes count one after the other. */
export function createSums() {
  let before = { frames: 0, dropped: 0, shed: 0 };
  let now = { frames: 0, dropped: 0, shed: 0 };
  const add = () => ({ frames: before.frames + now.frames, dropped: before.dropped + now.dropped, shed: before.shed + now.shed });
  return {
    note({ interfaces, shed, dropped_by_probe: byProbe }: ProcessCounters): void {
      now = {
        frames: interfaces.reduce((sum, { frames }) => sum + frames, 0),
        dropped: interfaces.reduce((sum, { dropped_by_kernel: byKernel }) => sum + byKernel, byProbe),
        shed: shed.reduce((sum, { frames }) => sum + frames, 0),
      };
    },
    endProcess(): void {
      before = add();
      now = { frames: 0, dropped: 0, shed: 0 };
    },
    read: add,
  };
}
