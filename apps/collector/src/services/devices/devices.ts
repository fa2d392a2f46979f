import type { Clock } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Merges } from "../../identity/merging/merges.ts";
import type { ServiceModule } from "../../service-module.ts";
import { createDeviceBulkEditor } from "./bulk-editor.ts";
import { createReadConditions, type DevicesWith } from "./conditions.ts";
import { createDeviceEditor } from "./editor.ts";
import { createDeviceMerger } from "./merger.ts";
import { deviceMetrics } from "./metrics.ts";
import { devicesRoutes } from "./routes.ts";
import { createDevicesService, type CvesOf, type NeighborsOf } from "./service.ts";
import { createDevicesStore } from "./store/devices.ts";

/** Devices. @param deps.neighborsOf A device's links, for its profile. @param deps.cvesOf Its CVEs, likewise. @param deps.vendorOf Who made a MAC's interface. */
export function createDevices(deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly merges: Merges; readonly clock: Clock;
  readonly neighborsOf: NeighborsOf;
  readonly cvesOf: CvesOf; readonly devicesWith: DevicesWith;
  readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
  readonly vendorOf: (mac: string) => string;
}): ServiceModule {
  const { neighborsOf, cvesOf } = deps;
  const store = createDevicesStore(deps);
  const conditions = createReadConditions({ ...deps, store });
  const service = createDevicesService({
    store, editor: createDeviceEditor(deps), merger: createDeviceMerger(deps), bulk: createDeviceBulkEditor({ ...deps, store, conditions }),
    neighborsOf, cvesOf, conditions,
  });
  return {
    name: "devices", mount: "gateway", routes: [devicesRoutes(service)],
    metrics: deviceMetrics(deps.reads),
  };
}
