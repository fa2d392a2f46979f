import { scansOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { pageOfAll, toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { ScansService } from "./service.ts";

const { endpoint, routes } = endpointsOf<ScansService>();

/** `/scans`. */
export const scansRoutes = routes(
  endpoint("scans:write", scansOperations.startScan, {
    summary: "Start a scan", description: "The site's probe gets the command within half a minute, or the scan fails. "
    + "Read the scan to see its progress; its results are on the stream as they arrive.",
    answer: "The scan, queued",
  }, async (c, service) => {
    const scan = await service.start(actorOf(c), c.req.valid("json"));
    return c.json(scan, 202, { location: `/api/v1/scans/${scan.id}` });
  }),
  endpoint("scans:read", scansOperations.listScanProfiles, {
    summary: "List scan profiles", answer: "All profiles",
  }, (c, service) => c.json(toAnswer(pageOfAll(service.profiles(), c.req.valid("query"), ({ name }) => name)), 200)),
  endpoint("scans:read", scansOperations.listScans, {
    summary: "List scans, newest first", answer: "Scans",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("scans:read", scansOperations.readScan, {
    summary: "Read a scan", answer: "The scan",
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").scan_id), 200)),
  endpoint("scans:write", scansOperations.cancelScan, {
    summary: "Cancel a scan", description: "The probe stops within a second, or when it reconnects. "
    + "Results until then stay.",
    answer: "The scan, cancelled",
  }, async (c, service) => c.json(await service.cancel(actorOf(c), c.req.valid("param").scan_id), 200)),
  endpoint("scans:read", scansOperations.listScanResults, {
    summary: "List the hosts that answered a scan", answer: "Hosts in the order of their addresses, also while the scan runs",
  }, async (c, service) =>
    c.json(toAnswer(await service.results(identityOf(c).tenantId, c.req.valid("param").scan_id, c.req.valid("query"))), 200)),
);
