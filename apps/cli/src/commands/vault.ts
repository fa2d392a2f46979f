import type { RestClient } from "@lanthorn/client";
import { CREDENTIAL_PARTS, type Credential, CredentialCreate, type CredentialType } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { type Input, readText } from "../input.ts";
import { findSiteId } from "../site-id.ts";
import { printable } from "../table.ts";

/** Whom a credential is for. */
export interface CredentialScope {
  readonly network?: readonly string[];
  readonly site?: readonly string[];
  readonly probe?: readonly string[];
}

/** Files that hold the parts of a secret, by the part's name; `-` for standard input. */
export type SecretFiles = Readonly<Record<string, string | undefined>>;

/** Settings as they are given; those that are not of the credential's type are refused by the collector's own schema. */
export type CredentialSettings = Readonly<Record<string, string | number | null | undefined>>;

/** What somebody who names no file is asked for. */
const ASKED: Readonly<Record<CredentialType, readonly string[]>> = {
  snmp: ["community"], snmpv3: ["auth_password", "privacy_password"], ssh: ["password"],
};

/** All pages, without the secrets: `SECRET` names the parts that are stored. */
export async function listCredentials({ rest }: Connection): Promise<Answer> {
  const credentials = await collect(rest.listCredentials);
  return {
    json: credentials,
    table: {
      heading: ["NAME", "TYPE", "SECRET", "NETWORKS", "SITES", "PROBES", "ID"],
      rows: credentials.map((one) => [
        one.name, one.type, one.parts.join(" ") || "-", one.networks.join(" ") || "all", String(one.site_ids.length),
        String(one.probe_ids.length), one.id,
      ]),
    },
  };
}

/** Without its secret. @param name Its name or id. @throws CliError `not-found`, and where several have the name. */
export async function showCredential({ rest }: Connection, name: string): Promise<Answer> {
  return describe(await rest.readCredential(await findCredentialId(rest, name)));
}

/** With the secret, which the audit log tells of. */
export async function revealCredential({ rest }: Connection, name: string): Promise<Answer> {
  const credential = await rest.revealCredential(await findCredentialId(rest, name));
  return describe(credential, Object.entries(credential.secret));
}

/** @throws CliError `bad-option` for what is no credential of the type. */
export async function createCredential(
  { rest }: Connection, name: string,
  given: {
    readonly type: CredentialType; readonly settings: CredentialSettings; readonly files: SecretFiles; readonly scope: CredentialScope;
  },
  input: Input,
): Promise<Answer> {
  const { type, settings, files, scope } = given;
  const wish = {
    type, name, ...(await idsOf(rest, scope)), settings: present(settings), secret: (await readSecret(type, files, input, settings)),
  };
  const parsed = CredentialCreate.safeParse(wish);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new CliError("bad-option", `${issue?.path.join(".") || "the credential"}: ${issue?.message ?? "is none"}`);
  }
  return describe(await rest.createCredential(parsed.data));
}

/** What is not given stays. The secret is replaced as a whole. */
export async function updateCredential(
  { rest }: Connection, name: string, changes: { readonly name?: string; readonly files: SecretFiles; readonly scope: CredentialScope },
  input: Input,
): Promise<Answer> {
  const credential = await rest.readCredential(await findCredentialId(rest, name));
  const isNewSecret = Object.values(changes.files).some((file) => file !== undefined);
  return describe(await rest.updateCredential(credential.id, {
    ...(changes.name !== undefined && { name: changes.name }), ...(await idsOf(rest, changes.scope)),
    ...(isNewSecret && { secret: await readSecret(credential.type, changes.files, input, {}) }),
  }));
}

/** @param name Its name or id. @throws CliError `not-found`, and where several have the name. */
export async function deleteCredential({ rest }: Connection, name: string): Promise<Answer> {
  const id = await findCredentialId(rest, name);
  await rest.deleteCredential(id);
  return { json: { id, state: "deleted" }, text: `deleted ${id}` };
}

/** @throws CliError `not-found`, and where several are called so. */
async function findCredentialId(rest: Pick<RestClient, "listCredentials">, nameOrId: string): Promise<string> {
  const all = await collect(rest.listCredentials);
  const found = all.filter(({ id, name }) => id === nameOrId || name === nameOrId);
  const [only] = found;
  if (only && found.length === 1) return only.id;
  throw new CliError(
    "not-found",
    only ? `several credentials have the name ${JSON.stringify(nameOrId)}: give the id of one`
      : `there is no credential ${JSON.stringify(nameOrId)}`,
  );
}

async function idsOf(rest: RestClient, { network, site, probe }: CredentialScope) {
  const siteIds: string[] = [];
  for (const name of site ?? []) siteIds.push(await findSiteId(rest, name));
  return {
    ...(network && { networks: [...network] }), ...(site && { site_ids: siteIds }), ...(probe && { probe_ids: [...probe] }),
  };
}

async function readSecret(
  type: CredentialType, files: SecretFiles, input: Input, settings: CredentialSettings,
): Promise<Record<string, string>> {
  const strange = Object.keys(files).find((part) => files[part] !== undefined && !(part in CREDENTIAL_PARTS[type].secret.shape));
  if (strange !== undefined) {
    throw new CliError("bad-option", `--${strange.replaceAll("_", "-")}-file: a credential of type ${type} has no ${strange}`);
  }
  const secret: Record<string, string> = {};
  // A key's last line end belongs to it; a password's does not.
  const trim = (part: string, text: string) => (part === "private_key" ? text : text.replace(/\r?\n$/, ""));
  for (const [part, file] of Object.entries(files)) if (file !== undefined) secret[part] = trim(part, await readText(file, input));
  if (Object.keys(secret).length > 0) return secret;
  for (const part of ASKED[type]) {
    if (part === "auth_password" && settings["auth_protocol"] === null) break;
    if (part === "privacy_password" && settings["privacy_protocol"] === null) break;
    secret[part] = await input.askSecret(`${part.replaceAll("_", " ")}: `);
  }
  return secret;
}

function present(settings: CredentialSettings): Record<string, string | number | null> {
  return Object.fromEntries(Object.entries(settings).filter((entry): entry is [string, string | number | null] => entry[1] !== undefined));
}

function describe(credential: Credential, secret: readonly (readonly [string, string])[] = []): Answer {
  const { networks, site_ids: sites, probe_ids: probes, settings, parts } = credential;
  const rows = [
    ["name", credential.name], ["type", credential.type], ...Object.entries(settings).map(([name, value]) => [name, String(value)]),
    ["secret", parts.join(", ") || "-"], ["networks", networks.join(", ") || "all"], ["sites", sites.join(", ") || "-"],
    ["probes", probes.join(", ") || "-"],
    ["updated", credential.updated_at], ["id", credential.id],
  ] as const;
  const lines = rows.map(([name = "", value = ""]) => `${name.padEnd(16)} ${printable(value)}`);
  // A key has lines of its own, which are shown as they are.
  return { json: credential, text: [...lines, ...secret.flatMap(([part, value]) => ["", `${part}:`, value])].join("\n") };
}
