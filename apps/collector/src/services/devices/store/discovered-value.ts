import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { readVerdicts, shownOf, vendorOf } from "../../../identity/verdicts.ts";
import type { EditableField } from "../records.ts";
import type { DeviceRow } from "./pages.ts";

type Trx = Transaction<Schema>;

/** What discovery says of a field, as its column has it, once a person no longer does. */
export async function discoveredValue(trx: Trx, device: DeviceRow, field: EditableField): Promise<string> {
  if (field === "tags") return "[]";
  if (field === "ip") return discoveredIp(trx, device);
  if (field === "mac") return discoveredMac(trx, device);
  const verdicts = readVerdicts(device.verdicts);
  if (field === "device_type" || field === "os_guess") return shownOf(verdicts)[field];
  const maker = field === "vendor" ? vendorOf(verdicts) : null;
  if (maker !== null) return maker;
  const best = await trx.selectFrom("evidence").select("value").where("device_id", "=", device.id).where("field", "=", field)
    .orderBy("confidence", "desc").orderBy("seen_at", "desc").executeTakeFirst();
  if (best || field !== "vendor") return best?.value ?? "";
  // Nothing was heard of it: its MAC still says who made it.
  const own = await trx.selectFrom("interfaces").select("vendor").where("device_id", "=", device.id).where("mac", "=", device.mac)
    .executeTakeFirst();
  return own?.vendor ?? "";
}

/** The lowest address that the interface has and was seen with; where it was seen with none, the one it has. */
async function discoveredIp(trx: Trx, device: DeviceRow): Promise<string> {
  const address = await trx.selectFrom("addresses").select("ip")
    .where("device_id", "=", device.id).where("current", "=", 1).where("mac", "=", device.mac)
    .where("ip", "in", (eb) => eb.selectFrom("evidence").select("value").where("device_id", "=", device.id).where("field", "=", "ip"))
    .orderBy("ip_key").executeTakeFirst();
  return address?.ip ?? device.ip;
}

/** The MAC that last had the device's address; where none was seen, the one it has. */
async function discoveredMac(trx: Trx, device: DeviceRow): Promise<string> {
  const seen = await trx.selectFrom("addresses").select("mac")
    .where("device_id", "=", device.id).where("current", "=", 1).where("ip", "=", device.ip).where("mac", "<>", "")
    .orderBy("last_seen", "desc").executeTakeFirst();
  return seen?.mac ?? device.mac;
}
