import { v7 } from "uuid";

/** A new UUIDv7: later ones sort after earlier ones. @see RFC 9562 section 5.7 */
export function createId(): string {
  return v7();
}

/** A moment as it crosses processes: ISO 8601, UTC, milliseconds. */
export function toInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
