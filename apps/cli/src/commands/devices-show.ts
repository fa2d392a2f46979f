import type { DeviceProfile } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { shortTime } from "../short-time.ts";
import { formatTable, printable } from "../table.ts";
import { sourceWords } from "./source-words.ts";

/** Changes that people look at; programs get all that the collector keeps. */
const CHANGES_SHOWN = 10;

/** Everything that is known of one device, by its id, an address, its MAC or its hostname. */
export async function showDevice({ rest }: Connection, name: string): Promise<Answer> {
  const device = await rest.readDevice(await findDeviceId(rest, name));
  return { json: device, text: (width) => describeDevice(device, width) };
}

/** A device for people: what it is and why, then its interfaces, ports, neighbors and latest changes, as far as there are any. */
export function describeDevice(device: DeviceProfile, width = Number.POSITIVE_INFINITY): string {
  const { verdicts } = device;
  const facts = [
    ["state", device.presence_state], ["address", device.ip], ["MAC", device.mac], ["hostname", device.hostname], ["vendor", device.vendor],
    ["model", verdicts.model?.value ?? ""], ["type", device.device_type], ["system", device.os_guess], ["tags", device.tags.join(", ")],
    ["locked", device.locked_fields.join(", ")],
    ["first seen", device.first_seen === null ? "never" : shortTime(device.first_seen)],
    ["last seen", device.last_seen === null ? "never" : shortTime(device.last_seen)], ["id", device.id],
  ].filter(([, value]) => value !== "");
  const section = (name: string, heading: readonly string[], rows: readonly (readonly string[])[]) =>
    (rows.length === 0 ? "" : `${name}\n${formatTable({ heading, rows }, width)}`);
  const sections = [
    facts.map(([name = "", value = ""]) => `${name.padEnd(11)}${printable(value)}`).join("\n"),
    section("what it is", ["FIELD", "VALUE", "SURE", "BECAUSE OF"], QUESTIONS.flatMap((question) => describeVerdict(device, question))),
    section("interfaces", ["MAC", "ADDRESSES"], device.interfaces.map(({ mac, addresses }) => [
      mac || "-", addresses.filter(({ current }) => current).map(({ ip }) => ip).join(", "),
    ])),
    section("software", ["SOFTWARE", "VERSION", "BUILD", "BECAUSE OF"], device.software.map((software) => [
      ...describeSoftware(software), software.sources.map(sourceWords).join(", "),
    ])),
    section("ports", ["PORT", "STATE", "SERVICE", "SOFTWARE", "VERSION", "BUILD"], device.ports.map(({ port, protocol, state, service, version, software }) => [
      `${port}/${protocol}`, state, service || "-", ...(software ? describeSoftware(software) : ["-", version || "-", "-"]),
    ])),
    section(
      "neighbors", ["PROTOCOL", "SYSTEM", "PORT"], device.neighbors.map((one) => [one.protocol, one.system_name || "-", one.port_id]),
    ),
    section("changes", ["AT", "FIELD", "FROM", "TO", "BY"], device.history.slice(0, CHANGES_SHOWN).map((change) => [
      shortTime(change.at), change.field, change.before || "-", change.after || "-", change.source,
    ])),
  ];
  return sections.filter((part) => part !== "").join("\n\n");
}

/** Product, version, and who built it; an edition stands behind its product. */
function describeSoftware({ product, version, edition, distribution, package_version: build }: Named): readonly string[] {
  const built = [distribution, build].filter((text) => text !== "").join(" ");
  return [edition === "" ? product : `${product} ${edition}`, version || "-", built || "-"];
}

type Named = NonNullable<DeviceProfile["ports"][number]["software"]>;

const QUESTIONS = [
  ["device_type", "type"], ["vendor", "vendor"], ["model", "model"], ["os", "system"], ["os_version", "version"], ["hostname", "hostname"],
] as const;
/** What contradicts or hints is said even where nothing was concluded. */
const HINTED: ReadonlySet<string> = new Set(["device_type", "os"]);
const REASONS_SHOWN = 6;

/** A verdict with its sources, the surest first, a line for each; a source that contradicts is shown with its own value. */
function describeVerdict({ verdicts, evidence }: DeviceProfile, [field, name]: (typeof QUESTIONS)[number]): readonly (readonly string[])[] {
  const verdict = verdicts[field];
  const said = (evidence[field] ?? []).toSorted((a, b) => b.confidence - a.confidence);
  if (!verdict && !(HINTED.has(field) && said.length > 0)) return [];
  const isSame = (value: string) => value.toLowerCase() === verdict?.value.toLowerCase();
  const tell = ({ value, source, confidence }: (typeof said)[number]) =>
    `${sourceWords(source)}${isSame(value) ? "" : `: ${value}`} (${percent(confidence)})`;
  const others = (verdict?.sources ?? []).filter((source) => said.every((one) => one.source !== source)).map(sourceWords);
  const reasons = [...new Set([...said.map(tell), ...others])];
  const hidden = reasons.length > REASONS_SHOWN ? reasons.splice(REASONS_SHOWN - 1).length : 0;
  const shown = hidden > 0 ? [...reasons, `and ${hidden} more`] : reasons;
  const head = verdict ? [name, verdict.value, percent(verdict.confidence)] : [name, "unknown", "-"];
  return (shown.length === 0 ? [""] : shown).map((reason, index) => [...(index === 0 ? head : ["", "", ""]), reason]);
}

function percent(confidence: number): string {
  return `${Math.round(confidence * 100)} %`;
}
