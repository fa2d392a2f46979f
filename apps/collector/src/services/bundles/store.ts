import { BUNDLE_KINDS, BUNDLE_PIECE_BYTES, type BundleAnnouncement, type BundleManifest, type PublishedBundle, type SignedBundle } from "@lanthorn/contract";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** A version of a bundle with its parts by their SHA-256. */
export interface Publication {
  readonly manifest: BundleManifest;
  readonly signed: SignedBundle;
  readonly parts: ReadonlyMap<string, Buffer>;
}

/** By which a bundle is stored: its name, or that and the site whose probes alone may have it. */
export function bundleKey(name: string, siteId: string | null): string {
  return siteId === null ? name : `${name}/${siteId}`;
}

/** A bundle belongs to the deployment, so that every probe may have it, or to one site. In the database, all collectors have them. A `key` is of `bundleKey`. */
export interface BundlesStore {
  /** What is announced to all probes. */
  list(): Promise<readonly BundleAnnouncement[]>;
  /** What is announced to the probes of a site: the deployment's, and its own. */
  listFor(siteId: string): Promise<readonly BundleAnnouncement[]>;
  /** The site of a probe; null for one that is revoked. */
  siteOf(probeId: string): Promise<string | null>;
  /** Probes to announce it to: all that are not revoked. */
  probeIds(): Promise<readonly string[]>;
  /** Removes the bundles of sites that are not there any more. */
  forgetSites(): Promise<void>;
  /** What operators see: the deployment's. */
  published(): Promise<readonly PublishedBundle[]>;
  find(key: string): Promise<SignedBundle | null>;
  /** A part of the newest version of a bundle from `offset` on, at most to the end of a piece; null for any other part, and behind its end. */
  piece(key: string, sha256: string, offset: number): Promise<Buffer | null>;
  /**
   * Puts a version in the place of the one before, whose parts go unless another bundle has them.
   * @param siteId Null for one of the deployment.
   * @returns False, and nothing has changed, where a version as high is published already.
   */
  publish(publication: Publication, at: string, siteId?: string | null): Promise<boolean>;
}

/** Keys of bundles of sites. */
const OF_SITES = "%/%";
const SITE_BUNDLES = Object.entries(BUNDLE_KINDS).filter(([, { isOfSite }]) => isOfSite).map(([name]) => name);

/** A part is stored once by its SHA-256, in base64 pieces of `BUNDLE_PIECE_BYTES`, however many bundles have it. */
export function createBundlesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): BundlesStore {
  return {
    list: () => reads.selectFrom("bundles").select(["name", "version"]).where("name", "not like", OF_SITES).orderBy("name").execute(),
    async listFor(siteId) {
      const rows = await reads.selectFrom("bundles").select(["name", "version"])
        .where((eb) => eb.or([eb("name", "not like", OF_SITES), eb("name", "in", SITE_BUNDLES.map((name) => bundleKey(name, siteId)))])).orderBy("name").execute();
      return rows.map(({ name, version }) => ({ name: name.split("/")[0] ?? name, version }));
    },
    siteOf: async (probeId) =>
      (await reads.selectFrom("probes").select("site_id").where("id", "=", probeId).where("revoked_at", "is", null).executeTakeFirst())?.site_id ?? null,
    probeIds: async () => (await reads.selectFrom("probes").select("id").where("revoked_at", "is", null).execute()).map(({ id }) => id),
    published: () => reads.selectFrom("bundles").select(["name", "version", "parts", "bytes", "published_at"]).where("name", "not like", OF_SITES).orderBy("name").execute(),
    find: async (key) =>
      (await reads.selectFrom("bundles").select(["manifest", "signature", "certificate"]).where("name", "=", key).executeTakeFirst()) ?? null,
    async forgetSites() {
      const rows = await db.selectFrom("bundles").select("name").where("name", "like", OF_SITES).execute();
      const sites = new Set((await db.selectFrom("sites").select("id").execute()).map(({ id }) => id));
      for (const { name } of rows) if (!sites.has(name.split("/")[1] ?? "")) await db.deleteFrom("bundles").where("name", "=", name).execute();
    },
    async piece(key, sha256, offset) {
      const row = await reads.selectFrom("bundle_pieces").innerJoin("bundle_parts", "bundle_parts.sha256", "bundle_pieces.sha256")
        .select("content").where("bundle_parts.name", "=", key).where("bundle_pieces.sha256", "=", sha256)
        .where("piece", "=", Math.floor(offset / BUNDLE_PIECE_BYTES)).executeTakeFirst();
      return row ? Buffer.from(row.content, "base64").subarray(offset % BUNDLE_PIECE_BYTES) : null;
    },
    publish: ({ manifest: { name: bundle, version, parts: listed }, signed, parts }, at, siteId = null) => db.transaction().execute(async (trx) => {
      const { manifest, signature, certificate } = signed;
      const name = bundleKey(bundle, siteId);
      const bytes = listed.reduce((sum, { size }) => sum + size, 0);
      const row = { version, manifest, signature, certificate, parts: listed.length, bytes, published_at: at };
      // Of two commands at once one waits here for the other's row.
      const { numInsertedOrUpdatedRows: changed } = await trx.insertInto("bundles").values({ name, ...row })
        .onConflict((conflict) => conflict.column("name").doUpdateSet(row).where("bundles.version", "<", version)).executeTakeFirstOrThrow();
      if (!changed) return false;
      await trx.deleteFrom("bundle_parts").where("name", "=", name).execute();
      for (const [sha256, content] of parts) {
        await trx.insertInto("bundle_parts").values({ name, sha256 }).execute();
        await putPieces(trx, sha256, content);
      }
      await trx.deleteFrom("bundle_pieces")
        .where((eb) => eb.not(eb.exists(eb.selectFrom("bundle_parts").select("name").whereRef("bundle_parts.sha256", "=", "bundle_pieces.sha256")))).execute();
      return true;
    }),
  };
}

/** An empty part has one piece, which is empty too. */
async function putPieces(trx: Transaction<Schema>, sha256: string, content: Buffer): Promise<void> {
  for (let offset = 0; offset === 0 || offset < content.length; offset += BUNDLE_PIECE_BYTES) {
    const row = { content: content.subarray(offset, offset + BUNDLE_PIECE_BYTES).toString("base64") };
    // Also over one that is there: to publish again mends a piece that was damaged.
    await trx.insertInto("bundle_pieces").values({ sha256, piece: offset / BUNDLE_PIECE_BYTES, ...row })
      .onConflict((conflict) => conflict.columns(["sha256", "piece"]).doUpdateSet(row)).execute();
  }
}
