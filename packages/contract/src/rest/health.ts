import * as z from "zod";
import { Instant } from "../values.ts";

/** `GET /health` and `/api/health`: 200 when every part is up, else 503 with the same body. */
export const HealthResponse = z.object({
  status: z.enum(["ok", "degraded"]),
  version: z.string(),
  time: Instant,
  parts: z.record(z.string(), z.object({ status: z.enum(["ok", "degraded"]), detail: z.string() })),
});
export type HealthResponse = z.infer<typeof HealthResponse>;
