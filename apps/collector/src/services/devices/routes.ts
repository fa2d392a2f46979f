import { z } from "@hono/zod-openapi";
import { Device, DeviceProfile, DevicesQuery, Id, listEnvelope } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { createRouter, declareRoute, json } from "../../gateway/route.ts";
import type { DevicesService } from "./service.ts";

const list = declareRoute("devices:read", {
  method: "get",
  path: "/devices",
  request: { query: DevicesQuery },
  responses: { 200: { description: "Devices", content: json(listEnvelope(Device)) } },
});

const read = declareRoute("devices:read", {
  method: "get",
  path: "/devices/{device_id}",
  request: { params: z.object({ device_id: Id }) },
  responses: { 200: { description: "The full profile", content: json(DeviceProfile) } },
});

/** `/devices` and `/devices/{device_id}`. */
export function devicesRoutes(service: DevicesService) {
  const router = createRouter();
  router.openapi(list, async (c) => {
    const { data, meta } = await service.list(identityOf(c).tenantId, c.req.valid("query"));
    return c.json({ data: [...data], meta }, 200);
  });
  router.openapi(read, async (c) => c.json(await service.profile(identityOf(c).tenantId, c.req.valid("param").device_id), 200));
  return router;
}
