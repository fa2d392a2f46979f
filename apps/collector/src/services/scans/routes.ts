import { z } from "@hono/zod-openapi";
import { Id, listEnvelope, PageQuery, Scan, ScanHost, ScanProfile, ScansQuery, ScanStart } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { pageOfAll, toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { ScansService } from "./service.ts";

const ScanParams = z.object({ scan_id: Id });

const { endpoint, routes } = endpointsOf<ScansService>();

/** `/scans`. */
export const scansRoutes = routes(
  endpoint("scans:write", "POST /scans/start", {
    operationId: "startScan", summary: "Start a scan",
    description: "The site's probe gets the command within half a minute, or the scan fails. "
    + "Read the scan to see its progress; its results are on the stream as they arrive.",
    body: jsonBody(ScanStart), answer: [202, "The scan, queued", Scan],
  }, async (c, service) => {
    const scan = await service.start(actorOf(c), c.req.valid("json"));
    return c.json(scan, 202, { location: `/api/v1/scans/${scan.id}` });
  }),
  endpoint("scans:read", "GET /scans/profiles", {
    operationId: "listScanProfiles", summary: "List scan profiles", query: PageQuery,
    answer: [200, "All profiles", listEnvelope(ScanProfile)],
  }, (c, service) => c.json(toAnswer(pageOfAll(service.profiles(), c.req.valid("query"), ({ name }) => name)), 200)),
  endpoint("scans:read", "GET /scans", {
    operationId: "listScans", summary: "List scans, newest first", query: ScansQuery, answer: [200, "Scans", listEnvelope(Scan)],
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("scans:read", "GET /scans/{scan_id}", {
    operationId: "readScan", summary: "Read a scan", params: ScanParams, answer: [200, "The scan", Scan],
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").scan_id), 200)),
  endpoint("scans:write", "POST /scans/{scan_id}/cancel", {
    operationId: "cancelScan", summary: "Cancel a scan",
    description: "The probe stops within a second, or when it reconnects. "
    + "Results until then stay.",
    params: ScanParams, answer: [200, "The scan, cancelled", Scan],
  }, async (c, service) => c.json(await service.cancel(actorOf(c), c.req.valid("param").scan_id), 200)),
  endpoint("scans:read", "GET /scans/{scan_id}/results", {
    operationId: "listScanResults", summary: "List the hosts that answered a scan", params: ScanParams, query: PageQuery,
    answer: [200, "Hosts in the order of their addresses, also while the scan runs", listEnvelope(ScanHost)],
  }, async (c, service) =>
    c.json(toAnswer(await service.results(identityOf(c).tenantId, c.req.valid("param").scan_id, c.req.valid("query"))), 200)),
);
