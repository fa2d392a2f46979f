import { createReadStream, mkdirSync, rmSync } from "node:fs";
import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import type { ProcessTask } from "../jobs/process.ts";
import { parseIdentities, parseRecipients } from "./format/age-keys.ts";
import { createDatabaseTools } from "./database-tools.ts";
import type { ProgramsSettings } from "./postgres/programs.ts";
import { createSigner } from "./format/signing.ts";
import { unpackBackup } from "./read-backup.ts";
import { workFolderOf, writeBackup } from "./write-backup.ts";

const Location = z.union([z.strictObject({ file: z.string() }), z.object({ url: z.string() })]);
/** The folder with PostgreSQL's own programs. */
const PostgresBin = z.string().optional();

/**
 * Work on a backup, which a process of its own does: reading and compressing gigabytes would keep the collector from
 * everything else.
 */
export const BackupJob = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("write"),
    id: z.string(), version: z.string(), createdAt: z.string(), dataDir: z.string(), database: Location,
    secrets: z.record(z.string(), z.string()), recipients: z.array(z.string()), directory: z.string(), name: z.string(),
    postgresBin: PostgresBin, includeKeys: z.boolean(),
    /** Private, PEM. */
    signingKey: z.string(),
  }),
  z.strictObject({ kind: z.literal("checksum"), file: z.string() }),
  z.strictObject({
    kind: z.literal("restore"), id: z.string(), file: z.string(), directory: z.string(), database: Location, identities: z.string(),
    postgresBin: PostgresBin,
    /** Of the file, in hexadecimal: what is another one is not looked into. */
    sha256: z.string(),
  }),
]);
export type BackupJob = z.infer<typeof BackupJob>;

/** What a job has found. Of a restored one nothing is left: that it could be is what was asked. */
export const JobResult = z.object({
  sha256: z.string(), sizeBytes: z.int(), tables: z.int().optional(), rows: z.int().optional(),
});
export type JobResult = z.infer<typeof JobResult>;

/**
 * @param environment Of this process, for those that it starts.
 * @throws CollectorError as `writeBackup` and `unpackBackup`.
 */
export async function doBackupJob(job: BackupJob, environment: ProgramsSettings["environment"] = {}): Promise<JobResult> {
  const toolsOf = (
    { database, postgresBin }: Exclude<BackupJob, { readonly kind: "checksum" }>
  ) => createDatabaseTools(database, { folder: postgresBin, environment });
  switch (job.kind) {
    case "write": {
      return writeBackup({ ...job, recipients: parseRecipients(job.recipients), signer: createSigner(job.signingKey) }, toolsOf(job));
    }
    case "checksum": {
      return hashFile(job.file);
    }
    case "restore": {
      const folder = workFolderOf(job);
      mkdirSync(folder, { mode: 0o700 });
      try {
        const identities = parseIdentities(job.identities);
        // A dump is statements, which the server carries out: only those of the file that was made here, which its checksum says.
        const found = await hashFile(job.file);
        if (found.sha256 === job.sha256) {
          await unpackBackup(createReadStream(job.file), { opener: { identities }, trust: "unsigned" }, folder, toolsOf(job));
        }
        return found;
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
    default: {
      return job satisfies never;
    }
  }
}

/** The same in a process of its own. */
export const backupTask: ProcessTask<BackupJob, JobResult> = {
  command: "backup-job", input: BackupJob, result: JobResult, run: doBackupJob,
  codes: ["backup-failed", "backup-unreadable", "backup-key-unusable", "backup-untrusted", "database-newer", "database-unreachable"],
  clear(job) {
    if (job.kind !== "checksum") rmSync(workFolderOf(job), { recursive: true, force: true });
  },
};

/** Does a job and says what came of it. @throws CollectorError with the reason; `backup-failed` when it was aborted. */
export type RunBackupJob = (job: BackupJob, stopped: AbortSignal) => Promise<JobResult>;

async function hashFile(file: string): Promise<JobResult> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  await pipeline(createReadStream(file), async (bytes: AsyncIterable<Uint8Array>) => {
    for await (const chunk of bytes) {
      sizeBytes += chunk.length;
      hash.update(chunk);
    }
  });
  return { sha256: hash.digest("hex"), sizeBytes };
}
