import { ApiError } from "../../gateway/errors.ts";
import type { CommandedProbe } from "./store/commands-store.ts";

/** SERVICE_UNAVAILABLE that is an answer like others. */
export function unavailable(message: string): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", message, { details: { reason: message }, headers: { "retry-after": "10" }, isOrdinary: true });
}

const noted = new WeakSet();

/** The audit log has this refusal already. @returns The same error. */
export function markNoted<T>(error: T): T {
  if (error instanceof Error) noted.add(error);
  return error;
}

/** Whether the audit log has it. */
export function isNoted(error: Error | undefined): boolean {
  return error !== undefined && noted.has(error);
}

/** Why nothing can be asked of a probe that is not online. */
export function whereIs({ name, state, silent_since: since }: CommandedProbe): string {
  return state === "silent" ? `the probe ${name} is silent since ${since ?? "long"}` : `the probe ${name} has never connected`;
}
