import * as z from "zod";
import { isRecipient } from "../../backups/format/age-keys.ts";
import { splitAtCommas } from "../../configuration-values.ts";
import { parseSchedule } from "./schedule.ts";

const Recipients = z.preprocess(splitAtCommas, z.array(z.string().refine((text) => isRecipient(text.trim()), {
  error: "a public key, age1…, as lanthorn-collector backups key makes it",
})).max(16));

/** `[backups]`: For whom backups are made, and when. */
export const BackupsSettings = z.strictObject({
  /** Public keys that backups are made for; who has one of the private keys can open them. Without any here those count that
   * `lanthorn-collector backups recipients` has set. */
  recipients: Recipients.default([]),
  /** Whether the deployment's own keys are in its backups too: who opens one then has everything at once. */
  include_keys: z.boolean().default(false),
  /** Without one they lie in the data directory. */
  directory: z.string().min(1).optional(),
  /** Minute, hour, day of month, month, day of week, in the machine's own time zone. */
  schedule: z.string().max(100).refine((pattern) => parseSchedule(pattern) !== null, "a cron pattern of five parts, as 30 3 * * *")
    .optional(),
  /** Of scheduled ones; 7. */
  keep: z.int().min(1).max(10_000).optional(),
  /** PostgreSQL alone: the folder with `pg_dump` and `pg_restore`, where that is not on the path or of an older version. */
  postgres_bin: z.string().min(1).optional(),
  /** The operator's own tenant, by its id, where that is not the first one. */
  tenant: z.uuid().optional(),
}).prefault({});
export type BackupsSettings = z.infer<typeof BackupsSettings>;
