import type { Context } from "hono";
import type { GatewayEnvironment } from "../gateway/environment.ts";
import { notFound } from "../gateway/errors.ts";
import { takesCoding } from "../gateway/http/compress.ts";
import { checkAccess, createRouter } from "../gateway/route.ts";
import { SERVICE_NAMES, SERVICES } from "../gateway/services.ts";
import type { Assets } from "./assets.ts";
import type { Documents } from "./documents.ts";
import { documentPage } from "./page.ts";

/** Swagger UI draws its icons as `data:` images; everything else comes from here, and nothing is written into the page. */
const PAGE_POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'", "form-action 'self'",
  "frame-ancestors 'none'", "base-uri 'none'",
].join("; ");

const ASSET_SECONDS = 86_400;

/**
 * A page with Swagger UI for each service and for all in one, its OpenAPI document beside it, and the page's files. To be
 * mounted at the root.
 * @param deps.isPublic Whether the documents can be read without credentials.
 * @param deps.arePagesOpen Whether the pages and their files can be. A page shows nothing without its document.
 */
export function documentRoutes(deps: {
  readonly documents: Documents; readonly assets: Assets; readonly isPublic: boolean; readonly arePagesOpen: boolean;
}) {
  const router = createRouter();
  const pageAccess = checkAccess(deps.arePagesOpen ? "anyone" : "signed-in");
  const access = checkAccess(deps.isPublic ? "anyone" : "signed-in");
  const serve = (path: string, title: string, document: () => object) => {
    router.get(path, pageAccess, (c) => page(c, title));
    router.get(`${path}/openapi.json`, access, (c) => c.json(document()));
  };
  for (const name of SERVICE_NAMES) {
    const { title, docs } = SERVICES[name];
    serve(`/api${docs}`, `Lanthorn: ${title}`, () => deps.documents.of(name));
    if (name !== "gateway") serve(`/api/v1${docs}`, `Lanthorn: ${title}`, () => deps.documents.of(name));
  }
  serve("/api/v1/docs", "Lanthorn: all services", () => deps.documents.merged());
  router.get("/api/docs/assets/:name", pageAccess, async (c) => {
    const asset = await deps.assets.read(c.req.param("name"));
    if (!asset) throw notFound("file");
    const isGzipped = takesCoding(c.req.header("accept-encoding"), "gzip");
    return c.body(isGzipped ? asset.gzipped : asset.plain, 200, {
      "content-type": asset.type, "cache-control": `public, max-age=${ASSET_SECONDS}`, vary: "accept-encoding",
      ...(isGzipped ? { "content-encoding": "gzip" } : {}),
    });
  });
  return router;
}

function page(c: Context<GatewayEnvironment>, title: string): Response {
  // The gateway sets its own policy for every answer unless there is one.
  return c.html(documentPage(title), 200, { "content-security-policy": PAGE_POLICY });
}
