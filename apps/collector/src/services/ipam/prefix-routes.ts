import { z } from "@hono/zod-openapi";
import {
  Id, IpamAddress, IpamImport, IpamImported, IpamImportQuery, IpamNextAddress, IpamNextPrefix, IpamPrefix, IpamPrefixAddress, IpamPrefixCreate,
  IpamPrefixesQuery,
  IpamPrefixUpdate, IpamUtilization, listEnvelope, PageQuery,
} from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, csvBody, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import { exportPrefixes } from "./export.ts";
import { importOf, type IpamImporter } from "./import.ts";
import type { PrefixesService } from "./prefixes-service.ts";

const params = z.object({ prefix_id: Id });

const list = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/prefixes",
  operationId: "listIpamPrefixes",
  summary: "List prefixes",
  request: { query: IpamPrefixesQuery },
  responses: { 200: { description: "Prefixes, each before those that lie in it", content: json(listEnvelope(IpamPrefix)) } },
});

const exportCsv = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/prefixes/export",
  operationId: "exportIpamPrefixes",
  summary: "Export prefixes as CSV",
  description: "In the format of the import. A cell that a spreadsheet would read as a formula begins with an apostrophe, which the import "
    + "takes away again.",
  request: { query: IpamPrefixesQuery.omit({ page: true, per_page: true, cursor: true }) },
  responses: { 200: { description: "One line for each prefix", content: { "text/csv": { schema: z.string() } } } },
});

const importCsv = declareRoute("ipam:write", {
  method: "post",
  path: "/ipam/prefixes/import",
  operationId: "importIpamPrefixes",
  summary: "Import prefixes from CSV",
  description: "Columns `prefix`, `site` (name or id; empty for all sites), `vlan_id`, `name`, `description`, `status`. What is there "
    + "already under the same "
    + "prefix and site gets the columns that the file has. All lines are imported, or none. Send the table as `text/csv`, or as `csv` in JSON.",
  request: { query: IpamImportQuery, body: csvBody(IpamImport, "prefix,name\r\n198.51.100.0/24,Branch\r\n") },
  responses: { 200: { description: "What was done, or would be done", content: json(IpamImported) } },
});

const create = declareRoute("ipam:write", {
  method: "post",
  path: "/ipam/prefixes",
  operationId: "createIpamPrefix",
  summary: "Record a prefix",
  request: { body: jsonBody(IpamPrefixCreate) },
  responses: { 201: { description: "The prefix", content: json(IpamPrefix) } },
});

const read = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/prefixes/{prefix_id}",
  operationId: "readIpamPrefix",
  summary: "Read a prefix",
  request: { params },
  responses: { 200: { description: "The prefix", content: json(IpamPrefix) } },
});

const update = declareRoute("ipam:write", {
  method: "put",
  path: "/ipam/prefixes/{prefix_id}",
  operationId: "updateIpamPrefix",
  summary: "Change a prefix",
  request: { params, body: jsonBody(IpamPrefixUpdate) },
  responses: { 200: { description: "The prefix", content: json(IpamPrefix) } },
});

const remove = declareRoute("ipam:write", {
  method: "delete",
  path: "/ipam/prefixes/{prefix_id}",
  operationId: "deleteIpamPrefix",
  summary: "Delete a prefix",
  description: "Prefixes and addresses in it stay.",
  request: { params },
  responses: { 204: { description: "Deleted" } },
});

const utilization = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/prefixes/{prefix_id}/utilization",
  operationId: "readIpamPrefixUtilization",
  summary: "Read a prefix's utilization",
  description: "Counts recorded addresses and addresses that devices use now. An address that is both counts once.",
  request: { params },
  responses: { 200: { description: "Its utilisation", content: json(IpamUtilization) } },
});

const addresses = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/prefixes/{prefix_id}/addresses",
  operationId: "listIpamPrefixAddresses",
  summary: "List a prefix's addresses, recorded or in use",
  request: { params, query: PageQuery },
  responses: { 200: { description: "Addresses by number", content: json(listEnvelope(IpamPrefixAddress)) } },
});

const nextAddress = declareRoute("ipam:write", {
  method: "post",
  path: "/ipam/prefixes/{prefix_id}/next-address",
  operationId: "allocateIpamAddress",
  summary: "Take the next free address of a prefix",
  description: "It is not recorded, not used by a device, and in no prefix below. Requests at the same time get different ones.",
  request: { params, body: jsonBody(IpamNextAddress) },
  responses: { 201: { description: "The address, recorded", content: json(IpamAddress) } },
});

const nextPrefix = declareRoute("ipam:write", {
  method: "post",
  path: "/ipam/prefixes/{prefix_id}/next-prefix",
  operationId: "allocateIpamPrefix",
  summary: "Take the next free part of a prefix",
  description: "No prefix and no address in use lies in it. Requests at the same time get different ones.",
  request: { params, body: jsonBody(IpamNextPrefix) },
  responses: { 201: { description: "The prefix, recorded", content: json(IpamPrefix) } },
});

/** `/ipam/prefixes`. */
export function prefixesRoutes(service: PrefixesService, importer: Pick<IpamImporter, "prefixes">) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  // Before the route of one prefix, which would take the word for an id.
  router.openapi(exportCsv, async (c) => {
    const { tenantId } = identityOf(c);
    return answerCsv(c, "prefixes.csv", await exportPrefixes(c.req.valid("query"), (query) => service.list(tenantId, query)));
  });
  router.openapi(importCsv, async (c) => c.json(await importer.prefixes(actorOf(c), importOf(c.req.valid("json"), c.req.valid("query"))), 200));
  router.openapi(create, async (c) => {
    const prefix = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(prefix, 201, { location: `/api/v1/ipam/prefixes/${prefix.id}` });
  });
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").prefix_id), 200));
  router.openapi(update, async (c) => c.json(await service.update(actorOf(c), c.req.valid("param").prefix_id, c.req.valid("json")), 200));
  router.openapi(remove, async (c) => {
    await service.remove(actorOf(c), c.req.valid("param").prefix_id);
    return c.body(null, 204);
  });
  router.openapi(utilization, async (c) => c.json(await service.utilization(identityOf(c).tenantId, c.req.valid("param").prefix_id), 200));
  router.openapi(
    addresses,
    async (c) => c.json(
      toAnswer(await service.addresses(identityOf(c).tenantId, c.req.valid("param").prefix_id, c.req.valid("query"))), 200,
    ),
  );
  router.openapi(nextAddress, async (c) => {
    const address = await service.nextAddress(actorOf(c), c.req.valid("param").prefix_id, c.req.valid("json"));
    return c.json(address, 201, { location: `/api/v1/ipam/addresses/${address.id}` });
  });
  router.openapi(nextPrefix, async (c) => {
    const prefix = await service.nextPrefix(actorOf(c), c.req.valid("param").prefix_id, c.req.valid("json"));
    return c.json(prefix, 201, { location: `/api/v1/ipam/prefixes/${prefix.id}` });
  });
  return router;
}
