import { z } from "@hono/zod-openapi";
import { Id, listEnvelope, Site, SiteCreate, SitesQuery, SiteUpdate } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { SitesService } from "./service.ts";

const Params = z.object({ site_id: Id });

const { endpoint, routes } = endpointsOf<SitesService>();

/** `/sites` and `/sites/{site_id}`. */
export const sitesRoutes = routes(
  endpoint("agents:read", "GET /sites", {
    operationId: "listSites", summary: "List sites", query: SitesQuery,
    answer: [200, "Sites in the order in which they were made", listEnvelope(Site)],
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("agents:read", "GET /sites/{site_id}", {
    operationId: "readSite", summary: "Read a site", params: Params, answer: [200, "The site", Site],
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("agents:write", "POST /sites", {
    operationId: "createSite", summary: "Create a site", body: jsonBody(SiteCreate), answer: [201, "The new site", Site],
  }, async (c, service) => {
    const site = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(site, 201, { location: `/api/v1/sites/${site.id}` });
  }),
  endpoint("agents:write", "PUT /sites/{site_id}", {
    operationId: "updateSite", summary: "Change a site and its probes' settings",
    description: "Fields left out stay. The site's probes get the settings at once, or when they reconnect.", params: Params,
    body: jsonBody(SiteUpdate), answer: [200, "The site", Site],
  }, async (c, service) => c.json(await service.update(actorOf(c), c.req.valid("param").site_id, c.req.valid("json")), 200)),
  endpoint("agents:write", "DELETE /sites/{site_id}", {
    operationId: "deleteSite", summary: "Delete a site without probes and devices", params: Params,
    answer: [204, "Deleted, with its enrollment tokens and revoked probes"],
  }, async (c, service) => {
    await service.remove(actorOf(c), c.req.valid("param").site_id);
    return c.body(null, 204);
  }),
);
