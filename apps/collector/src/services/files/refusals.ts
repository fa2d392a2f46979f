import { type FileRefusal } from "@lanthorn/contract";
import { ApiError } from "../../gateway/errors.ts";

/** A file that was damaged so often is damaged at the probe. */
export const MAX_ATTEMPTS = 3;
const RETRY_SECONDS = 3600;

/** CONFLICT with its reason. @param details More for the probe, such as the offset to go on from. */
export function conflict(reason: FileRefusal, message: string, details: object = {}): ApiError {
  return new ApiError("CONFLICT", message, { details: { reason, ...details } });
}

/** RATE_LIMITED with its reason. @param seconds When the probe may try again. */
export function refuse(reason: FileRefusal, message: string, seconds = RETRY_SECONDS): ApiError {
  return new ApiError("RATE_LIMITED", message, { details: { reason }, headers: { "retry-after": String(seconds) } });
}

/** CONFLICT for a file that was damaged too often. */
export function givenUp(): ApiError {
  return conflict("given-up", `the file was damaged ${MAX_ATTEMPTS} times; begin it under a new id`);
}

/** SERVICE_UNAVAILABLE for a disk that is full. @param cause What the disk or the database said, where it was asked. */
export function diskFull(cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", "the collector's disk has no room for the file; free some, the probe tries again", {
    details: { reason: "disk-full" satisfies FileRefusal }, headers: { "retry-after": "600" }, ...(cause === undefined ? {} : { cause }),
  });
}
