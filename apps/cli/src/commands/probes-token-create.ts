import { readAll } from "@lanthorn/client";
import { parseDuration } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";

/** Makes a token with which one probe can be enrolled at a site, named by its name or its id. */
export async function createProbeToken({ rest }: Connection, options: { readonly site: string; readonly ttl: string }): Promise<Answer> {
  const ttlMs = parseDuration(options.ttl);
  if (ttlMs === null) throw new CliError("bad-option", `--ttl: ${JSON.stringify(options.ttl)} is not a duration such as 30m, 1h or 7d`);
  const token = await rest.createEnrollmentToken(await siteId(rest, options.site), ttlMs / 1000);
  return {
    json: token,
    text: [
      token.token,
      "",
      `Good for one probe until ${token.expires_at}, and shown only now. On the probe's machine, as root:`,
      `  lanthorn-probe enroll --collector URL --token ${token.token}`,
    ].join("\n"),
  };
}

async function siteId(rest: Connection["rest"], nameOrId: string): Promise<string> {
  const names: string[] = [];
  for await (const site of readAll(rest.listSites)) {
    if (site.id === nameOrId || site.name === nameOrId) return site.id;
    names.push(site.name);
  }
  throw new CliError("not-found", `no site is called ${JSON.stringify(nameOrId)}; there are: ${names.join(", ") || "none"}`);
}
