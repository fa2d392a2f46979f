import { z } from "@hono/zod-openapi";
import { IpamImport, ipamOperations } from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { csvBody } from "../../gateway/route.ts";
import { exportPrefixes } from "./export.ts";
import { importOf, type IpamImporter } from "./import.ts";
import type { PrefixesService } from "./prefixes-service.ts";

const { endpoint, routes } = endpointsOf<{
  readonly service: PrefixesService;
  readonly importer: Pick<IpamImporter, "prefixes">;
}>();

/** `/ipam/prefixes`. */
export const prefixesRoutes = routes(
  endpoint("ipam:read", ipamOperations.listIpamPrefixes, {
    summary: "List prefixes", answer: "Prefixes, each before those that lie in it",
  }, async (c, { service }) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  // Before the route of one prefix, which would take the word for an id.
  endpoint("ipam:read", ipamOperations.exportIpamPrefixes, {
    summary: "Export prefixes as CSV",
    description: "In the format of the import. A cell that a spreadsheet would read as a formula begins with an apostrophe, which the import "
    + "takes away again.",
    answer: [200, "One line for each prefix", { "text/csv": { schema: z.string() } }],
  }, async (c, { service }) => {
    const { tenantId } = identityOf(c);
    return answerCsv(c, "prefixes.csv", await exportPrefixes(c.req.valid("query"), (query) => service.list(tenantId, query)));
  }),
  endpoint("ipam:write", ipamOperations.importIpamPrefixes, {
    summary: "Import prefixes from CSV",
    description: "Columns `prefix`, `site` (name or id; empty for all sites), `vlan_id`, `name`, `description`, `status`. What is there "
    + "already under the same "
    + "prefix and site gets the columns that the file has. All lines are imported, or none. Send the table as `text/csv`, or as `csv` in JSON.",
    body: csvBody(IpamImport, "prefix,name\r\n198.51.100.0/24,Branch\r\n"), answer: "What was done, or would be done",
  }, async (c, { importer }) => c.json(await importer.prefixes(actorOf(c), importOf(c.req.valid("json"), c.req.valid("query"))), 200)),
  endpoint("ipam:write", ipamOperations.createIpamPrefix, {
    summary: "Record a prefix", answer: "The prefix",
  }, async (c, { service }) => {
    const prefix = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(prefix, 201, { location: `/api/v1/ipam/prefixes/${prefix.id}` });
  }),
  endpoint("ipam:read", ipamOperations.readIpamPrefix, {
    summary: "Read a prefix", answer: "The prefix",
  }, async (c, { service }) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").prefix_id), 200)),
  endpoint("ipam:write", ipamOperations.updateIpamPrefix, {
    summary: "Change a prefix", answer: "The prefix",
  }, async (c, { service }) => c.json(await service.update(actorOf(c), c.req.valid("param").prefix_id, c.req.valid("json")), 200)),
  endpoint("ipam:write", ipamOperations.deleteIpamPrefix, {
    summary: "Delete a prefix", description: "Prefixes and addresses in it stay.", answer: "Deleted",
  }, async (c, { service }) => {
    await service.remove(actorOf(c), c.req.valid("param").prefix_id);
    return c.body(null, 204);
  }),
  endpoint("ipam:read", ipamOperations.readIpamPrefixUtilization, {
    summary: "Read a prefix's utilization",
    description: "Counts recorded addresses and addresses that devices use now. An address that is both counts once.",
    answer: "Its utilisation",
  }, async (c, { service }) => c.json(await service.utilization(identityOf(c).tenantId, c.req.valid("param").prefix_id), 200)),
  endpoint("ipam:read", ipamOperations.listIpamPrefixAddresses, {
    summary: "List a prefix's addresses, recorded or in use", answer: "Addresses by number",
  }, async (c, { service }) => c.json(
    toAnswer(await service.addresses(identityOf(c).tenantId, c.req.valid("param").prefix_id, c.req.valid("query"))), 200,
  )),
  endpoint("ipam:write", ipamOperations.allocateIpamAddress, {
    summary: "Take the next free address of a prefix",
    description: "It is not recorded, not used by a device, and in no prefix below. Requests at the same time get different ones.",
    answer: "The address, recorded",
  }, async (c, { service }) => {
    const address = await service.nextAddress(actorOf(c), c.req.valid("param").prefix_id, c.req.valid("json"));
    return c.json(address, 201, { location: `/api/v1/ipam/addresses/${address.id}` });
  }),
  endpoint("ipam:write", ipamOperations.allocateIpamPrefix, {
    summary: "Take the next free part of a prefix",
    description: "No prefix and no address in use lies in it. Requests at the same time get different ones.",
    answer: "The prefix, recorded",
  }, async (c, { service }) => {
    const prefix = await service.nextPrefix(actorOf(c), c.req.valid("param").prefix_id, c.req.valid("json"));
    return c.json(prefix, 201, { location: `/api/v1/ipam/prefixes/${prefix.id}` });
  }),
);
