import { setImmediate as nextTurn } from "node:timers/promises";
import { IpamAddressCreate, type IpamImport, type IpamImported, IpamPrefixCreate } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type * as z from "zod";
import { parseNetwork } from "../../db/address-range.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import { type CsvLine, parseCsv } from "../../gateway/csv.ts";
import type { Actor } from "../../gateway/environment.ts";
import { badRequest } from "../../gateway/route.ts";
import { addressRow, prefixRow } from "./records.ts";
import { type IpamStore, scopeOf } from "./store.ts";

export interface IpamImporter {
  /** What is there already under the same prefix and site gets the line's columns. @throws ApiError BAD_REQUEST naming each line. */
  prefixes(actor: Actor, wish: IpamImport): Promise<IpamImported>;
  /** The same by address and site. @throws as `prefixes`. */
  addresses(actor: Actor, wish: IpamImport): Promise<IpamImported>;
}

const MOST_LINES = 10_000;
const MOST_FAULTS = 100;
/** Lines checked or written at a time: some milliseconds, in which nothing else happens here. */
const LINES_AT_ONCE = 100;

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A line as its columns name it; what no column is for is left out. */
interface Entry {
  readonly line: number;
  readonly given: Readonly<Record<string, unknown>>;
}

/** How an export's columns are read; those that it only shows are not. */
const PREFIX_COLUMNS = ["prefix", "site", "vlan_id", "name", "description", "status"] as const;
const ADDRESS_COLUMNS = ["ip", "site", "status", "mac", "hostname", "description"] as const;
const SHOWN_COLUMNS: ReadonlySet<string> = new Set(["id", "prefix_name", "observed_mac", "observed_hostname", "observed_last_seen"]);

/** Cells that are no texts. An empty one says that there is none. */
const CELLS: Readonly<Record<string, (text: string) => unknown>> = {
  vlan_id: (text) => (text === "" ? null : Number(text)),
  mac: (text) => (text === "" ? null : text),
  prefix: (text) => text.trim(),
  ip: (text) => text.trim(),
};

export function createIpamImporter({ store, audit, clock }: {
  readonly store: IpamStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): IpamImporter {
  /** Checks all lines, then writes all of them. */
  async function run<T extends { readonly site_id: string | null }>(actor: Actor, { csv, dry_run: isDry }: IpamImport, kind: {
    readonly columns: readonly string[];
    readonly schema: z.ZodType<T>;
    readonly target: string;
    /** @returns What became of it. */
    readonly put: (trx: Transaction<Schema>, value: T, given: Entry["given"]) => Promise<"created" | "updated" | "unchanged">;
  }): Promise<IpamImported> {
    const entries = readEntries(csv, kind.columns, await siteIds(actor.tenantId));
    const faults: Fault[] = [];
    const values: { readonly value: T; readonly given: Entry["given"] }[] = [];
    for (const [index, { line, given }] of entries.entries()) {
      if (index % LINES_AT_ONCE === 0) await nextTurn();
      const parsed = kind.schema.safeParse(given);
      if (parsed.success) values.push({ value: parsed.data, given });
      else faults.push(...parsed.error.issues.map(({ path, message }) => ({ path: ["csv", line, ...path], message })));
      if (faults.length >= MOST_FAULTS) break;
    }
    if (faults.length > 0) throw badRequest(faults.slice(0, MOST_FAULTS));
    const counts = { created: 0, updated: 0, unchanged: 0 };
    const work = async (trx: Transaction<Schema>) => {
      for (const [index, { value, given }] of values.entries()) {
        if (index % LINES_AT_ONCE === 0) await nextTurn();
        counts[await kind.put(trx, value, given)] += 1;
      }
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
      columns: PREFIX_COLUMNS, schema: IpamPrefixCreate, target: "ipam_prefix",
      async put(trx, value, given) {
        const range = parseNetwork(value.prefix);
        if (!range) throw badRequest([{ path: ["csv"], message: `${value.prefix} is no network` }]);
        const row = prefixRow(range, value, { id: createId(), tenantId: actor.tenantId, at: toInstant(clock.now()) });
        const known = await trx.selectFrom("ipam_prefixes").selectAll().where("tenant_id", "=", actor.tenantId)
          .where("prefix", "=", row.prefix)
          .where("scope", "=", scopeOf(value.site_id)).executeTakeFirst();
        if (!known) {
          await trx.insertInto("ipam_prefixes").values(row).execute();
          return "created";
        }
        const columns = changesOf(known, row, ["vlan_id", "name", "description", "status"], given);
        if (!columns) return "unchanged";
        await trx.updateTable("ipam_prefixes").set({ ...columns, updated_at: row.updated_at }).where("id", "=", known.id).execute();
        return "updated";
      },
    }),
    addresses: (actor, wish) => run(actor, wish, {
      columns: ADDRESS_COLUMNS, schema: IpamAddressCreate, target: "ipam_address",
      async put(trx, value, given) {
        const place = parseNetwork(value.ip);
        if (!place) throw badRequest([{ path: ["csv"], message: `${value.ip} is no address` }]);
        const row = addressRow(place, value, { id: createId(), tenantId: actor.tenantId, at: toInstant(clock.now()) });
        const known = await trx.selectFrom("ipam_addresses").selectAll().where("tenant_id", "=", actor.tenantId)
          .where("ip_key", "=", row.ip_key)
          .where("scope", "=", scopeOf(value.site_id)).executeTakeFirst();
        if (!known) {
          await trx.insertInto("ipam_addresses").values(row).execute();
          return "created";
        }
        const columns = changesOf(known, row, ["status", "mac", "hostname", "description"], given);
        if (!columns) return "unchanged";
        await trx.updateTable("ipam_addresses").set({ ...columns, updated_at: row.updated_at }).where("id", "=", known.id).execute();
        return "updated";
      },
    }),
  };
}

