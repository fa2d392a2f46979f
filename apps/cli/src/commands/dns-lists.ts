import { readFile } from "node:fs/promises";
import type { DnsList, DnsListCreate } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { shortTime } from "../short-time.ts";
import { siteFilter } from "../site-id.ts";
import { plainText } from "./ids.ts";

type Rest = Pick<Connection, "rest">;

/** Where names come from: one of `url`, `file` and `names`. */
export interface DnsListOptions {
  readonly url?: string;
  readonly checksum?: string;
  /** A file here with the key that a zone is transferred with. */
  readonly tsig?: string;
  /** A file in the collector's folder. */
  readonly file?: string;
  /** A file here, whose names are sent. */
  readonly names?: string;
  readonly category: string;
  readonly format?: string;
  readonly site?: string;
}

/** Lists with the version that counts. */
export async function listDnsLists({ rest }: Rest): Promise<Answer> {
  const all = await collect((query) => rest.listDnsLists(query));
  return { json: all, ...answerLists(all) };
}

/** Adds a list. @throws CliError `bad-option`. */
export async function addDnsList({ rest }: Rest, name: string, { url, checksum, tsig, file, names, category, format, site }: DnsListOptions): Promise<Answer> {
  if ([url, file, names].filter((one) => one !== undefined).length !== 1) throw new CliError("bad-option", "say where the names come from: one of --url, --file and --names");
  const made = await rest.createDnsList({
    name, category, interval_hours: 24, enabled: true, automatic: true, may_rewrite: false, format: (format ?? null) as DnsListCreate["format"], ...await siteFilter(rest, site), ...(url !== undefined && { url }),
    ...(file !== undefined && { file }), ...(checksum !== undefined && { checksum_url: checksum }), ...(names !== undefined && { names: await readFile(names, "utf8") }),
    ...(tsig !== undefined && { tsig: readKey(await readFile(tsig, "utf8")) }),
  });
  const observed = (await collect((query) => rest.listDnsPolicies(query))).filter(({ mode }) => mode === "observe");
  return {
    ...answerLists([made]), json: made,
    notes: [
      ...(made.kind === "local" ? [] : ["It is being fetched. How it is: lanthorn dns lists"]),
      ...observed.map((policy) => `The policy ${plainText(policy.name)} only observes. To block: lanthorn dns policies enforce "${plainText(policy.name)}"`),
    ],
  };
}

/** `hmac-sha256:name:secret`, as name servers' own tools have it; the algorithm may be left out. @throws CliError `bad-option`. */
function readKey(text: string): NonNullable<DnsListCreate["tsig"]> {
  const [secret = "", name = "", algorithm = "hmac-sha256", ...rest] = text.trim().split(":").toReversed();
  if (name === "" || rest.length > 0) throw new CliError("bad-option", "the file of --tsig must have a key as hmac-sha256:name:secret");
  return { name, algorithm: algorithm as NonNullable<DnsListCreate["tsig"]>["algorithm"], secret };
}

/** Has the source of a list asked now. */
export async function updateDnsList({ rest }: Rest, name: string): Promise<Answer> {
  const updated = await rest.fetchDnsList((await findList({ rest }, name)).id);
  return { json: updated, text: `${plainText(updated.name)} is asked for now; how it went: lanthorn dns lists` };
}

/** Versions of a list that are kept. */
export async function listDnsVersions({ rest }: Rest, name: string): Promise<Answer> {
  const { data } = await rest.listDnsListVersions((await findList({ rest }, name)).id);
  return {
    json: data, table: {
      heading: ["VERSION", "STATE", "FORMAT", "RULES", "REFUSED", "ADDED", "REMOVED", "CREATED"],
      rows: data.map((one) => [
        String(one.version), one.is_active ? "active" : one.is_held ? "held back" : "kept", one.format, String(one.rules), String(one.refused), String(one.added), String(one.removed), shortTime(one.created_at),
      ]),
    },
    notes: data.flatMap(({ version, note, refusals }) => [
      ...(note === "" ? [] : [`Version ${version}: ${plainText(note)}`]), ...refusals.slice(0, 3).map(({ line, text, reason }) => `Version ${version}, line ${line} ${plainText(reason)}: ${plainText(text)}`),
    ]),
  };
}

/** Makes another version count: the one before where none is named. */
export async function activateDnsVersion({ rest }: Rest, name: string, version: string | undefined): Promise<Answer> {
  const { id } = await findList({ rest }, name);
  const changed = version === undefined ? await rest.rollBackDnsList(id) : await rest.activateDnsListVersion(id, version);
  return { json: changed, text: `${plainText(changed.name)}: version ${changed.active?.version ?? "none"} is active; probes get it within a minute` };
}

/** Deletes a list with its versions. */
export async function removeDnsList({ rest }: Rest, name: string): Promise<Answer> {
  const found = await findList({ rest }, name);
  await rest.deleteDnsList(found.id);
  return { json: { id: found.id }, text: `deleted the list ${plainText(found.name)}: its names resolve again` };
}

function answerLists(all: readonly DnsList[]): Pick<Answer, "table" | "notes"> {
  return {
    table: {
      heading: ["NAME", "CATEGORY", "KIND", "VERSION", "FORMAT", "RULES", "CHECKED", "STATE"],
      rows: all.map(({ name, category, kind, active, checked_at: at, enabled, error }) => [
        name, category, kind, active === null ? "-" : String(active.version), active?.format ?? "-", active === null ? "-" : String(active.rules), at === null ? "-" : shortTime(at),
        !enabled ? "off" : error === null ? "ok" : "failed",
      ]),
    },
    notes: all.flatMap(({ name, error }) => (error === null ? [] : [`${plainText(name)}: ${plainText(error)}`])),
  };
}

async function findList({ rest }: Rest, name: string): Promise<DnsList> {
  const all = await collect((query) => rest.listDnsLists(query));
  const found = all.find((one) => one.id === name || one.name === name);
  if (!found) throw new CliError("not-found", `there is no list ${JSON.stringify(name)}; known lists: ${all.map((one) => plainText(one.name)).join(", ") || "none"}`);
  return found;
}
