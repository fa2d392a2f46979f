import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Message } from "./payload.ts";
import type { ResolveHost } from "./resolve.ts";
import { parseRetryAfter } from "../worker/schedule.ts";
import type { Sender } from "./send.ts";
import { type SigningSecrets, signatureHeaders } from "./signatures.ts";
import type { Target, TargetPolicy } from "./target-policy.ts";

/** What one attempt came to, as it is kept. */
export interface AttemptOutcome {
  readonly requestedAt: string;
  /** 2xx. */
  readonly arrived: boolean;
  readonly statusCode: number | null;
  /** To the answer's head, or until the attempt was given up; null where nothing was sent. */
  readonly responseTimeMs: number | null;
  /** A stable code, a colon and words; null when it arrived. */
  readonly error: string | null;
  readonly excerpt: string | null;
  /** What the receiver asked for with `Retry-After`. */
  readonly retryAfterMs: number | null;
  /** It says nothing about the receiver, and trying again would not help. */
  readonly isHopeless?: true;
}

/**
 * Makes one attempt: looks up the receiver, checks where it is, signs and sends, in 10 s in all.
 * @returns Null when `stop` ended it before its outcome was known.
 */
export type Attempt = (request: {
  readonly url: string;
  readonly secrets: SigningSecrets;
  readonly message: Message;
  readonly stop: AbortSignal;
}) => Promise<AttemptOutcome | null>;

const TIME_LIMIT_MS = 10_000;

/** @param deps.userAgent Tells receivers who calls, with the version. */
export function createAttempt(deps: {
  readonly policy: TargetPolicy;
  readonly resolve: ResolveHost;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly userAgent: string;
}): Attempt {
  const { clock } = deps;
  return async ({ url, secrets, message, stop }) => {
    const startedAt = clock.monotonic();
    const now = clock.now();
    const requestedAt = toInstant(now);
    const failed = (error: string) => unanswered(requestedAt, error);
    const target = deps.policy.parse(url);
    if (typeof target === "string") return failed(`refused: the URL ${target}`);
    const found = await addressesOf(target, { resolve: deps.resolve, clock, timeLimitMs: TIME_LIMIT_MS });
    if (stop.aborted) return null;
    if (typeof found === "string") return failed(`unresolved: ${found}`);
    const checked = deps.policy.check(target, found);
    if (typeof checked === "string") return failed(`refused: the URL ${checked}`);
    const answer = await deps.sender.post({
      target, addresses: checked.addresses, body: message.body, stop,
      timeLimitMs: Math.max(1, TIME_LIMIT_MS - (clock.monotonic() - startedAt)),
      headers: {
        "content-type": "application/json", "user-agent": deps.userAgent,
        ...signatureHeaders({ ...message, timestampSeconds: Math.floor(now / 1000) }, secrets),
      },
    });
    if (answer.status === null) {
      if (answer.code === "stopped") return null;
      return { ...failed(`${answer.code}: ${answer.message}`), responseTimeMs: Math.round(clock.monotonic() - startedAt) };
    }
    const arrived = answer.status >= 200 && answer.status <= 299;
    return {
      requestedAt, arrived, statusCode: answer.status, responseTimeMs: answer.responseTimeMs, excerpt: answer.excerpt,
      error: arrived ? null : `status: ${answer.status}`, retryAfterMs: arrived ? null : parseRetryAfter(answer.retryAfter, now),
    };
  };
}

/** The outcome of an attempt without an answer. @param error A stable code, a colon and words. */
export function unanswered(requestedAt: string, error: string): AttemptOutcome {
  return { requestedAt, arrived: false, statusCode: null, responseTimeMs: null, error, excerpt: null, retryAfterMs: null };
}

/** @returns The host's addresses, or in words why there are none. */
export async function addressesOf(
  { host, address }: Target,
  { resolve, clock, timeLimitMs }: { readonly resolve: ResolveHost; readonly clock: Clock; readonly timeLimitMs: number },
): Promise<readonly string[] | string> {
  if (address !== null) return [address];
  let cancel = () => {};
  const late = new Promise<string>((answer) => {
    cancel = clock.after(timeLimitMs, () => answer("the name servers do not answer"));
  });
  try {
    const found = await Promise.race([resolve(host), late]);
    return found.length === 0 ? "the name has no address" : found;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "the name cannot be resolved";
  } finally {
    cancel();
  }
}
