import type { Query, RestClient } from "@lanthorn/client";
import type { BaselineTemplate, BaselineTemplateCreate, BaselineWindow } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";
import { shortId, wholeId } from "../short-id.ts";
import { shortTime } from "../short-time.ts";
import { oneSite, siteFilter } from "../site-id.ts";
import { parseFact } from "./baselines.ts";

type Rest = Pick<Connection, "rest">;

/** Facts, or a device that has them. */
export interface TemplateOptions {
  readonly tag: string;
  readonly site?: string;
  readonly fact?: readonly string[];
  readonly from?: string;
}

/** When, and for whom. */
export interface WindowOptions {
  readonly site?: string;
  readonly device?: string;
  readonly tag?: string;
  /** A duration or a moment; now if left out. */
  readonly from?: string;
  readonly until: string;
  readonly learn?: boolean;
  readonly reason: string;
}

/** Templates of all sites, or those that count at one. */
export async function listTemplates({ rest }: Rest, filters: Query): Promise<Answer> {
  return answerTemplates(rest, await collect(rest.listBaselineTemplates, filters));
}

/** Adds a template. @throws CliError `bad-option`. */
export async function createTemplate({ rest }: Rest, name: string, { tag, site, fact, from }: TemplateOptions): Promise<Answer> {
  if ((fact === undefined) === (from === undefined)) throw new CliError("bad-option", "give --fact KIND/KEY=VALUE, or --from DEVICE, and not both");
  const facts = fact?.map((text) => {
    const { kind, ...rest } = parseFact(text);
    if (kind !== "port" && kind !== "service") throw new CliError("bad-option", `--fact: ${kind} cannot be shared; a template has port and service`);
    return { kind, ...rest };
  });
  const wish: BaselineTemplateCreate = {
    name, tag, ...await siteFilter(rest, site), ...(facts && { facts }), ...(from !== undefined && { from_device_id: await findDeviceId(rest, from) }),
  };
  const made = await rest.createBaselineTemplate(wish);
  return { ...await answerTemplates(rest, [made]), json: made, notes: [`It counts for devices that have the tag ${made.tag}, from the next comparison on.`] };
}

/** Deletes a template. @param name Its name, or its id. @throws CliError `not-found`. */
export async function deleteTemplate({ rest }: Rest, name: string): Promise<Answer> {
  const templates = await collect(rest.listBaselineTemplates);
  const template = templates.find((one) => one.id === name || one.name === name);
  if (!template) throw new CliError("not-found", `there is no template ${JSON.stringify(name)}; there are: ${templates.map((one) => one.name).join(", ") || "none"}`);
  await rest.deleteBaselineTemplate(template.id);
  return { json: { id: template.id }, text: `deleted the template ${template.name}: its facts do not count any more` };
}

/** Windows that are not over. */
export async function listWindows({ rest }: Rest, filters: Query): Promise<Answer> {
  return answerWindows(await collect(rest.listBaselineWindows, filters));
}

/** Adds a window. @param now Milliseconds since the epoch. @throws CliError `bad-option`. */
export async function createWindow({ rest }: Rest, options: WindowOptions, now: number): Promise<Answer> {
  const { site, device, tag, from, until, learn = false, reason } = options;
  if (device !== undefined && tag !== undefined) throw new CliError("bad-option", "give --device or --tag, not both");
  const deviceId = device === undefined ? undefined : await findDeviceId(rest, device);
  const siteId = site === undefined && deviceId !== undefined ? (await rest.readDevice(deviceId)).site_id : await oneSite(rest, site);
  const made = await rest.createBaselineWindow({
    site_id: siteId, begins_at: from === undefined ? new Date(now).toISOString() : parseExpiry(from, now, "--from"), ends_at: parseExpiry(until, now, "--until"),
    effect: learn ? "learn" : "hold", reason, ...(deviceId !== undefined && { device_id: deviceId }), ...(tag !== undefined && { tag }),
  });
  return { ...answerWindows([made]), json: made };
}

/** Deletes a window. */
export async function deleteWindow({ rest }: Rest, id: string): Promise<Answer> {
  const whole = await wholeId(id, () => collect(rest.listBaselineWindows), "lanthorn baselines windows list");
  await rest.deleteBaselineWindow(whole);
  return { json: { id: whole }, text: `deleted the window ${id}: what still differs is reported within a minute` };
}

async function answerTemplates(rest: Pick<RestClient, "listSites">, templates: readonly BaselineTemplate[]): Promise<Answer> {
  const isOfSites = templates.some(({ site_id: id }) => id !== null);
  const names = new Map((isOfSites ? await collect(rest.listSites) : []).map(({ id, name }) => [id, name]));
  return {
    json: templates,
    table: {
      heading: ["NAME", "TAG", "SITE", "FACTS"],
      rows: templates.map(({ name, tag, site_id: site, facts }) => [
        name, tag, site === null ? "all" : (names.get(site) ?? site),
        facts.map(({ kind, key, value }) => `${kind} ${key}${kind === "port" ? "" : ` ${value}`}`).join(", ") || "none",
      ]),
    },
  };
}

function answerWindows(windows: readonly BaselineWindow[]): Answer {
  return {
    json: windows,
    table: {
      heading: ["ID", "FOR", "WHEN", "THEN", "REASON", "BY"],
      rows: windows.map((one) => [
        shortId(one.id), `${one.device_id === null ? "site" : "device"} ${one.name}${one.tag === null ? "" : `, tag ${one.tag}`}`,
        `${shortTime(one.begins_at)} to ${shortTime(one.ends_at)}`, one.effect === "learn" ? "learn" : "report", one.reason, one.created_by,
      ]),
    },
  };
}
