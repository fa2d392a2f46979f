import type { Kysely, Selectable } from "kysely";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";

/** A probe as those who send commands to it see it. */
export interface CommandedProbe {
  readonly id: string;
  readonly name: string;
  readonly site_id: string;
  readonly state: string;
  readonly silent_since: string | null;
  readonly health: string | null;
}

/** A live view that goes on. */
export type WatchRow = Selectable<Schema["pcap_watches"]>;

/** Commands whose replies somebody waits for, live views, and the probes that both are for. */
export interface PcapCommandsStore {
  add(row: { readonly id: string; readonly tenant_id: string; readonly probe_id: string; readonly expires_at: string }): Promise<void>;
  /** Keeps a reply for whoever waits. @returns False where nobody waits for one of this probe. */
  reply(probeId: string, id: string, reply: string): Promise<boolean>;
  /** The reply; null while there is none. */
  replyTo(id: string): Promise<string | null>;
  remove(id: string): Promise<void>;
  /** A tenant's sites, two at most. */
  sites(tenantId: string): Promise<readonly string[]>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Probes that are not revoked: of a site, or the one of this id. */
  probes(tenantId: string, of: { readonly siteId: string } | { readonly probeId: string }): Promise<readonly CommandedProbe[]>;
  addWatch(row: WatchRow): Promise<void>;
  watch(tenantId: string, id: string): Promise<WatchRow | null>;
  useWatch(id: string, at: string): Promise<void>;
  removeWatch(id: string): Promise<void>;
}

/** Over the collector's database. */
export function createPcapCommandsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): PcapCommandsStore {
  return {
    async add(row) {
      await db.insertInto("pcap_commands").values({ ...row, reply: null }).execute();
    },
    async reply(probeId, id, reply) {
      const row = await db.updateTable("pcap_commands").set({ reply }).where("id", "=", id).where("probe_id", "=", probeId).where("reply", "is", null)
        .returning("id").executeTakeFirst();
      return row !== undefined;
    },
    replyTo: async (id) => (await db.selectFrom("pcap_commands").select("reply").where("id", "=", id).executeTakeFirst())?.reply ?? null,
    async remove(id) {
      await db.deleteFrom("pcap_commands").where("id", "=", id).execute();
    },
    sites: async (tenantId) => (await reads.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).orderBy("id").limit(2).execute())
      .map(({ id }) => id),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    probes: (tenantId, of) => reads.selectFrom("probes").select(["id", "name", "site_id", "state", "silent_since", "health"])
      .where("tenant_id", "=", tenantId).where("revoked_at", "is", null)
      .where((eb) => ("siteId" in of ? eb("site_id", "=", of.siteId) : eb("id", "=", of.probeId))).orderBy("id").execute(),
    async addWatch(row) {
      await db.insertInto("pcap_watches").values(row).execute();
    },
    watch: async (tenantId, id) =>
      (await db.selectFrom("pcap_watches").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) ?? null,
    async useWatch(id, at) {
      await db.updateTable("pcap_watches").set({ used_at: at }).where("id", "=", id).execute();
    },
    async removeWatch(id) {
      await db.deleteFrom("pcap_watches").where("id", "=", id).execute();
    },
  };
}
