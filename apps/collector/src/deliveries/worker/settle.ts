import { toInstant } from "@lanthorn/runtime";
import type { AttemptOutcome } from "../sending/attempt.ts";
import { waitAfter } from "./schedule.ts";

/** What of a webhook an attempt may change. */
export interface Standing {
  readonly active: boolean;
  readonly status: "healthy" | "failing";
  readonly failingSince: string | null;
}

/** What an e-mail tells its owner. */
export type NoticeKind = "failing" | "deactivated" | "gone";

/** What an attempt means for its delivery and its webhook. */
export interface Settled {
  readonly status: "delivered" | "failed" | "pending";
  /** When the next attempt is due; null unless `pending`. */
  readonly retryAt: string | null;
  readonly standing: Standing;
  readonly notice: NoticeKind | null;
}

/** After so long with nothing but failures a webhook is not sent to any more. */
const DEACTIVATED_AFTER_MS = 3 * 86_400_000;

/**
 * What follows from an attempt.
 *
 * The schedule counts from where the attempt began, so that a receiver that hangs is called as often as one that refuses;
 * what a receiver asks for counts from its answer.
 * @param attempt Which attempt of the delivery it was, from 1.
 * @param now When its outcome was known, milliseconds since the epoch.
 */
export function settle(standing: Standing, attempt: number, outcome: AttemptOutcome, now: number): Settled {
  if (outcome.arrived) return {
    status: "delivered", retryAt: null, standing: { ...standing, status: "healthy", failingSince: null }, notice: null,
  };
  const ended = { status: "failed", retryAt: null } as const;
  if (!standing.active || outcome.isHopeless) return { ...ended, standing, notice: null };
  if (outcome.statusCode === 410) return { ...ended, standing: { ...standing, active: false }, notice: "gone" };
  if (standing.status === "failing") {
    if (now - Date.parse(standing.failingSince ?? toInstant(now)) >= DEACTIVATED_AFTER_MS) {
      return { ...ended, standing: { ...standing, active: false }, notice: "deactivated" };
    }
    if (attempt === 1) return { ...ended, standing, notice: null };
  }
  const waitMs = waitAfter(attempt);
  if (waitMs !== null) {
    const retryAt = Math.max(Date.parse(outcome.requestedAt) + waitMs, now + (outcome.retryAfterMs ?? 0));
    return { status: "pending", retryAt: toInstant(retryAt), standing, notice: null };
  }
  if (standing.status === "failing") return { ...ended, standing, notice: null };
  return { ...ended, standing: { ...standing, status: "failing", failingSince: toInstant(now) }, notice: "failing" };
}
