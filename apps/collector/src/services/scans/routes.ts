import { z } from "@hono/zod-openapi";
import { Id, listEnvelope, PageQuery, Scan, ScanHost, ScanProfile, ScansQuery, ScanStart } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { pageOfAll, toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { ScansService } from "./service.ts";

const ScanParams = z.object({ scan_id: Id });

const start = declareRoute("scans:write", {
  method: "post",
  path: "/scans/start",
  operationId: "startScan",
  summary: "Start a scan",
  description: "The site's probe gets the command within half a minute, or the scan fails. "
    + "Read the scan to see its progress; its results are on the stream as they arrive.",
  request: { body: jsonBody(ScanStart) },
  responses: { 202: { description: "The scan, queued", content: json(Scan) } },
});

const profiles = declareRoute("scans:read", {
  method: "get",
  path: "/scans/profiles",
  operationId: "listScanProfiles",
  summary: "List scan profiles",
  request: { query: PageQuery },
  responses: { 200: { description: "All profiles", content: json(listEnvelope(ScanProfile)) } },
});

const list = declareRoute("scans:read", {
  method: "get",
  path: "/scans",
  operationId: "listScans",
  summary: "List scans, newest first",
  request: { query: ScansQuery },
  responses: { 200: { description: "Scans", content: json(listEnvelope(Scan)) } },
});

const read = declareRoute("scans:read", {
  method: "get",
  path: "/scans/{scan_id}",
  operationId: "readScan",
  summary: "Read a scan",
  request: { params: ScanParams },
  responses: { 200: { description: "The scan", content: json(Scan) } },
});

const cancel = declareRoute("scans:write", {
  method: "post",
  path: "/scans/{scan_id}/cancel",
  operationId: "cancelScan",
  summary: "Cancel a scan",
  description: "The probe stops within a second, or when it reconnects. "
    + "Results until then stay.",
  request: { params: ScanParams },
  responses: { 200: { description: "The scan, cancelled", content: json(Scan) } },
});

const results = declareRoute("scans:read", {
  method: "get",
  path: "/scans/{scan_id}/results",
  operationId: "listScanResults",
  summary: "List the hosts that answered a scan",
  request: { params: ScanParams, query: PageQuery },
  responses: {
    200: { description: "Hosts in the order of their addresses, also while the scan runs", content: json(listEnvelope(ScanHost)) },
  },
});

/** `/scans`. */
export function scansRoutes(service: ScansService) {
  const router = createRouter();
  router.openapi(start, async (c) => {
    const scan = await service.start(actorOf(c), c.req.valid("json"));
    return c.json(scan, 202, { location: `/api/v1/scans/${scan.id}` });
  });
  router.openapi(profiles, (c) => c.json(toAnswer(pageOfAll(service.profiles(), c.req.valid("query"), ({ name }) => name)), 200));
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").scan_id), 200));
  router.openapi(cancel, async (c) => c.json(await service.cancel(actorOf(c), c.req.valid("param").scan_id), 200));
  router.openapi(
    results,
    async (c) => c.json(toAnswer(await service.results(identityOf(c).tenantId, c.req.valid("param").scan_id, c.req.valid("query"))), 200),
  );
  return router;
}
