import { auditOperations } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { AuditService } from "./service.ts";

const { endpoint, routes } = endpointsOf<AuditService>();

/** `/audit`. */
export const auditRoutes = routes(
  endpoint("audit:read", auditOperations.listAuditRecords, {
    summary: "List audit records, newest first",
    description: "Logins, failed ones and logouts of an hour by the same user from the same address are one record. Where they are more than "
    + "one, its `after` has their `count` and `last_at`.",
    answer: "Audit records",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
);
