import { openDatabase } from "../db/open.ts";
import { openKeyring } from "./keyring.ts";
import { type KeptSecrets, secretsInDatabase, secretsInFiles } from "./kept-secrets.ts";
import { createSealing } from "./sealing.ts";

/** Where a deployment keeps its secrets: these parts of its configuration. */
export interface SecretsLocation {
  readonly data_dir: string;
  readonly database_location: Parameters<typeof openDatabase>[0];
  readonly sealing_key?: Parameters<typeof openKeyring>[1];
}

/** Calls `work` with a deployment's secrets, as a running collector has them, for a command beside it. */
export async function usingSecrets<T>(
  {
    data_dir: dataDir, database_location: location, sealing_key: key,
  }: SecretsLocation, work: (secrets: KeptSecrets, dataDir: string) => Promise<T>,
): Promise<T> {
  if ("file" in location) return work(secretsInFiles(dataDir), dataDir);
  const { db, close } = await openDatabase(location);
  try {
    return await work(secretsInDatabase({ db, sealing: createSealing(openKeyring(dataDir, key)), dataDir }), dataDir);
  } finally {
    await close();
  }
}
