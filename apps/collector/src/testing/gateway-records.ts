import type { EventType, Role } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Insertable, Kysely } from "kysely";
import { addressKey } from "../db/keys/address-key.ts";
import { hostnameKey } from "../db/keys/hostname-key.ts";
import type { Schema } from "../db/schema.ts";
import type { EventLog, NewEvent } from "../events/log.ts";
import { createPasswords } from "../services/auth/login/passwords.ts";
import type { createTokens } from "../services/auth/tokens.ts";
import { newUser } from "../services/auth/users/service.ts";

export interface TestTenant {
  readonly tenantId: string;
  readonly siteId: string;
  readonly userId: string;
  readonly username: string;
  readonly token: string;
}

/** What a test has in the database before it begins. */
export interface GatewayRecords {
  /** A tenant with one site and a user whose password is `password`. */
  readonly createTenant: (role?: Role) => Promise<TestTenant>;
  /** Another user of the tenant. */
  readonly createUser: (tenant: TestTenant, role: Role) => Promise<TestTenant>;
  readonly createDevice: (tenant: TestTenant, values: Partial<Insertable<Schema["devices"]>> & { readonly ip: string }) => Promise<string>;
  /** Appends, commits and publishes, as ingest does. */
  readonly append: (tenant: TestTenant, events: readonly Partial<NewEvent>[]) => Promise<void>;
}

/** Of every user that `createTenant` makes. */
const PASSWORD = "password";
/** Argon2 is slow by design: one hash serves all users of a process's tests. */
let passwordHash: Promise<string> | undefined;

export function createGatewayRecords({ db, clock, tokens, eventLog, published }: {
  readonly db: Kysely<Schema>; readonly clock: Clock; readonly tokens: Pick<ReturnType<typeof createTokens>, "issue">;
  readonly eventLog: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
}): GatewayRecords {
  const createUser = async ({ tenantId, siteId }: Pick<TestTenant, "tenantId" | "siteId">, role: Role): Promise<TestTenant> => {
    passwordHash ??= createPasswords().hash(PASSWORD);
    const username = `user-${createId()}`;
    const user = newUser({ tenantId, username, hash: await passwordHash, role, email: null, now: clock.now() });
    await db.insertInto("users").values(user).execute();
    const { token } = await tokens.issue({ userId: user.id, tenantId, role, tokensValidFrom: user.tokens_valid_from });
    return { tenantId, siteId, userId: user.id, username, token };
  };
  return {
    async createTenant(role = "operator") {
      const [tenantId, siteId] = [createId(), createId()];
      const at = toInstant(clock.now());
      await db.insertInto("tenants").values({ id: tenantId, name: "tenant", created_at: at }).execute();
      await db.insertInto("sites").values({ id: siteId, tenant_id: tenantId, name: "site", probe_configuration: "{}", created_at: at })
        .execute();
      return createUser({ tenantId, siteId }, role);
    },
    createUser,

    async createDevice({ tenantId, siteId }, values) {
      const at = toInstant(clock.now());
      const row: Insertable<Schema["devices"]> = {
        id: createId(), tenant_id: tenantId, site_id: siteId, ip_key: addressKey(values.ip), mac: "", hostname: "",
        hostname_key: hostnameKey(values.hostname ?? ""), vendor: "", os_guess: "",
        device_type: "unknown", is_online: 1, presence_state: "online", first_seen: at, last_seen: at, open_ports: "[]", tags: "[]",
        locked_fields: "[]", ...values,
      };
      const { id, tenant_id, site_id, mac, ip, ip_key, first_seen, last_seen } = row;
      await db.insertInto("devices").values(row).execute();
      await db.insertInto("addresses").values({
        device_id: id, tenant_id, site_id, mac, ip, ip_key, first_seen, last_seen, current: 1,
      }).execute();
      return id;
    },

    async append({ tenantId, siteId }, events) {
      const at = toInstant(clock.now());
      const rows = events.map((event): NewEvent => ({
        type: "error" satisfies EventType, siteId, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at,
        receivedAt: at, data: { code: "test", message: "" }, ...event,
      }));
      const { fromSeq } = await db.transaction().execute((trx) => eventLog.append(trx, tenantId, rows));
      published(tenantId, fromSeq);
    },
  };
}
