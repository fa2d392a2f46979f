import { listEnvelope } from "../envelopes.ts";
import { AuditQuery, AuditRecord } from "../audit.ts";
import { operations } from "../operation.ts";

/** Who did what. */
export const auditOperations = operations({
  listAuditRecords: { target: "GET /audit", query: AuditQuery, status: 200, answer: listEnvelope(AuditRecord) },
});
