import { join } from "node:path";
import type { Kysely } from "kysely";
import { readTextFile } from "@lanthorn/runtime";
import { writeSecretFile } from "./secret-file.ts";
import type { Schema } from "../db/schema.ts";
import { ownerOfKeptSecret } from "./sealed-columns.ts";
import type { Sealing } from "./sealing.ts";
import { addSealed, readSealed, replaceSealed } from "./kept-secrets-store.ts";

/** Secrets that a deployment makes for itself, once. */
export interface KeptSecrets {
  /** @param make Makes it where there is none yet. @returns The one that counts, also for whoever makes one at the same moment. */
  keep(name: SecretName, make: () => Promise<string>): Promise<string>;
  /** Puts another in its place; who has read it goes on with the old one. @returns False where there is none yet: none is made. */
  replace(name: SecretName, secret: string): Promise<boolean>;
}

type SecretName = "ca.pem" | "token-secret" | "backup-signing.pem";

/** Each in a file of the data directory: for one process. */
export function secretsInFiles(dataDir: string): KeptSecrets {
  return {
    async keep(name, make) {
      const path = join(dataDir, name);
      const known = readTextFile(path);
      if (known !== null) return known;
      writeSecretFile(path, await make(), { replace: false });
      return readTextFile(path) ?? "";
    },
    async replace(name, secret) {
      const path = join(dataDir, name);
      return readTextFile(path) !== null && writeSecretFile(path, secret, { replace: true });
    },
  };
}

/**
 * Each in the database, sealed: for several processes, that share nothing but the database and the sealing key. One that lies in
 * the data directory, from the time of one process, becomes everybody's.
 * @throws CollectorError `secret-unreadable` where this process has another sealing key.
 */
export function secretsInDatabase(deps: { readonly db: Kysely<Schema>; readonly sealing: Sealing; readonly dataDir: string }): KeptSecrets {
  const { db, sealing, dataDir } = deps;
  const find = async (id: string) => {
    const sealed = await readSealed(db, id);
    return sealed === undefined ? null : sealing.open(sealed, ownerOfKeptSecret(id));
  };
  return {
    async keep(name, make) {
      const known = await find(name);
      if (known !== null) return known;
      const made = readTextFile(join(dataDir, name)) ?? (await make());
      await addSealed(db, name, sealing.seal(made, ownerOfKeptSecret(name)));
      return (await find(name)) ?? made;
    },
    replace: (name, secret) => replaceSealed(db, name, sealing.seal(secret, ownerOfKeptSecret(name))),
  };
}
