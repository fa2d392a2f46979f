import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { z } from "@hono/zod-openapi";
import { backupsOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { BackupsService } from "./service.ts";

const { endpoint, routes } = endpointsOf<BackupsService>();

/** `/backups`. */
export const backupsRoutes = routes(
  endpoint("backups:write", backupsOperations.startBackup, {
    summary: "Start a backup of the whole deployment",
    description: "It holds every tenant's data, encrypted to the public keys that were set on the collector's machine (without one: 409): only "
    + "users of the operator's own tenant start and see backups. When it is written, it is read back, restored into a scratch database and its rows are counted; only then it is `completed`. "
    + "`backup.completed` and `backup.failed` tell how it ended.",
    answer: "The backup, running",
  }, async (c, service) => {
    const backup = await service.start(actorOf(c));
    return c.json(backup, 202, { location: `/api/v1/backups/${backup.id}` });
  }),
  endpoint("backups:read", backupsOperations.listBackups, {
    summary: "List backups, newest first", answer: "Backups; none to other tenants than the operator's",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  // Before the route of one backup, which would take the word for an id.
  endpoint("backups:read", backupsOperations.readBackupSettings, {
    summary: "Read the backup schedule and the public keys", answer: "What applies now",
  }, async (c, service) => c.json(await service.settings(identityOf(c).tenantId), 200)),
  endpoint("backups:write", backupsOperations.updateBackupSettings, {
    summary: "Set the backup schedule",
    description: "Fields left out stay. Settings of the collector's configuration file are listed in `fixed`, and can be changed there only: "
    + "409. The public keys that backups are encrypted to are set on the collector's machine only, in its configuration or by "
    + "`lanthorn-collector backups recipients`: who could set them here could read every tenant's data.",
    example: { schedule: "30 3 * * *", keep: 14 }, answer: "What applies now",
  }, async (c, service) => c.json(await service.changeSettings(actorOf(c), c.req.valid("json")), 200)),
  endpoint("backups:read", backupsOperations.readBackup, {
    summary: "Read a backup", answer: "The backup",
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").backup_id), 200)),
  endpoint("backups:read", backupsOperations.downloadBackup, {
    summary: "Download a backup's file",
    description: "For an administrator's own token, not an API key, whose password was confirmed within 5 minutes by `POST /auth/confirm` "
    + "with the same token: else 403, whose `details.required` is `signed-in`, `admin` or `password`. Each download is in the audit log and "
    + "raises an alert. An age file, which `lanthorn-collector restore` takes, or by hand `age -d -i KEY FILE | tar -xz`. `Repr-Digest` has its "
    + "SHA-256 (RFC 9530).",
    answer: [200, "The file", { "application/octet-stream": { schema: z.string() } }],
  }, async (c, service) => {
    const { path, name, sizeBytes, sha256 } = await service.open(identityOf(c), actorOf(c), c.req.valid("param").backup_id);
    return c.body(Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>, 200, {
      "content-type": "application/octet-stream", "content-length": String(sizeBytes),
      "content-disposition": `attachment; filename="${name}"`,
      "repr-digest": `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`,
    });
  }),
  endpoint("backups:write", backupsOperations.verifyBackup, {
    summary: "Verify a backup",
    description: "Without a key: its bytes are still those that were restored and counted when it was made; it is not opened, and nothing "
    + "is restored or "
    + "counted, as `verification.not_checked` says. With the private key: it is restored in a "
    + "scratch place and counted once more. Read the backup to see what came of it; what fails raises an alert.",
    answer: "The backup, with its verification running",
  }, async (c, service) => c.json(await service.verify(actorOf(c), c.req.valid("param").backup_id, c.req.valid("json")), 202)),
  endpoint("backups:write", backupsOperations.deleteBackup, {
    summary: "Delete a backup and its file", answer: "Deleted",
  }, async (c, service) => {
    await service.remove(actorOf(c), c.req.valid("param").backup_id);
    return c.body(null, 204);
  }),
);
