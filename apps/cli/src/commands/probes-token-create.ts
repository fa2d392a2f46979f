import { parseDuration } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { findSiteId } from "../site-id.ts";

/** Makes a token with which one probe can be enrolled at a site, named by its name or its id. */
export async function createProbeToken({ rest }: Connection, options: { readonly site: string; readonly ttl: string }): Promise<Answer> {
  const ttlMs = parseDuration(options.ttl);
  if (ttlMs === null) throw new CliError("bad-option", `--ttl: ${JSON.stringify(options.ttl)} is not a duration such as 30m, 1h or 7d`);
  const token = await rest.createEnrollmentToken({ site_id: await findSiteId(rest, options.site), ttl_seconds: ttlMs / 1000 });
  return {
    json: token,
    text: [
      token.token,
      "",
      `Valid for one probe until ${token.expires_at}, and shown only now. On the probe's machine, as root:`,
      `  lanthorn-probe enroll --collector URL --token ${token.token}`,
    ].join("\n"),
  };
}
