/** One server that questions are forwarded to: how it is asked, how fast it answers, whether it does at all. */
import { DNS_RESPONSE_CODE } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type Answer, prepareAnswer } from "../messages/answer.ts";
import type { Question } from "../messages/question.ts";
import { createCookieJar } from "./cookie-jar.ts";
import type { Exchange, Exchanged, ExchangeProblem, FillRandom } from "./exchange.ts";
import { createHttpsExchange } from "./https-exchange.ts";
import type { UpstreamSettings } from "./settings.ts";
import { createStreamExchange } from "./stream-exchange.ts";
import { createUdpExchange } from "./udp-exchange.ts";

/** What a server said: an answer that is good (or says that there is none), a refusal, or nothing. */
export type Asked =
  | { readonly kind: "answer" | "refusal"; readonly answer: Answer }
  | { readonly kind: "nothing"; readonly problem: ExchangeProblem };

/** One server. */
export interface Upstream {
  /** For people: `udp 192.0.2.53:53`. */
  readonly label: string;
  /** Milliseconds until it usually answers, smoothed; of one that was never asked, a guess. */
  readonly usualMs: number;
  /** It did not answer several times in a row, and is asked only now and then until it does. */
  readonly isDown: boolean;
  /** When one that is down may be tried again, by the monotonic clock. */
  readonly retryAt: number;
  readonly counts: Readonly<UpstreamCounts>;
  ask(question: Question, timeoutMs: number): Promise<Asked>;
  close(): void;
}

/** Since the start. */
export interface UpstreamCounts {
  asked: number;
  answered: number;
  refused: number;
  failed: number;
  /** By TCP, because an answer was too large, or letters came back in another case. */
  byTcp: number;
}

/** So many failures in a row. */
const FAILURES_UNTIL_DOWN = 3;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;
/** Of a new answer in the smoothed time. RFC 6298 section 2. */
const SMOOTHING = 1 / 8;
const FIRST_GUESS_MS = 50;
/** After so many answers in other letters, the server is asked without mixing them: by UDP it can be, again. */
const MOST_OTHER_CASE = 8;

/** What opens servers. */
export interface UpstreamMeans {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  readonly fillRandom: FillRandom;
}

/** @returns A server that nothing was asked of yet. */
export function createUpstream(settings: UpstreamSettings, means: UpstreamMeans): Upstream {
  const counts: UpstreamCounts = { asked: 0, answered: 0, refused: 0, failed: 0, byTcp: 0 };
  const exchange = settings.protocol === "udp" ? createDatagramsFirst(settings, means, counts) : createExchange(settings, means);
  let usualMs = FIRST_GUESS_MS;
  let failures = 0;
  let retryAt = 0;
  return {
    label: `${settings.protocol} ${settings.name ?? settings.address}:${settings.port}`,
    get usualMs() {
      return usualMs;
    },
    get isDown() {
      return failures >= FAILURES_UNTIL_DOWN;
    },
    get retryAt() {
      return retryAt;
    },
    counts,
    async ask(question, timeoutMs) {
      const startedAt = means.clock.monotonic();
      counts.asked += 1;
      const exchanged = await exchange.ask(question, timeoutMs);
      const asked = judge(exchanged);
      const tookMs = means.clock.monotonic() - startedAt;
      if (asked.kind === "nothing") {
        counts.failed += 1;
        failures += 1;
        usualMs = Math.min(timeoutMs, usualMs * 2);
        retryAt = means.clock.monotonic() + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.max(0, failures - FAILURES_UNTIL_DOWN));
        return asked;
      }
      counts[asked.kind === "answer" ? "answered" : "refused"] += 1;
      failures = 0;
      usualMs += (tookMs - usualMs) * SMOOTHING;
      return asked;
    },
    close: () => exchange.close(),
  };
}

function judge(exchanged: Exchanged): Asked {
  if (typeof exchanged === "string") return { kind: "nothing", problem: exchanged };
  const prepared = prepareAnswer(exchanged);
  if (!prepared) return { kind: "nothing", problem: "broken" };
  const { responseCode, answer } = prepared;
  const isGood = responseCode === DNS_RESPONSE_CODE.noError || responseCode === DNS_RESPONSE_CODE.nameError;
  return { kind: isGood ? "answer" : "refusal", answer };
}

function createExchange(settings: UpstreamSettings, means: UpstreamMeans): Exchange {
  const { protocol, address, port, name, path, authorities } = settings;
  const trusted = authorities === undefined ? {} : { authorities };
  if (protocol === "https") return createHttpsExchange({ address, port, name: name ?? address, path, ...trusted, ...means });
  return createStreamExchange({ address, port, name: protocol === "tls" ? name ?? address : null, ...trusted, ...means });
}

/** By UDP, and by TCP what does not fit there or looks as if somebody else had answered. */
function createDatagramsFirst(settings: UpstreamSettings, means: UpstreamMeans, counts: UpstreamCounts): Exchange {
  let otherCases = 0;
  const plainCase = () => otherCases >= MOST_OTHER_CASE;
  const datagrams = createUdpExchange({ ...settings, ...means, cookies: createCookieJar(means.fillRandom), plainCase });
  const stream = createExchange({ ...settings, protocol: "tcp" }, means);
  return {
    async ask(question, timeoutMs) {
      const startedAt = means.clock.monotonic();
      const exchanged = await datagrams.ask(question, timeoutMs);
      if (exchanged === "other-case") otherCases += 1;
      else if (typeof exchanged !== "string" && !plainCase()) otherCases = 0;
      if (exchanged !== "truncated" && exchanged !== "other-case") return exchanged;
      counts.byTcp += 1;
      return stream.ask(question, Math.max(1, timeoutMs - (means.clock.monotonic() - startedAt)));
    },
    close() {
      datagrams.close();
      stream.close();
    },
  };
}
