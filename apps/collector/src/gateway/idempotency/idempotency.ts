import { createHash } from "node:crypto";
import { type Clock, type Log, pause } from "@lanthorn/runtime";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { createJob, type Job } from "../../jobs/job.ts";
import { actorOf, type DoOnce, type GatewayEnvironment, type SecretAnswer } from "../environment.ts";
import { ApiError } from "../errors.ts";
import type { Begun, IdempotencyStore, KeptAnswer, KeyedRequest } from "./store.ts";

const KEY = /^[\x21-\x7e]{1,255}$/;

/** A second one of a request that is still under way waits this long for the first one's answer, asking this often. */
const WAIT_MS = 25_000;
const ASK_EVERY_MS = 50;

/** What the first answer had that a client acts by. */
const KEPT_HEADERS = ["content-type", "location"] as const;

/** Not the answer to the request but to the moment: the same request may well succeed later. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 401 || status === 403 || status === 429;
}

/** Makes a POST that carries `Idempotency-Key` happen once. */
export interface Idempotency {
  readonly doOnce: DoOnce;
  /** Forgets keys that are over. */
  readonly job: Job;
}

/** Keys that are over do no harm; this only gives their room back. */
const PURGE_EVERY_MS = 3_600_000;

/**
 * The same POST again within a day gets the first answer, marked by `Idempotency-Replayed`; another body under the same key
 * is 409. Of several at once, on whichever replica, one is done and the others wait for its answer. What failed for the
 * moment's sake (no rights, too many, an error of ours) is not kept, and the next one tries.
 *
 * An answer with a secret is never kept. Where the request made the secret, the same one again is 409 and names what was
 * made; where it only showed it, it is done again.
 *
 * A collector that dies in the middle of one leaves it open for a minute; then it may be done again.
 */
export function createIdempotency(deps: { readonly store: IdempotencyStore; readonly clock: Clock; readonly log: Log }): Idempotency {
  const { store, clock } = deps;
  const job = createJob(deps, {
    name: "idempotency-keys", everyMs: PURGE_EVERY_MS, who: "each replica",
    failure: "old idempotency keys could not be deleted, trying again in an hour", run: () => store.purge(),
  });

  const begin = async (request: KeyedRequest) => {
    const giveUpAt = clock.monotonic() + WAIT_MS;
    for (;;) {
      const begun = await store.begin(request);
      if (begun.state !== "running") return begun;
      const isLate = clock.monotonic() >= giveUpAt;
      if (isLate) throw new ApiError("CONFLICT", "the same request is still in progress", { headers: { "retry-after": "5" } });
      await pause(clock, ASK_EVERY_MS);
    }
  };

  const doOnce: DoOnce = async (c, next, secret) => {
    const key = c.req.header("idempotency-key");
    const { identity } = c.var;
    const isExempt = c.req.method !== "POST" || identity === null || typeof identity === "string" || secret === "shown";
    if (key === undefined || isExempt) {
      await next();
      return undefined;
    }
    if (!KEY.test(key)) throw wrongKey();
    const request = await keyedRequest(c, key);
    const begun = await begin(request);
    if (begun.state !== "mine") return answerKnown(c, begun, { key, secret });
    let isKept = false;
    try {
      await next();
      // The answer went to nobody, and Hono does not keep it; but what was done is done, and an error takes its place.
      if (c.var.lateness !== undefined && c.error === c.var.lateness) {
        await store.keep(begun.runId, request, null);
        isKept = true;
        return undefined;
      }
      const answer = isPassing(c.res.status) ? null : await readAnswer(c.res, secret);
      if (answer === null) return undefined;
      await store.keep(begun.runId, request, answer);
      isKept = true;
      return undefined;
    } finally {
      if (!isKept) await store.release(begun.runId);
    }
  };
  return { doOnce, job };
}

function wrongKey(): ApiError {
  const message = "1 to 255 visible ASCII characters";
  return new ApiError("BAD_REQUEST", `Idempotency-Key: ${message}`, { details: [{ path: "Idempotency-Key", message }] });
}

/** What is said to a request that came before. @throws ApiError CONFLICT where its answer cannot be given again. */
function answerKnown(
  c: Context<GatewayEnvironment>, begun: Exclude<Begun, { readonly state: "mine" | "running" }>,
  { key, secret }: { readonly key: string; readonly secret: SecretAnswer | null },
): Response {
  const details = { idempotency_key: key };
  if (begun.state === "other") throw new ApiError("CONFLICT", "this Idempotency-Key was used for another request", { details });
  if (begun.state === "unreadable") throw new ApiError("CONFLICT", "this request was already done, but its answer was lost", { details });
  const { status, headers: { location } } = begun.answer;
  if (secret !== null && status < 400) {
    throw new ApiError("CONFLICT", "this request was already done; its answer contained a secret and was not stored: read what it created, or create another", {
      details: { ...details, ...(location !== undefined && { location }) },
    });
  }
  return replay(c, begun.answer);
}

async function keyedRequest(c: Context<GatewayEnvironment>, key: string): Promise<KeyedRequest> {
  const { tenantId, type, id } = actorOf(c);
  const { pathname, search } = new URL(c.req.url);
  // Hono keeps what was read, for whoever answers.
  const body = new Uint8Array(await c.req.arrayBuffer());
  const fingerprint = createHash("sha256").update(`${c.req.method} ${pathname}${search}\n`).update(body).digest("hex");
  return { tenantId, caller: `${type} ${id}`, key, fingerprint };
}

/** @returns Null for what is no JSON, a stream or a file: nothing that a POST here makes. */
async function readAnswer(response: Response, secret: SecretAnswer | null): Promise<KeptAnswer | null> {
  const { status, headers } = response;
  if (response.body !== null && !headers.get("content-type")?.startsWith("application/json")) return null;
  const kept = KEPT_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  if (secret !== null && status < 400) return { status, headers: Object.fromEntries(kept), body: null };
  const body = response.body === null ? null : Buffer.from(await response.clone().arrayBuffer()).toString("base64");
  return { status, headers: Object.fromEntries(kept), body };
}

function replay(c: Context<GatewayEnvironment>, { status, headers, body }: KeptAnswer): Response {
  const all = { ...headers, "idempotency-replayed": "true" };
  if (body === null) return c.newResponse(null, { status: status as ContentfulStatusCode, headers: all });
  return c.body(new Uint8Array(Buffer.from(body, "base64")), status as ContentfulStatusCode, all);
}
