import { z } from "@hono/zod-openapi";
import {
  Id, IpamAddress, IpamAddressCreate, IpamAddressesQuery, IpamAddressUpdate, IpamConflicts, IpamConflictsQuery,
  IpamImport, IpamImported, IpamImportQuery, listEnvelope,
} from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, csvBody, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { AddressesService } from "./addresses-service.ts";
import { exportAddresses } from "./export.ts";
import { importOf, type IpamImporter } from "./import.ts";

const params = z.object({ address_id: Id });

const list = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/addresses",
  operationId: "listIpamAddresses",
  summary: "List recorded addresses",
  request: { query: IpamAddressesQuery },
  responses: { 200: { description: "Addresses by number", content: json(listEnvelope(IpamAddress)) } },
});

const exportCsv = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/addresses/export",
  operationId: "exportIpamAddresses",
  summary: "Export addresses as CSV",
  description: "In the format of the import.",
  request: { query: IpamAddressesQuery.omit({ page: true, per_page: true, cursor: true }) },
  responses: { 200: { description: "One line for each address", content: { "text/csv": { schema: z.string() } } } },
});

const importCsv = declareRoute("ipam:write", {
  method: "post",
  path: "/ipam/addresses/import",
  operationId: "importIpamAddresses",
  summary: "Import addresses from CSV",
  description: "Columns `ip`, `site` (name or id; empty for none), `status`, `mac`, `hostname`, `description`. What is there already "
    + "under the same address and "
    + "site gets the columns that the file has. All lines are imported, or none. Send the table as `text/csv`, or as `csv` in JSON.",
  request: { query: IpamImportQuery, body: csvBody(IpamImport, "ip,hostname\r\n198.51.100.7,printer\r\n") },
  responses: { 200: { description: "What was done, or would be done", content: json(IpamImported) } },
});

const create = declareRoute("ipam:write", {
  method: "post",
  path: "/ipam/addresses",
  operationId: "createIpamAddress",
  summary: "Record an address",
  request: { body: jsonBody(IpamAddressCreate) },
  responses: { 201: { description: "The address", content: json(IpamAddress) } },
});

const read = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/addresses/{address_id}",
  operationId: "readIpamAddress",
  summary: "Read an address",
  request: { params },
  responses: { 200: { description: "The address", content: json(IpamAddress) } },
});

const update = declareRoute("ipam:write", {
  method: "put",
  path: "/ipam/addresses/{address_id}",
  operationId: "updateIpamAddress",
  summary: "Change an address",
  request: { params, body: jsonBody(IpamAddressUpdate) },
  responses: { 200: { description: "The address", content: json(IpamAddress) } },
});

const remove = declareRoute("ipam:write", {
  method: "delete",
  path: "/ipam/addresses/{address_id}",
  operationId: "deleteIpamAddress",
  summary: "Delete an address",
  request: { params },
  responses: { 204: { description: "Deleted" } },
});

const conflicts = declareRoute("ipam:read", {
  method: "get",
  path: "/ipam/conflicts",
  operationId: "listIpamConflicts",
  summary: "List conflicts between the plan and the network",
  description: "The conflicts that exist now, by address. An address outside of all prefixes is a conflict only where a "
    + "site has a prefix of its own or of all sites.",
  request: { query: IpamConflictsQuery },
  responses: { 200: { description: "Conflicts", content: json(IpamConflicts) } },
});

/** `/ipam/addresses` and `/ipam/conflicts`. */
export function addressesRoutes(
  service: AddressesService, importer: Pick<IpamImporter, "addresses">,
  listConflicts: (tenantId: string, query: IpamConflictsQuery) => Promise<IpamConflicts>,
) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  // Before the route of one address, which would take the word for an id.
  router.openapi(exportCsv, async (c) => {
    const { tenantId } = identityOf(c);
    return answerCsv(c, "addresses.csv", await exportAddresses(c.req.valid("query"), (query) => service.list(tenantId, query)));
  });
  router.openapi(importCsv, async (c) => c.json(await importer.addresses(actorOf(c), importOf(c.req.valid("json"), c.req.valid("query"))), 200));
  router.openapi(create, async (c) => {
    const address = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(address, 201, { location: `/api/v1/ipam/addresses/${address.id}` });
  });
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").address_id), 200));
  router.openapi(update, async (c) => c.json(await service.update(actorOf(c), c.req.valid("param").address_id, c.req.valid("json")), 200));
  router.openapi(remove, async (c) => {
    await service.remove(actorOf(c), c.req.valid("param").address_id);
    return c.body(null, 204);
  });
  router.openapi(conflicts, async (c) => c.json(await listConflicts(identityOf(c).tenantId, c.req.valid("query")), 200));
  return router;
}
