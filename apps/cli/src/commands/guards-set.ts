import { SiteGuardsUpdate } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { oneSite } from "../site-id.ts";
import { showGuards } from "./guards.ts";

type Rest = Pick<Connection, "rest">;
type Name = keyof SiteGuardsUpdate;

/** How a setting is written, for messages, and how its text is read; undefined for what is no such text. */
interface Setting {
  readonly form: string;
  readonly read: (text: string) => unknown;
}

const SWITCH: Setting = { form: "on or off", read: (text) => ({ on: true, true: true, off: false, false: false })[text] };
const AS_IN_FILE = "default";
/** @param form With its bounds. */
const amount = (form: string): Setting => ({
  form: `${form}, or ${AS_IN_FILE} for what the probe's file says`,
  read: (text) => (text === AS_IN_FILE ? null : /^\d{1,9}$/.test(text) ? Number(text) : undefined),
});
const ADDRESSES: Setting = {
  form: "addresses with commas between them, at most 256, or none",
  read: (text) => (text === "none" ? [] : text.split(",").map((one) => one.trim())),
};

const SETTINGS: Readonly<Record<Name, Setting>> = {
  enabled: SWITCH, active: SWITCH, learning_minutes: amount("minutes from 0 to 43200"), quiet_seconds: amount("seconds from 1 to 86400"),
  dhcp_servers: ADDRESSES, routers: ADDRESSES, roaming_gateways: SWITCH,
};

/** What each setting takes, a line each, for the help. */
export const GUARD_SETTING_FORMS: string = Object.entries(SETTINGS).map(([name, { form }]) => `  ${name.padEnd(18)}${form}`).join("\n");

/**
 * Changes what the guards of a site's probes watch by. What is not named stays.
 * @param settings As `NAME=VALUE`.
 * @param now Milliseconds since the epoch.
 * @throws CliError `bad-option`, before anything is asked.
 */
export async function setGuards({ rest }: Rest, settings: readonly string[], site: string | undefined, now: number): Promise<Answer> {
  const update = parseSettings(settings);
  const siteId = await oneSite(rest, site);
  await rest.updateSiteGuards(siteId, update);
  const shown = await showGuards({ rest }, siteId, now);
  return { ...shown, notes: [...(shown.notes ?? []), "The probes take it over within a minute. Their own files can forbid to watch and to send, whatever is set here."] };
}

function parseSettings(settings: readonly string[]): SiteGuardsUpdate {
  const values = new Map<Name, unknown>();
  for (const text of settings) {
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(0, at)).replaceAll("-", "_");
    if (!isName(name)) {
      throw new CliError("bad-option", `${JSON.stringify(text)} is no setting: write NAME=VALUE, with one of ${Object.keys(SETTINGS).join(", ")}`);
    }
    if (values.has(name)) throw new CliError("bad-option", `${name} is named twice`);
    const value = SETTINGS[name].read(text.slice(at + 1).trim());
    // What it may be in all is the contract's word.
    if (value === undefined || !SiteGuardsUpdate.shape[name].safeParse(value).success) {
      throw new CliError("bad-option", `${name}: ${JSON.stringify(text.slice(at + 1))} is not ${SETTINGS[name].form}`);
    }
    values.set(name, value);
  }
  return SiteGuardsUpdate.parse(Object.fromEntries(values));
}

function isName(text: string): text is Name {
  return Object.hasOwn(SETTINGS, text);
}
