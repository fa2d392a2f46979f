import { z } from "@hono/zod-openapi";
import { BUNDLE_KINDS, bundlesOperations } from "@lanthorn/contract";
import type { Context } from "hono";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { type GatewayEnvironment, probeOf } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageOfAll, toAnswer } from "../../gateway/page.ts";
import { bundleKey, type BundlesStore } from "./store.ts";

interface Bundles {
  readonly store: Pick<BundlesStore, "published" | "find" | "piece" | "siteOf">;
  /** Null for a probe that may not come in with this key. */
  readonly admit: (probeId: string, key: string) => Promise<unknown>;
}

const { endpoint, routes } = endpointsOf<Bundles>();

/** `/agents/bundles…`: what probes are given, each under its own certificate, and what operators see of it. */
export const bundlesRoutes = routes(
  endpoint("agents:read", bundlesOperations.listBundles, {
    summary: "List bundles",
    description: "Files for probes: the newest version of each bundle. They belong to the deployment and are the same for every tenant. "
      + "A probe reports in `health.bundles` which versions it uses, and why it does not use the newest.",
    answer: "The newest version of each",
  }, async (c, { store }) => c.json(toAnswer(pageOfAll(await store.published(), c.req.valid("query"), ({ name }) => name)), 200)),
  endpoint("probe", bundlesOperations.readBundle, {
    summary: "Read a bundle's manifest",
    description: "The newest version of a bundle, with its signature. The manifest names the parts by their SHA-256.",
    answer: "The signed manifest",
  }, async (c, { store, admit }) => {
    await checkAdmitted(c, admit);
    const bundle = await store.find(await keyFor(c, store, c.req.valid("param").bundle_name));
    if (!bundle) throw notFound("bundle");
    return c.json(bundle, 200);
  }),
  endpoint("probe", bundlesOperations.readBundlePart, {
    summary: "Read a piece of a bundle's part", description: "At most 256 KiB from `offset` on. Only parts of the newest version exist.",
    answer: [200, "The piece", { "application/octet-stream": { schema: z.string().meta({ format: "binary" }) } }],
  }, async (c, { store, admit }) => {
    await checkAdmitted(c, admit);
    const { bundle_name: name, sha256 } = c.req.valid("param");
    const piece = await store.piece(await keyFor(c, store, name), sha256, c.req.valid("query").offset);
    if (!piece) throw notFound("part of this bundle's newest version");
    return c.body(new Uint8Array(piece), 200, { "content-type": "application/octet-stream" });
  }),
);

/** A probe has the bundle of its own site where every site has one. */
async function keyFor(c: Context<GatewayEnvironment>, store: Bundles["store"], name: string): Promise<string> {
  const isOfSite = Object.entries(BUNDLE_KINDS).some(([kind, limits]) => kind === name && limits.isOfSite);
  return bundleKey(name, isOfSite ? await store.siteOf(probeOf(c)) : null);
}

async function checkAdmitted(c: Context<GatewayEnvironment>, admit: Bundles["admit"]): Promise<void> {
  const { probePublicKey: key } = c.env.peer;
  if (key !== undefined && await admit(probeOf(c), key)) return;
  throw new ApiError("UNAUTHORIZED", "this probe is revoked, or its certificate was replaced: enroll it again");
}
