import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EditableField } from "./records.ts";
import type { DeviceRow } from "./store.ts";

/** What discovery says of a field, as its column has it, once a person no longer does. An address or MAC of which it says nothing stays. */
export async function discoveredValue(trx: Transaction<Schema>, device: DeviceRow, field: EditableField): Promise<string> {
  switch (field) {
    case "tags":
      return "[]";
    case "ip": {
      const address = await trx.selectFrom("addresses").select("ip").where("device_id", "=", device.id).where("current", "=", 1).where("mac", "=", device.mac)
        .where("ip", "in", (eb) => eb.selectFrom("evidence").select("value").where("device_id", "=", device.id).where("field", "=", "ip"))
        .orderBy("ip_key").executeTakeFirst();
      return address?.ip ?? device.ip;
    }
    case "mac": {
      const seen = await trx.selectFrom("addresses").select("mac").where("device_id", "=", device.id).where("current", "=", 1).where("ip", "=", device.ip)
        .where("mac", "<>", "").orderBy("last_seen", "desc").executeTakeFirst();
      return seen?.mac ?? device.mac;
    }
    case "hostname":
    case "vendor":
    case "os_guess":
    case "device_type": {
      const best = await trx.selectFrom("evidence").select("value").where("device_id", "=", device.id).where("field", "=", field)
        .orderBy("confidence", "desc").orderBy("seen_at", "desc").executeTakeFirst();
      return best?.value ?? (field === "device_type" ? "unknown" : "");
    }
  }
}
