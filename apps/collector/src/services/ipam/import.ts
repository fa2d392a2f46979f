import { IpamAddressCreate, type IpamImport, type IpamImported, type IpamImportQuery, IpamPrefixCreate } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import { parseNetwork } from "../../db/keys/address-range.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { badRequest } from "../../gateway/route.ts";
import { type ImportLine, type ImportTable, inPieces, readImportLines } from "./import-lines.ts";
import { addressRow, prefixRow } from "./records.ts";
import { type IpamStore, scopeOf } from "./store/plan.ts";
import { addToPlan, plannedAddress, plannedPrefix, setAddress, setPrefix } from "./store/plan-writes.ts";

/** Imports of CSV tables, all lines or none. With `dry_run` everything is checked and counted, and nothing is kept. */
export interface IpamImporter {
  /** What is there already under the same prefix and site gets the line's columns. @throws ApiError BAD_REQUEST naming each line. */
  prefixes(actor: Actor, wish: IpamImport): Promise<IpamImported>;
  /** The same by address and site. @throws as `prefixes`. */
  addresses(actor: Actor, wish: IpamImport): Promise<IpamImported>;
}

/** How an export's columns are read; those that it only shows are not. */
const PREFIXES: ImportTable<IpamPrefixCreate> = {
  columns: ["prefix", "site", "vlan_id", "name", "description", "status"], schema: IpamPrefixCreate,
};
const ADDRESSES: ImportTable<IpamAddressCreate> = {
  columns: ["ip", "site", "status", "mac", "hostname", "description"], schema: IpamAddressCreate,
};

/** Columns that the file does not have stay as they are. Holds the tenant's lock while it writes. @see RFC 4180 */
export function createIpamImporter({ store, audit, clock }: {
  readonly store: IpamStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): IpamImporter {
  /** Checks all lines, then writes all of them. */
  async function run<T>(actor: Actor, { csv, dry_run: isDry }: IpamImport, kind: {
    readonly table: ImportTable<T>;
    readonly target: string;
    /** @returns What became of it. */
    readonly put: (trx: Transaction<Schema>, value: T, given: Given) => Promise<"created" | "updated" | "unchanged">;
  }): Promise<IpamImported> {
    const lines = await readImportLines(csv, kind.table, await siteIds(actor.tenantId));
    const counts = { created: 0, updated: 0, unchanged: 0 };
    const work = async (trx: Transaction<Schema>) => {
      for await (const { value, given } of inPieces(lines)) counts[await kind.put(trx, value, given)] += 1;
      if (isDry) throw new DryRun();
      await audit(
        trx, { actor, action: `${kind.target}.import`, target: { type: kind.target, id: "import" }, before: null, after: { ...counts } },
      );
    };
    await store.change(actor.tenantId, work).catch((error: unknown) => {
      if (!(error instanceof DryRun)) throw error;
    });
    return { ...counts, dry_run: isDry };
  }

  async function siteIds(tenantId: string): Promise<ReadonlyMap<string, string>> {
    const sites = await store.sites(tenantId);
    return new Map([...sites.map(({ id, name }) => [name, id] as const), ...sites.map(({ id }) => [id, id] as const)]);
  }

  return {
    prefixes: (actor, wish) => run(actor, wish, {
      table: PREFIXES, target: "ipam_prefix",
      async put(trx, value, given) {
        const range = parseNetwork(value.prefix);
        if (!range) throw badRequest([{ path: ["csv"], message: `${value.prefix} is not a network` }]);
        const row = prefixRow(range, value, { id: createId(), tenantId: actor.tenantId, at: toInstant(clock.now()) });
        const known = await plannedPrefix(trx, actor.tenantId, row.prefix, scopeOf(value.site_id));
        if (!known) {
          await addToPlan(trx, "ipam_prefixes", row);
          return "created";
        }
        const columns = changesOf(known, row, ["vlan_id", "name", "description", "status"], given);
        if (!columns) return "unchanged";
        await setPrefix(trx, known.id, { ...columns, updated_at: row.updated_at });
        return "updated";
      },
    }),
    addresses: (actor, wish) => run(actor, wish, {
      table: ADDRESSES, target: "ipam_address",
      async put(trx, value, given) {
        const place = parseNetwork(value.ip);
        if (!place) throw badRequest([{ path: ["csv"], message: `${value.ip} is not an address` }]);
        const row = addressRow(place, value, { id: createId(), tenantId: actor.tenantId, at: toInstant(clock.now()) });
        const known = await plannedAddress(trx, actor.tenantId, row.ip_key, scopeOf(value.site_id));
        if (!known) {
          await addToPlan(trx, "ipam_addresses", row);
          return "created";
        }
        const columns = changesOf(known, row, ["status", "mac", "hostname", "description"], given);
        if (!columns) return "unchanged";
        await setAddress(trx, known.id, { ...columns, updated_at: row.updated_at });
        return "updated";
      },
    }),
  };
}

/** What a request wants: a table sent as `text/csv` has no other place for `dry_run` than the query. */
export function importOf(body: IpamImport, query: IpamImportQuery): IpamImport {
  return { ...body, dry_run: body.dry_run || query.dry_run };
}

/** Takes back a transaction that was only to show what it would do. */
class DryRun extends Error {}

type Given = ImportLine<unknown>["given"];

/** Of the columns that the file has, those that differ. @returns Null where none does. */
function changesOf<R extends object, K extends keyof R & string>(
  known: R, row: R, names: readonly K[], given: Given,
): Pick<R, K> | null {
  const changed = names.filter((name) => Object.hasOwn(given, name) && known[name] !== row[name]);
  return changed.length === 0 ? null : (Object.fromEntries(changed.map((name) => [name, row[name]])) as Pick<R, K>);
}
