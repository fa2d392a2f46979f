import { z } from "@hono/zod-openapi";
import { Id, listEnvelope, Site, SiteCreate, SitesQuery, SiteUpdate } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { SitesService } from "./service.ts";

const list = declareRoute("agents:read", {
  method: "get",
  path: "/sites",
  operationId: "listSites",
  summary: "List sites",
  request: { query: SitesQuery },
  responses: { 200: { description: "Sites in the order in which they were made", content: json(listEnvelope(Site)) } },
});

const Params = z.object({ site_id: Id });

const read = declareRoute("agents:read", {
  method: "get",
  path: "/sites/{site_id}",
  operationId: "readSite",
  summary: "Read a site",
  request: { params: Params },
  responses: { 200: { description: "The site", content: json(Site) } },
});

const create = declareRoute("agents:write", {
  method: "post",
  path: "/sites",
  operationId: "createSite",
  summary: "Create a site",
  request: { body: jsonBody(SiteCreate) },
  responses: { 201: { description: "The new site", content: json(Site) } },
});

const update = declareRoute("agents:write", {
  method: "put",
  path: "/sites/{site_id}",
  operationId: "updateSite",
  summary: "Change a site and its probes' settings",
  description: "Fields left out stay. The site's probes get the settings at once, or when they reconnect.",
  request: { params: Params, body: jsonBody(SiteUpdate) },
  responses: { 200: { description: "The site", content: json(Site) } },
});

const remove = declareRoute("agents:write", {
  method: "delete",
  path: "/sites/{site_id}",
  operationId: "deleteSite",
  summary: "Delete a site without probes and devices",
  request: { params: Params },
  responses: { 204: { description: "Deleted, with its enrollment tokens and revoked probes" } },
});

/** `/sites` and `/sites/{site_id}`. */
export function sitesRoutes(service: SitesService) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200));
  router.openapi(create, async (c) => {
    const site = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(site, 201, { location: `/api/v1/sites/${site.id}` });
  });
  router.openapi(update, async (c) => c.json(await service.update(actorOf(c), c.req.valid("param").site_id, c.req.valid("json")), 200));
  router.openapi(remove, async (c) => {
    await service.remove(actorOf(c), c.req.valid("param").site_id);
    return c.body(null, 204);
  });
  return router;
}
