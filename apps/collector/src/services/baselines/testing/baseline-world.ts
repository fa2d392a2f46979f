import { createId } from "@lanthorn/runtime";
import type { Insertable } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { openKeyOf } from "../store/differences.ts";
import { createBaselineRoutes } from "../rest/rest.ts";

/** When what is in the world was made. */
export const MADE_AT = "2026-01-01T00:00:00.000Z";

/** A tenant with a site and a device, whose baselines are in the database as the comparison writes them; nothing compares. */
export interface BaselineWorld {
  readonly gateway: TestGateway;
  readonly admin: TestTenant;
  readonly deviceId: string;
  readonly siteBaseline: string;
  readonly deviceBaseline: string;
  /** Asks below `/api/v1/baselines`, as the administrator unless another token is given. */
  call(method: string, path?: string, body?: unknown, token?: string): ReturnType<TestGateway["call"]>;
  addBaseline(values: Partial<Insertable<Schema["baselines"]>>): Promise<string>;
  addFact(baselineId: string, kind: string, key: string, value: string): Promise<void>;
  /** A difference of the device, open unless `values` say otherwise: port tcp/4444, which appeared. */
  addDifference(values?: Partial<Insertable<Schema["baseline_differences"]>>): Promise<string>;
  difference(id: string): Promise<Insertable<Schema["baseline_differences"]>>;
  /** Names of what was written down in the audit log. */
  audited(): Promise<readonly string[]>;
}

/** Opens it; `gateway.stop()` ends it. */
export async function openBaselineWorld(): Promise<BaselineWorld> {
  const gateway = await startTestGateway({ services: (parts) => createBaselineRoutes(parts), alerts: true });
  const { db } = gateway;
  const admin = await gateway.createTenant("admin");
  const { tenantId: tenant_id, siteId: site_id } = admin;
  const deviceId = await gateway.createDevice(admin, { ip: "10.0.0.5", hostname: "nas", mac: "00:1b:21:aa:bb:07", tags: '["storage"]' });

  const addBaseline: BaselineWorld["addBaseline"] = async (values) => {
    const id = createId();
    await db.insertInto("baselines").values({
      id, tenant_id, site_id, device_id: null, scope: values.device_id ?? "", state: "active", learning_until: null, learned_at: MADE_AT,
      approved_by: null, approved_at: null, settings: "{}", presence: "", scopes: "", compare_at: "2100-01-01T00:00:00.000Z", created_at: MADE_AT,
      updated_at: MADE_AT, ...values,
    }).execute();
    return id;
  };
  const siteBaseline = await addBaseline({});
  const deviceBaseline = await addBaseline({ device_id: deviceId });

  return {
    gateway, admin, deviceId, siteBaseline, deviceBaseline, addBaseline,
    call: (method, path = "", body, token = admin.token) => gateway.call(method, `/api/v1/baselines${path}`, token, body),
    async addFact(baselineId, kind, key, value) {
      await db.insertInto("baseline_facts").values({
        baseline_id: baselineId, tenant_id, kind, key, value, source: "learned", author: null, reason: null, first_seen: MADE_AT, looked_at: MADE_AT,
        scope: "scan standard",
      }).execute();
    },
    async addDifference(values = {}) {
      const row: Insertable<Schema["baseline_differences"]> = {
        id: createId(), tenant_id, site_id, device_id: deviceId, baseline_id: deviceBaseline, kind: "port", key: "tcp/4444", outcome: "appeared",
        expected: "", observed: "open", expected_at: null, observed_at: MADE_AT, severity: "medium", state: "open", first_seen: MADE_AT,
        last_seen: MADE_AT, ended_at: null, acceptance_id: null, open_key: null, ...values,
      };
      await db.insertInto("baseline_differences").values({ ...row, open_key: row.state === "ended" ? null : openKeyOf(row) }).execute();
      return row.id;
    },
    difference: (id) => db.selectFrom("baseline_differences").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    async audited() {
      const rows = await db.selectFrom("audit").select("action").where("action", "like", "baseline%").orderBy("id").execute();
      return rows.map(({ action }) => action);
    },
  };
}
