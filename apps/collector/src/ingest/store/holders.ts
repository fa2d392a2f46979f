import { listQuery } from "../../db/query/list-query.ts";
import { among } from "../../db/query/select-in.ts";

/** A site and what is looked for there. */
type AtSite = readonly [siteId: string, value: string];

/** The devices that have these keys (`keyText`), at their sites. */
export const readHolders = listQuery((db, list: readonly AtSite[]) =>
  db.selectFrom("device_keys").select(["device_id", "site_id", "key", "source"]).where(among(["site_id", "key"], list)));

/** The devices that have interfaces with these MACs, at their sites. */
export const readOwners = listQuery((db, list: readonly AtSite[]) =>
  db.selectFrom("interfaces").select(["device_id", "site_id", "mac"]).where(among(["site_id", "mac"], list)));

/** The devices that are known by their address alone, of those that have these addresses at their sites now. */
export const readKnownByAddress = listQuery((db, list: readonly AtSite[]) =>
  db.selectFrom("addresses").innerJoin("devices", "devices.id", "addresses.device_id")
    .select(["addresses.device_id", "addresses.site_id", "addresses.ip"]).where(among(["addresses.site_id", "addresses.ip"], list))
    .where("addresses.current", "=", 1).where("addresses.mac", "=", "").where("devices.mac", "=", ""));
