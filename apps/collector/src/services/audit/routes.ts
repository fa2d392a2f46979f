import { AuditQuery, AuditRecord, listEnvelope } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json } from "../../gateway/route.ts";
import type { AuditService } from "./service.ts";

const list = declareRoute("audit:read", {
  method: "get",
  path: "/audit",
  operationId: "listAuditRecords",
  summary: "List audit records, newest first",
  description: "Logins, failed ones and logouts of an hour by the same user from the same address are one record. Where they are more than "
    + "one, its `after` has their `count` and `last_at`.",
  request: { query: AuditQuery },
  responses: { 200: { description: "Audit records", content: json(listEnvelope(AuditRecord)) } },
});

/** `/audit`. */
export function auditRoutes(service: AuditService) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  return router;
}
