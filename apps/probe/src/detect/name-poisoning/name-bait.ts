import { createLink } from "../../capture/link.ts";
import { encodeNameQuestions } from "../../egress/name-questions.ts";
import type { GuardDeps } from "../guard.ts";

/** Asks now and then for a name that nobody has. */
export interface NameBait {
  /** Somebody has asked for a name, or begun to listen for such questions: a poisoner has something to answer. */
  hint(): void;
  /** Asks in the next moment, whatever was asked before. */
  confirm(): void;
  /** @param now Monotonic milliseconds. @param pauseMs At most so long from one question to the next. */
  tick(now: number, pauseMs: number): void;
}

const LETTERS = "bcdfghjklmnpqrstvwxz";
const MIN_LETTERS = 10;
const FIRST_AFTER_MS = 2000;
/** Without a hint; half of it is drawn by lot. */
const PAUSE_MS = 90_000;
/** From one question to the next upon a hint. */
const HINT_PAUSE_MS = 2000;
/** Hints that are followed at once; another one each `REFILL_MS`, so that a chatty link is not asked without end. */
const MAX_HINTS = 6;
const REFILL_MS = 20_000;
/** From one confirmation to the next. */
const CONFIRM_PAUSE_MS = 400;

/** Questions are few: one in a minute or so, and after a hint one within half a second. */
export function createNameBait({ probes, random, link, clock }: Pick<GuardDeps, "probes" | "random" | "link" | "clock">): NameBait {
  let asked = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  let dueAt = clock.monotonic() + FIRST_AFTER_MS;
  let hints = MAX_HINTS;
  let refilledAt = clock.monotonic();

  /** Another name each time, even from a random source that repeats itself. */
  function drawLabel(): string {
    const length = MIN_LETTERS + Math.floor(random() * 5);
    return Array.from({ length }, (_, at) => LETTERS[(Math.floor(random() * LETTERS.length) + asked * (at + 1)) % LETTERS.length]).join("");
  }
  function refill(now: number): void {
    const gained = Math.floor((now - refilledAt) / REFILL_MS);
    if (gained <= 0) return;
    hints = Math.min(MAX_HINTS, hints + gained);
    refilledAt += gained * REFILL_MS;
  }
  return {
    hint() {
      const at = Math.max(clock.monotonic(), askedAt + HINT_PAUSE_MS);
      if (hints === 0 || dueAt <= at) return;
      hints -= 1;
      dueAt = at;
    },
    confirm() {
      dueAt = Math.min(dueAt, Math.max(clock.monotonic(), askedAt + CONFIRM_PAUSE_MS));
    },
    tick(now, pauseMs) {
      refill(now);
      if (now < Math.min(dueAt, askedAt + pauseMs)) return;
      const own = createLink(link());
      askedAt = now;
      dueAt = now + PAUSE_MS * (0.5 + random() / 2);
      if (!own) return;
      asked += 1;
      for (const frame of encodeNameQuestions(own, { id: Math.floor(random() * 0x1_0000), label: drawLabel() })) probes.send(frame);
    },
  };
}
