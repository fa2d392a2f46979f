import { sitesOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { SitesService } from "./service.ts";

const { endpoint, routes } = endpointsOf<SitesService>();

/** `/sites` and `/sites/{site_id}`. */
export const sitesRoutes = routes(
  endpoint("agents:read", sitesOperations.listSites, {
    summary: "List sites", answer: "Sites in the order in which they were made",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  // Before the route of one site, which would take the word for an id.
  endpoint("agents:read", sitesOperations.listSiteSummaries, {
    summary: "List what is at each site, in numbers", answer: "Summaries in the order in which the sites were made",
  }, async (c, service) => c.json(toAnswer(await service.summaries(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("agents:read", sitesOperations.readSiteSummary, {
    summary: "Read what is at a site, in numbers", answer: "The summary",
  }, async (c, service) => c.json(await service.summary(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("agents:read", sitesOperations.readSite, {
    summary: "Read a site", answer: "The site",
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("agents:write", sitesOperations.createSite, {
    summary: "Create a site", answer: "The new site",
  }, async (c, service) => {
    const site = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(site, 201, { location: `/api/v1/sites/${site.id}` });
  }),
  endpoint("agents:write", sitesOperations.updateSite, {
    summary: "Change a site and its probes' settings",
    description: "Fields left out stay. The site's probes get the settings at once, or when they reconnect.", answer: "The site",
  }, async (c, service) => c.json(await service.update(actorOf(c), c.req.valid("param").site_id, c.req.valid("json")), 200)),
  endpoint("agents:write", sitesOperations.deleteSite, {
    summary: "Delete a site without probes and devices", answer: "Deleted, with its enrollment tokens and revoked probes",
  }, async (c, service) => {
    await service.remove(actorOf(c), c.req.valid("param").site_id);
    return c.body(null, 204);
  }),
);
