import { ApiKeyCreate, parseDuration } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";

/** `ttl` as `12h` or `90d`; without it the key does not expire. */
export interface KeyOptions {
  readonly scope: readonly string[];
  readonly ttl?: string;
}

/** @param now Milliseconds since the epoch, from which the key's time counts. */
export async function createKey({ rest }: Connection, name: string, { scope, ttl }: KeyOptions, now: number): Promise<Answer> {
  const ttlMs = ttl === undefined ? null : parseDuration(ttl);
  if (ttl !== undefined && ttlMs === null) {
    throw new CliError("bad-option", `--ttl: ${JSON.stringify(ttl)} is not a duration such as 12h or 90d`);
  }
  const scopes = ApiKeyCreate.shape.scopes.safeParse(scope);
  if (!scopes.success) throw new CliError("bad-option", `--scope: ${scopes.error.issues[0]?.message ?? "not a scope"}`);
  const key = await rest.createApiKey({
    name, scopes: scopes.data, expires_at: ttlMs === null ? null : new Date(now + ttlMs).toISOString(),
  });
  return {
    json: key, text: [key.key, "", `Valid until ${key.expires_at ?? "it is revoked"}, and shown only now. Send it as X-API-Key.`].join("\n"),
  };
}
