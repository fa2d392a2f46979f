import { z } from "@hono/zod-openapi";
import {
  Id, IpamAddress, IpamAddressCreate, IpamAddressesQuery, IpamAddressUpdate, IpamConflicts, IpamConflictsQuery,
  IpamImport, IpamImported, IpamImportQuery, listEnvelope,
} from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { csvBody, jsonBody } from "../../gateway/route.ts";
import type { AddressesService } from "./addresses-service.ts";
import { exportAddresses } from "./export.ts";
import { importOf, type IpamImporter } from "./import.ts";

const params = z.object({ address_id: Id });

const { endpoint, routes } = endpointsOf<{
  readonly service: AddressesService;
  readonly importer: Pick<IpamImporter, "addresses">;
  readonly listConflicts: (tenantId: string, query: IpamConflictsQuery) => Promise<IpamConflicts>;
}>();

/** `/ipam/addresses` and `/ipam/conflicts`. */
export const addressesRoutes = routes(
  endpoint("ipam:read", "GET /ipam/addresses", {
    operationId: "listIpamAddresses", summary: "List recorded addresses", query: IpamAddressesQuery,
    answer: [200, "Addresses by number", listEnvelope(IpamAddress)],
  }, async (c, { service }) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  // Before the route of one address, which would take the word for an id.
  endpoint("ipam:read", "GET /ipam/addresses/export", {
    operationId: "exportIpamAddresses", summary: "Export addresses as CSV", description: "In the format of the import.",
    query: IpamAddressesQuery.omit({ page: true, per_page: true, cursor: true }),
    answer: [200, "One line for each address", { "text/csv": { schema: z.string() } }],
  }, async (c, { service }) => {
    const { tenantId } = identityOf(c);
    return answerCsv(c, "addresses.csv", await exportAddresses(c.req.valid("query"), (query) => service.list(tenantId, query)));
  }),
  endpoint("ipam:write", "POST /ipam/addresses/import", {
    operationId: "importIpamAddresses", summary: "Import addresses from CSV",
    description: "Columns `ip`, `site` (name or id; empty for none), `status`, `mac`, `hostname`, `description`. What is there already "
    + "under the same address and "
    + "site gets the columns that the file has. All lines are imported, or none. Send the table as `text/csv`, or as `csv` in JSON.",
    query: IpamImportQuery, body: csvBody(IpamImport, "ip,hostname\r\n198.51.100.7,printer\r\n"),
    answer: [200, "What was done, or would be done", IpamImported],
  }, async (c, { importer }) => c.json(await importer.addresses(actorOf(c), importOf(c.req.valid("json"), c.req.valid("query"))), 200)),
  endpoint("ipam:write", "POST /ipam/addresses", {
    operationId: "createIpamAddress", summary: "Record an address", body: jsonBody(IpamAddressCreate),
    answer: [201, "The address", IpamAddress],
  }, async (c, { service }) => {
    const address = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(address, 201, { location: `/api/v1/ipam/addresses/${address.id}` });
  }),
  endpoint("ipam:read", "GET /ipam/addresses/{address_id}", {
    operationId: "readIpamAddress", summary: "Read an address", params, answer: [200, "The address", IpamAddress],
  }, async (c, { service }) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").address_id), 200)),
  endpoint("ipam:write", "PUT /ipam/addresses/{address_id}", {
    operationId: "updateIpamAddress", summary: "Change an address", params, body: jsonBody(IpamAddressUpdate),
    answer: [200, "The address", IpamAddress],
  }, async (c, { service }) => c.json(await service.update(actorOf(c), c.req.valid("param").address_id, c.req.valid("json")), 200)),
  endpoint("ipam:write", "DELETE /ipam/addresses/{address_id}", {
    operationId: "deleteIpamAddress", summary: "Delete an address", params, answer: [204, "Deleted"],
  }, async (c, { service }) => {
    await service.remove(actorOf(c), c.req.valid("param").address_id);
    return c.body(null, 204);
  }),
  endpoint("ipam:read", "GET /ipam/conflicts", {
    operationId: "listIpamConflicts", summary: "List conflicts between the plan and the network",
    description: "The conflicts that exist now, by address. An address outside of all prefixes is a conflict only where a "
    + "site has a prefix of its own or of all sites.",
    query: IpamConflictsQuery, answer: [200, "Conflicts", IpamConflicts],
  }, async (c, { listConflicts }) => c.json(await listConflicts(identityOf(c).tenantId, c.req.valid("query")), 200)),
);
