import { HealthResponse } from "../health.ts";
import { operations } from "../operation.ts";

/** Whether the collector works. */
export const healthOperations = operations({
  readHealth: { target: "GET /health", status: 200, answer: HealthResponse },
});
