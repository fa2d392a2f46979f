import type { DeviceProfile } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { formatTable, printable } from "../table.ts";

/** Changes that people look at; programs get all that the collector keeps. */
const CHANGES_SHOWN = 10;

/** Everything that is known of one device, by its id, an address, its MAC or its hostname. */
export async function showDevice({ rest }: Connection, name: string): Promise<Answer> {
  const device = await rest.readDevice(await findDeviceId(rest, name));
  return { json: device, text: describeDevice(device) };
}

/** A device for people: what it is, then its interfaces, ports, neighbours and latest changes, as far as there are any. */
export function describeDevice(device: DeviceProfile): string {
  const { verdicts } = device;
  const facts = [
    ["state", device.presence_state], ["address", device.ip], ["MAC", device.mac], ["hostname", device.hostname], ["vendor", device.vendor],
    ["model", verdicts.model?.value ?? ""], ["type", device.device_type], ["system", device.os_guess], ["tags", device.tags.join(", ")],
    ["locked", device.locked_fields.join(", ")], ["first seen", device.first_seen], ["last seen", device.last_seen], ["id", device.id],
  ].filter(([, value]) => value !== "");
  const sections = [
    facts.map(([name = "", value = ""]) => `${name.padEnd(11)}${printable(value)}`).join("\n"),
    section("interfaces", ["MAC", "ADDRESSES"], device.interfaces.map(({ mac, addresses }) =>
      [mac || "-", addresses.filter(({ current }) => current).map(({ ip }) => ip).join(", ")])),
    section("verdicts", ["FIELD", "VALUE", "SURE", "BY"], Object.entries(verdicts).flatMap(([field, verdict]) => (verdict ? [[
      field, verdict.value, `${Math.round(verdict.confidence * 100)} %`, verdict.sources.join(", "),
    ]] : []))),
    section("ports", ["PORT", "STATE", "SERVICE", "VERSION"], device.ports.map(({ port, protocol, state, service, version }) => [
      `${port}/${protocol}`, state, service || "-", version || "-",
    ])),
    section(
      "neighbours", ["PROTOCOL", "SYSTEM", "PORT"], device.neighbors.map((one) => [one.protocol, one.system_name || "-", one.port_id]),
    ),
    section("changes", ["AT", "FIELD", "FROM", "TO", "BY"], device.history.slice(0, CHANGES_SHOWN).map((change) => [
      change.at, change.field, change.before || "-", change.after || "-", change.source,
    ])),
  ];
  return sections.filter((part) => part !== "").join("\n\n");
}

function section(name: string, heading: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${name}\n${formatTable(heading, rows)}`;
}
