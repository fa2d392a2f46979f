import { z } from "@hono/zod-openapi";
import type { IpamConflicts, IpamConflictsQuery} from "@lanthorn/contract";
import { IpamImport, ipamOperations } from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { csvBody } from "../../gateway/route.ts";
import type { AddressesService } from "./addresses-service.ts";
import { exportAddresses } from "./export.ts";
import { importOf, type IpamImporter } from "./import.ts";

const { endpoint, routes } = endpointsOf<{
  readonly service: AddressesService;
  readonly importer: Pick<IpamImporter, "addresses">;
  readonly listConflicts: (tenantId: string, query: IpamConflictsQuery) => Promise<IpamConflicts>;
}>();

/** `/ipam/addresses` and `/ipam/conflicts`. */
export const addressesRoutes = routes(
  endpoint("ipam:read", ipamOperations.listIpamAddresses, {
    summary: "List recorded addresses", answer: "Addresses by number",
  }, async (c, { service }) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  // Before the route of one address, which would take the word for an id.
  endpoint("ipam:read", ipamOperations.exportIpamAddresses, {
    summary: "Export addresses as CSV", description: "In the format of the import.",
    answer: [200, "One line for each address", { "text/csv": { schema: z.string() } }],
  }, async (c, { service }) => {
    const { tenantId } = identityOf(c);
    return answerCsv(c, "addresses.csv", await exportAddresses(c.req.valid("query"), (query) => service.list(tenantId, query)));
  }),
  endpoint("ipam:write", ipamOperations.importIpamAddresses, {
    summary: "Import addresses from CSV",
    description: "Columns `ip`, `site` (name or id; empty for none), `status`, `mac`, `hostname`, `description`. What is there already "
    + "under the same address and "
    + "site gets the columns that the file has. All lines are imported, or none. Send the table as `text/csv`, or as `csv` in JSON.",
    body: csvBody(IpamImport, "ip,hostname\r\n198.51.100.7,printer\r\n"), answer: "What was done, or would be done",
  }, async (c, { importer }) => c.json(await importer.addresses(actorOf(c), importOf(c.req.valid("json"), c.req.valid("query"))), 200)),
  endpoint("ipam:write", ipamOperations.createIpamAddress, {
    summary: "Record an address", answer: "The address",
  }, async (c, { service }) => {
    const address = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(address, 201, { location: `/api/v1/ipam/addresses/${address.id}` });
  }),
  endpoint("ipam:read", ipamOperations.readIpamAddress, {
    summary: "Read an address", answer: "The address",
  }, async (c, { service }) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").address_id), 200)),
  endpoint("ipam:write", ipamOperations.updateIpamAddress, {
    summary: "Change an address", answer: "The address",
  }, async (c, { service }) => c.json(await service.update(actorOf(c), c.req.valid("param").address_id, c.req.valid("json")), 200)),
  endpoint("ipam:write", ipamOperations.deleteIpamAddress, {
    summary: "Delete an address", answer: "Deleted",
  }, async (c, { service }) => {
    await service.remove(actorOf(c), c.req.valid("param").address_id);
    return c.body(null, 204);
  }),
  endpoint("ipam:read", ipamOperations.listIpamConflicts, {
    summary: "List conflicts between the plan and the network",
    description: "The conflicts that exist now, by address. An address outside of all prefixes is a conflict only where a "
    + "site has a prefix of its own or of all sites.",
    answer: "Conflicts",
  }, async (c, { listConflicts }) => c.json(await listConflicts(identityOf(c).tenantId, c.req.valid("query")), 200)),
);
