import { type Clock, systemClock } from "@lanthorn/runtime";

/** Before the first frame there is no time: the machine's would make two replays differ. */
export const NO_TIME: Clock = { ...systemClock, now: () => 0, monotonic: () => 0 };

/** What the last frames brought is published by then, as it would be on a link that has fallen silent. */
export const SETTLE_MS = 10_000;

/** Nothing is sent, and so nothing is drawn that matters: the same file gives the same events. */
export const NOT_RANDOM = () => 0.5;
