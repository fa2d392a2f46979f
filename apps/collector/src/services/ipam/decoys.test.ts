import { IpamAddress, IpamPrefix } from "@lanthorn/contract";
import { createId, systemClock, toInstant } from "@lanthorn/runtime";
import { afterEach, expect, test } from "vitest";
import { addressKey } from "../../db/keys/address-key.ts";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { createIpam } from "./ipam.ts";

const AT = "2026-01-01T00:00:00.000Z";
let gateway: TestGateway;
afterEach(() => gateway.stop());

test("a decoy's address is reserved: nobody is given it, nor a prefix around it; at another site it is free", async () => {
  gateway = await startTestGateway({ modules: (parts) => [createIpam(parts)] });
  const { tenantId, token } = await gateway.createTenant("admin");
  const addSite = async (name: string) => {
    const id = createId();
    await gateway.db.insertInto("sites").values({ id, tenant_id: tenantId, name, probe_configuration: "{}", created_at: AT }).execute();
    return id;
  };
  const [siteId, probeId] = [await addSite("here"), createId()];
  const addProbe = (id: string, revokedAt: string | null) => gateway.db.insertInto("probes").values({
    id, tenant_id: tenantId, site_id: siteId, name: "box", enrolled_at: AT, revoked_at: revokedAt, certificate_serial: "", certificate_expires_at: AT, version: "", state: "online", silent_since: null,
    last_heard_at: null, run_id: null, health: null,
  }).execute();
  const reserve = (ip: string, by: string, reportedAt: number) => gateway.db.insertInto("honeypot_addresses")
    .values({ probe_id: by, ip, ip_key: addressKey(ip), tenant_id: tenantId, site_id: siteId, decoy: "files2", settled_before: AT, reported_at: toInstant(reportedAt) }).execute();
  const [now, revoked] = [systemClock.now(), createId()];
  await addProbe(probeId, null);
  await addProbe(revoked, AT);
  for (const ip of ["10.0.0.1", "10.0.0.2"]) await reserve(ip, probeId, now);
  // Neither counts: the one was not reported for a day, the other by a probe that is revoked.
  await reserve("10.0.0.3", probeId, now - 86_400_001);
  await reserve("10.0.0.3", revoked, now);
  const call = async (path: string, body: object) => (await gateway.call("POST", `/api/v1/ipam/prefixes${path}`, token, body)).body;
  const addPrefix = async (site: string) => IpamPrefix.parse(await call("", { prefix: "10.0.0.0/24", site_id: site })).id;
  const here = await addPrefix(siteId);
  expect(IpamAddress.parse(await call(`/${here}/next-address`, {})).ip).toBe("10.0.0.3");
  expect(IpamPrefix.parse(await call(`/${here}/next-prefix`, { length: 30 })).prefix).toBe("10.0.0.4/30");
  expect(IpamAddress.parse(await call(`/${await addPrefix(await addSite("there"))}/next-address`, {})).ip).toBe("10.0.0.1");
});
