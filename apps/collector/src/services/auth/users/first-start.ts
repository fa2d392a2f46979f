import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { writeSecretFile } from "../../../sealing/secret-file.ts";
import type { Passwords } from "../login/passwords.ts";
import type { AuthStore } from "../store.ts";
import { newUser } from "./service.ts";

interface FirstStart {
  readonly username: string;
  /** Null when the password was given and not made. */
  readonly generated: { readonly password: string; readonly file: string } | null;
}

/**
 * In a database without users: makes a tenant, a site and the user `admin`. A password that is made here is written to
 * `<dataDir>/admin-password`, readable by its owner only, before the user is, so that no crash leaves a user whom nobody can be.
 * @param deps.siteConfiguration The settings of a new site's probes, as JSON text.
 * @returns Null when there are users already.
 */
export async function prepareFirstStart(deps: {
  readonly store: AuthStore;
  readonly passwords: Pick<Passwords, "hash">;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly password: string | undefined;
  readonly siteConfiguration: string;
}): Promise<FirstStart | null> {
  if (await deps.store.anyUser()) return null;
  const username = "admin";
  const password = deps.password ?? randomBytes(18).toString("base64url");
  const file = join(deps.dataDir, "admin-password");
  if (deps.password === undefined) writeSecretFile(file, `${password}\n`, { replace: true });
  const createdAt = toInstant(deps.clock.now());
  const tenantId = createId();
  const isFirst = await deps.store.createFirst({
    tenant: { id: tenantId, name: "default", created_at: createdAt },
    site: { id: createId(), tenant_id: tenantId, name: "default", probe_configuration: deps.siteConfiguration, created_at: createdAt },
    user: newUser({ tenantId, username, hash: await deps.passwords.hash(password), role: "admin", email: null, now: deps.clock.now() }),
  });
  if (!isFirst) {
    // Another collector on the same database has been first, and its password counts.
    if (deps.password === undefined) rmSync(file, { force: true });
    return null;
  }
  return { username, generated: deps.password === undefined ? { password, file } : null };
}
