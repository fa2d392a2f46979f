import type { RestClient } from "@lanthorn/client";
import { parseMac } from "@lanthorn/contract";
import { collect } from "./collect.ts";
import { CliError } from "./errors.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of a device that is named by its id, an address, its MAC or its hostname: what the list shows of it, or one that the
 * collector's search finds alone.
 * @throws CliError `not-found` when no device is called so, or several are: then with their ids.
 */
export async function findDeviceId(rest: Pick<RestClient, "listDevices">, name: string): Promise<string> {
  if (UUID.test(name)) return name;
  const found = await collect(rest.listDevices, { search: name });
  const wanted = parseMac(name) ?? name.toLowerCase();
  const exact = found.filter(({ ip, mac, hostname }) => [ip, mac, hostname].some((text) => text.toLowerCase() === wanted));
  const [device, ...others] = exact.length > 0 ? exact : found;
  if (!device) throw new CliError("not-found", `there is no device ${JSON.stringify(name)}; see: lanthorn devices list`);
  if (others.length === 0) return device.id;
  const rows = [device, ...others].map(({ id, ip, mac, hostname }) => [id, ip, mac || "-", hostname || "-"].join("  "));
  throw new CliError("not-found", `${rows.length} devices match ${JSON.stringify(name)}; give the id of one:\n${rows.join("\n")}`);
}
