import { createLink } from "../../capture/link.ts";
import { encodeNameQuestions, NAME_PROTOCOLS, type NameProtocol } from "../../egress/name-questions.ts";
import type { GuardDeps } from "../guard.ts";

/** Asks now and then for a name that nobody has. */
export interface NameBait {
  /** Somebody has asked for a name in this way, or begun to listen for such questions: a poisoner has something to answer. */
  hint(protocol: NameProtocol): void;
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
/** From one question to the next upon a hint. A poisoner is seen by two answers, within five seconds of the first question that he could answer. */
const HINT_PAUSE_MS = 2000;
/** Confirmations that are asked at once; another one each `REFILL_MS`, so that no answer brings questions without end. */
const MAX_CONFIRMATIONS = 6;
const REFILL_MS = 20_000;
/** From one confirmation to the next. */
const CONFIRM_PAUSE_MS = 400;

/**
 * Questions are few: in all ways one in a minute or so, and after a hint, within half a second, in the ways in which others ask: one in two
 * seconds for each.
 */
export function createNameBait({ probes, random, link, clock }: Pick<GuardDeps, "probes" | "random" | "link" | "clock">): NameBait {
  let asked = 0;
  let askedAt = clock.monotonic() - HINT_PAUSE_MS;
  /** The next question in all ways, and the next after a hint. */
  let dueAt = clock.monotonic() + FIRST_AFTER_MS;
  let hintedAt = Number.POSITIVE_INFINITY;
  const hinted = new Set<NameProtocol>();
  let confirmations = MAX_CONFIRMATIONS;
  let refilledAt = clock.monotonic();

  /** Another name each time, even from a random source that repeats itself. */
  function drawLabel(): string {
    const length = MIN_LETTERS + Math.floor(random() * 5);
    return Array.from({ length }, (_, at) => LETTERS[(Math.floor(random() * LETTERS.length) + asked * (at + 1)) % LETTERS.length]).join("");
  }
  function refill(now: number): void {
    const gained = Math.floor((now - refilledAt) / REFILL_MS);
    if (gained <= 0) return;
    confirmations = Math.min(MAX_CONFIRMATIONS, confirmations + gained);
    refilledAt += gained * REFILL_MS;
  }
  function want(protocol: NameProtocol, pauseMs: number): void {
    hinted.add(protocol);
    hintedAt = Math.min(hintedAt, Math.max(clock.monotonic(), askedAt + pauseMs));
  }
  function ask(protocols: readonly NameProtocol[]): void {
    const own = createLink(link());
    if (!own) return;
    asked += 1;
    for (const frame of encodeNameQuestions(own, { id: Math.floor(random() * 0x1_0000), label: drawLabel(), protocols })) probes.send(frame, true);
  }
  return {
    hint: (protocol) => want(protocol, HINT_PAUSE_MS),
    confirm() {
      if (confirmations === 0) return;
      confirmations -= 1;
      for (const protocol of NAME_PROTOCOLS) want(protocol, CONFIRM_PAUSE_MS);
    },
    tick(now, pauseMs) {
      refill(now);
      const isDue = now >= Math.min(dueAt, askedAt + pauseMs);
      if (!isDue && now < hintedAt) return;
      const protocols = isDue ? NAME_PROTOCOLS : [...hinted];
      if (isDue) dueAt = now + PAUSE_MS * (0.5 + random() / 2);
      askedAt = now;
      hintedAt = Number.POSITIVE_INFINITY;
      hinted.clear();
      ask(protocols);
    },
  };
}
