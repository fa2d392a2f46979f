import { statfs } from "node:fs/promises";
import { healthOperations, HealthResponse } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { databaseAnswers } from "../db/answers.ts";
import { isPostgres } from "../db/row-locks.ts";
import type { Schema } from "../db/schema.ts";
import type { RunningJobs } from "../jobs/start-jobs.ts";
import { endpointsOf } from "./endpoint.ts";
import { json } from "./route.ts";

/** How one part of the collector is. One degraded part makes `/health` answer 503. */
export interface PartState {
  readonly status: "ok" | "degraded";
  /** For who operates the collector; it is shown without a token, so it names no host, user or path. */
  readonly detail: string;
}

/** How each part is, by its name. A part that throws is degraded. */
export type HealthParts = Readonly<Record<string, () => PartState | Promise<PartState>>>;

interface HealthDependencies {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly parts: HealthParts;
}

const { endpoint, routes } = endpointsOf<HealthDependencies>();

/** `/health`. */
export const healthRoutes = routes(
  endpoint("anyone", healthOperations.readHealth, {
    summary: "Read whether the collector works", answer: "Every part works",
    also: { 503: { description: "A part does not work", content: json(HealthResponse) } },
  }, async (c, { version, clock, log, parts }) => {
    const states = await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await stateOf(name, part, log)] as const));
    const status = states.every(([, { status }]) => status === "ok") ? "ok" : "degraded";
    return c.json({ status, version, time: toInstant(clock.now()), parts: Object.fromEntries(states) }, status === "ok" ? 200 : 503);
  }),
);

async function stateOf(name: string, part: HealthParts[string], log: Log): Promise<PartState> {
  try {
    return await part();
  } catch (error) {
    log.error({ part: name, reason: describeError(error) }, "a part does not work");
    return { status: "degraded", detail: "does not answer; see the log" };
  }
}

/** A part whose own words for what is wrong may name hosts and paths: those are in the log. */
export function withoutReason(part: () => PartState): () => PartState {
  return () => {
    const { status, detail } = part();
    return { status, detail: status === "ok" ? detail : "does not work now; see the log" };
  };
}

/** Both connections answer. */
export function databaseHealth(handles: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): HealthParts[string] {
  return async () => {
    await databaseAnswers(handles);
    return { status: "ok", detail: "answers" };
  };
}

/** Whether this process's own work with the database moves. A server that is away does not come back by starting the process again. */
export async function databaseMoves(handles: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): Promise<boolean> {
  if (isPostgres(handles.db)) return true;
  await databaseAnswers(handles);
  return true;
}

/** One failure is a database that was away for a moment. */
const MAX_JOB_FAILURES = 3;

/** Degraded while a repeated job has failed several times in a row. A failed request is reported to the one who made it. */
export function jobsHealth(jobs: Pick<RunningJobs, "list">): HealthParts[string] {
  return () => {
    const all = jobs.list();
    const failing = all.filter(({ where, failures }) => where === "loop" && failures >= MAX_JOB_FAILURES).map(({ name }) => name);
    if (failing.length === 0) return { status: "ok", detail: `${all.length} jobs run` };
    return { status: "degraded", detail: `failing: ${failing.join(", ")}; the log tells why` };
  };
}

/** Below this, SQLite's log, a migration or a backup may no longer find room. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/** Room where the data lies. */
export function diskHealth(dataDir: string): HealthParts[string] {
  return async () => {
    const { bavail, blocks, bsize } = await statfs(dataDir);
    const free = bavail * bsize;
    const detail = `${(free / 2 ** 30).toFixed(1)} of ${((blocks * bsize) / 2 ** 30).toFixed(1)} GiB free`;
    return { status: free < MIN_FREE_BYTES ? "degraded" : "ok", detail };
  };
}
