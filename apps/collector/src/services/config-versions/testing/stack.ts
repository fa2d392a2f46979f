import { ConfigDiff } from "@lanthorn/contract";
import { createFakeClock, type FakeClock } from "@lanthorn/runtime";
import { singleKey } from "../../../sealing/keyring.ts";
import { createSealing } from "../../../sealing/sealing.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { openConfigVersions } from "../open.ts";

/** A gateway with configuration versions alone, and a device of a tenant whose administrator calls. */
export interface ConfigVersionsStack {
  readonly clock: FakeClock;
  readonly gateway: TestGateway;
  readonly tenant: TestTenant;
  readonly deviceId: string;
  /** A path below the device's. */
  path(rest?: string): string;
  upload(content: string, more?: object): ReturnType<TestGateway["call"]>;
  diff(query?: string): Promise<ConfigDiff>;
}

/** Keeps five versions of a device, and 30 days. */
export async function startConfigVersions(): Promise<ConfigVersionsStack> {
  const clock = createFakeClock(Date.UTC(2026, 10, 20));
  const gateway = await startTestGateway({
    clock, alerts: true,
    modules: (parts) => [openConfigVersions({ configurations: { keep_versions: 5, keep_days: 30 } }, {
      ...parts, sealing: createSealing(singleKey(new Uint8Array(32))),
    })],
  });
  const tenant = await gateway.createTenant("admin");
  const deviceId = await gateway.createDevice(tenant, { ip: "10.0.0.2", hostname: "sw1" });
  const path = (rest = "") => `/api/v1/cmod/devices/${deviceId}${rest}`;
  return {
    clock, gateway, tenant, deviceId, path,
    upload: (content, more = {}) => gateway.call("POST", path("/versions"), tenant.token, { content, ...more }),
    diff: async (query = "") => ConfigDiff.parse((await gateway.call("GET", path(`/diff${query}`), tenant.token)).body),
  };
}
