import * as z from "zod";
import { Instant } from "../values.ts";

/** `GET /health` and `/api/health`: 200 when every part is up, else 503 with the same body. */
export const HealthResponse = z.object({
  status: z.enum(["ok", "degraded"]).describe("`ok` where every part works, else `degraded`."),
  version: z.string().describe("The collector's version."),
  time: Instant.describe("The collector's clock."),
  parts: z.record(z.string(), z.object({
    status: z.enum(["ok", "degraded"]).describe("Whether this part works."),
    detail: z.string().describe("Its state or what is wrong with it, as text. It names no host, user or path."),
  })).describe("The collector's parts by name, as `database` and `broker`."),
});
export type HealthResponse = z.infer<typeof HealthResponse>;
