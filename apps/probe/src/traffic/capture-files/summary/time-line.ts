/** Counts frames by time, in few steps that grow as time goes on. */
export interface TimeLine {
  /** @param at Milliseconds since the epoch. A frame of before the first one counts with the first. */
  add(at: number): void;
  /** Null while there is no frame. `steps` ends with the last one that is not empty. */
  read(): { readonly from: number; readonly stepMs: number; readonly steps: readonly number[] } | null;
}

const MAX_STEPS = 60;
const FIRST_STEP_MS = 100;
/** What the contract allows of a step: a clock that jumps by years ends in the last one. */
const MAX_STEP_MS = 86_400_000;

/** @returns At most 60 steps of 100 ms, 200 ms, 400 ms and so on, up to a day. */
export function createTimeLine(): TimeLine {
  const steps = new Float64Array(MAX_STEPS);
  let from = -1;
  let stepMs = FIRST_STEP_MS;
  let last = 0;
  const stepOf = (at: number) => Math.max(0, Math.floor((at - from) / stepMs));
  /** Makes steps twice as long. @returns False where that is not needed, or no step may be longer. */
  const grow = (at: number): boolean => {
    if (stepOf(at) < MAX_STEPS || stepMs * 2 > MAX_STEP_MS) return false;
    for (let index = 0; index < MAX_STEPS; index += 1) {
      steps[index] = index * 2 < MAX_STEPS ? (steps[index * 2] as number) + (steps[index * 2 + 1] as number) : 0;
    }
    stepMs *= 2;
    last = Math.floor(last / 2);
    return true;
  };
  /** The step of the frame before this one, and its times: the next frame is nearly always of the same. */
  let [step, stepFrom, stepUntil] = [0, 0, 0];
  return {
    add(at) {
      if (at >= stepFrom && at < stepUntil) {
        steps[step] = (steps[step] as number) + 1;
        return;
      }
      if (from < 0) from = at;
      for (let isGrown = true; isGrown;) isGrown = grow(at);
      step = Math.min(stepOf(at), MAX_STEPS - 1);
      stepFrom = from + step * stepMs;
      stepUntil = stepFrom + stepMs;
      steps[step] = (steps[step] as number) + 1;
      if (step > last) last = step;
    },
    read: () => (from < 0 ? null : { from, stepMs, steps: [...steps.subarray(0, last + 1)] }),
  };
}
