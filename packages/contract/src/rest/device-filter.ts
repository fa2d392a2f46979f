import { isOpenChoice } from "./choice.ts";
import { DevicesQuery } from "./devices.ts";

/** A word before a colon in the filter language → the filter of the API that it stands for. */
const TERMS = {
  type: "device_type", vendor: "vendor", os: "os", tag: "tag", port: "open_port", subnet: "subnet", state: "presence_state", site: "site_id",
} as const;

/** The words that the filter language knows before a colon. */
export const DEVICE_FILTER_TERMS: readonly string[] = [...Object.keys(TERMS), "seen"];

type TermName = (typeof TERMS)[keyof typeof TERMS];
/** Filters of `GET /devices`, as texts. */
export type DeviceFilter = { readonly [name in TermName | "search" | "since" | "until"]?: string };
type Parsed = { readonly ok: true; readonly filter: DeviceFilter } | { readonly ok: false; readonly message: string };

const MAX_LENGTH = 2000;

/**
 * Reads the filter language of devices: `type:printer,camera -tag:lab vendor:"Cisco Systems" port:22 seen:<7d name or address`.
 * A comma means either, `-` before a term means not, terms all count, and what has no colon is searched for in names and addresses.
 * `seen:<7d`: seen within seven days; `seen:>7d`: not since.
 * @returns Filters of `GET /devices`, or what is wrong with the text, for the person who wrote it.
 */
export function parseDeviceFilter(text: string): Parsed {
  if (text.length > MAX_LENGTH) return refuse(`the filter is longer than ${MAX_LENGTH} characters`);
  const filter: Record<string, string> = {};
  const words: string[] = [];
  for (const [, minus = "", name, quoted, bare = ""] of text.matchAll(/(-)?(?:([a-z_]+):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g)) {
    const value = quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, "$1");
    // An address as `2001:db8::1` or `00:1b:63:…` has colons too.
    const isTerm = name !== undefined && DEVICE_FILTER_TERMS.includes(name);
    if (!isTerm) words.push(`${minus}${name === undefined ? "" : `${name}:`}${value}`);
    else if (name === "seen") {
      const [, sign, span] = /^([<>])(\d{1,6}[smhdw])$/.exec(value) ?? [];
      if (sign === undefined || span === undefined || minus !== "") return refuse("write seen:<7d for within seven days, seen:>7d for not since");
      filter[sign === "<" ? "since" : "until"] = span;
    } else {
      const choices = quoted === undefined ? value.split(/(?<!\\),/) : [value.replaceAll(/[\\,!]/g, String.raw`\$&`)];
      const key = TERMS[name as keyof typeof TERMS];
      filter[key] = [filter[key], ...choices.map((choice) => `${minus === "" ? "" : "!"}${choice}`)].filter((part) => part !== undefined).join(",");
    }
  }
  if (words.length > 0) filter["search"] = words.join(" ");
  const issue = DevicesQuery.safeParse(filter).error?.issues[0];
  return issue ? refuse(`${wordOf(String(issue.path[0]))}: ${issue.message}`) : { ok: true, filter };
}

/** Writes filters in the language that `parseDeviceFilter` reads. Filters that it has no word for are left out. */
export function formatDeviceFilter(filter: DeviceFilter): string {
  const query = DevicesQuery.safeParse(filter).data;
  const terms = Object.entries(TERMS).flatMap(([word, name]) => {
    const choice = query?.[name];
    if (!choice || isOpenChoice(choice)) return [];
    const either = choice.any.map(String);
    const isPlain = either.every((value) => /^[^\s",\\!-][^\s",\\]*$/.test(value));
    return [
      ...(either.length === 0 ? [] : isPlain ? [`${word}:${either.join(",")}`] : either.map((value) => `${word}:${quote(value)}`)),
      ...choice.none.map((value) => `-${word}:${quote(String(value))}`),
    ];
  });
  const seen = [...(filter.since === undefined ? [] : [`seen:<${filter.since}`]), ...(filter.until === undefined ? [] : [`seen:>${filter.until}`])];
  return [...terms, ...seen, ...(filter.search === undefined ? [] : [filter.search])].join(" ");
}

function quote(value: string): string {
  return /^[^\s",\\!]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function wordOf(name: string): string {
  return Object.entries(TERMS).find(([, each]) => each === name)?.[0] ?? name;
}

function refuse(message: string): Parsed {
  return { ok: false, message };
}