/** Takes back a transaction that was only to show what it would do. */
class DryRun extends Error {}

/** Of the columns that the file has, those that differ. @returns Null where none does. */
function changesOf<R extends object, K extends keyof R & string>(
  known: R, row: R, names: readonly K[], given: Entry["given"],
): Pick<R, K> | null {
  const changed = names.filter((name) => Object.hasOwn(given, name) && known[name] !== row[name]);
  return changed.length === 0 ? null : (Object.fromEntries(changed.map((name) => [name, row[name]])) as Pick<R, K>);
}

/** @throws ApiError BAD_REQUEST for what is no table of these columns. */
function readEntries(csv: string, columns: readonly string[], sites: ReadonlyMap<string, string>): readonly Entry[] {
  const lines = parseCsv(csv);
  if (lines === null) throw badRequest([{ path: ["csv"], message: "a quoted cell does not end" }]);
  const [head, ...rest] = lines;
  const names = head?.cells.map((cell) => cell.trim()) ?? [];
  const [required = ""] = columns;
  const unknown = names.find((name) => !columns.includes(name) && !SHOWN_COLUMNS.has(name));
  if (!names.includes(required) || unknown !== undefined || new Set(names).size < names.length) {
    throw badRequest([{ path: ["csv", 1], message: `the first line names the columns, each once: ${columns.join(", ")}` }]);
  }
  if (rest.length > MOST_LINES) throw badRequest([{ path: ["csv"], message: `at most ${MOST_LINES} lines at a time` }]);
  return rest.map((line) => readEntry(line, names, columns, sites));
}

function readEntry(
  { number, cells }: CsvLine, names: readonly string[], columns: readonly string[], sites: ReadonlyMap<string, string>,
): Entry {
  if (cells.length !== names.length) {
    throw badRequest([{ path: ["csv", number], message: `${names.length} cells were expected, there are ${cells.length}` }]);
  }
  const given: Record<string, unknown> = {};
  for (const [at, name] of names.entries()) {
    const text = cells[at] ?? "";
    if (name === "site") {
      given["site_id"] = text === "" ? null : sites.get(text);
      if (given["site_id"] === undefined) throw badRequest([{ path: ["csv", number, "site"], message: "no such site" }]);
    } else if (name === "status" && text === "") continue;
    else if (columns.includes(name)) given[name] = (CELLS[name] ?? String)(text);
  }
  return { line: number, given };
}
