import { z } from "@hono/zod-openapi";
import { Id, listEnvelope, PageQuery, Site, SiteCreate } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { createRouter, declareRoute, json } from "../../gateway/route.ts";
import type { SitesService } from "./service.ts";

const list = declareRoute("agents:read", {
  method: "get",
  path: "/sites",
  request: { query: PageQuery.extend({ cursor: Id.optional() }) },
  responses: { 200: { description: "Sites in the order in which they were made", content: json(listEnvelope(Site)) } },
});

const read = declareRoute("agents:read", {
  method: "get",
  path: "/sites/{site_id}",
  request: { params: z.object({ site_id: Id }) },
  responses: { 200: { description: "The site", content: json(Site) } },
});

const create = declareRoute("agents:write", {
  method: "post",
  path: "/sites",
  request: { body: { required: true, content: json(SiteCreate) } },
  responses: { 201: { description: "The new site", content: json(Site) } },
});

/** `/sites` and `/sites/{site_id}`. */
export function sitesRoutes(service: SitesService) {
  const router = createRouter();
  router.openapi(list, async (c) => {
    const { data, meta } = await service.list(identityOf(c).tenantId, c.req.valid("query"));
    return c.json({ data: [...data], meta }, 200);
  });
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200));
  router.openapi(create, async (c) => {
    const site = await service.create(identityOf(c).tenantId, c.req.valid("json"));
    return c.json(site, 201, { location: `/api/v1/sites/${site.id}` });
  });
  return router;
}
