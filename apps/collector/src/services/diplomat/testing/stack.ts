import { listEnvelope, WebhookDelivery } from "@lanthorn/contract";
import { type Log, silentLog, systemClock } from "@lanthorn/runtime";
import type { Mailer } from "../../../deliveries/sending/mailer.ts";
import type { ResolveHost } from "../../../deliveries/sending/resolve.ts";
import { startJobs } from "../../../jobs/start-jobs.ts";
import { singleKey } from "../../../sealing/keyring.ts";
import { createSealing } from "../../../sealing/sealing.ts";
import { createSender } from "../../../deliveries/sending/send.ts";
import { type Receiver, startReceiver } from "../../../deliveries/testing/receiver.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { afterEach } from "vitest";
import { createAudit } from "../../audit/audit.ts";
import { createDiplomat, type Diplomat } from "../diplomat.ts";

/** A gateway with the diplomat over real sockets. Requests go out by the machine's own clock, whatever clock plans them. */
export interface DiplomatStack extends Omit<TestGateway, "call"> {
  readonly diplomat: Diplomat;
  readonly call: (tenant: TestTenant, method: string, path: string, body?: unknown) => Promise<Awaited<ReturnType<TestGateway["request"]>>>;
  /** Creates a webhook. @returns Its id. */
  readonly addWebhook: (
    tenant: TestTenant, webhook: { readonly url: string; readonly events?: readonly string[]; readonly secret?: string },
  ) => Promise<string>;
}

/** The names of no host but those of a test: no packet leaves for a name server. */
const NOBODY: ResolveHost = () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));

async function startDiplomat(options: {
  readonly clock?: TestGateway["clock"];
  readonly allow?: readonly string[];
  readonly resolve?: ResolveHost;
  readonly mailer?: Mailer | null;
  readonly ownersOf?: (tenantId: string) => Promise<readonly string[]>;
  readonly ca?: readonly string[];
  readonly log?: Log;
} = {}): Promise<DiplomatStack> {
  let diplomat: Diplomat | undefined;
  const gateway = await startTestGateway({
    ...(options.clock && { clock: options.clock }),
    extend({ db, reads, clock }) {
      const made = createDiplomat({
        db, reads, audit: createAudit({ clock }), sealing: createSealing(singleKey(new Uint8Array(32).fill(7))),
        resolve: options.resolve ?? NOBODY, sender: createSender({ clock: systemClock }, { ca: options.ca ?? null }),
        mailer: options.mailer ?? null, ownersOf: options.ownersOf ?? (() => Promise.resolve(["owner@example.com"])), clock,
        log: options.log ?? silentLog, version: "test",
      }, { allow: options.allow ?? ["127.0.0.1"], keepDays: 14, keepEach: 100_000, isAlone: true });
      diplomat = made;
      return {
        services: { diplomat: made.routes }, deliveries: made.reaction, published: made.published, close: () => made.close(),
      };
    },
  });
  if (!diplomat) throw new Error("the gateway did not take the diplomat");
  await diplomat.start();
  const jobs = await startJobs(diplomat.jobs ?? [], { clock: gateway.clock, lease: null });
  const call: DiplomatStack["call"] = ({ token }, method, path, body) => gateway.request(`/api/v1/integrations/webhooks${path}`, {
    method, headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return {
    ...gateway, diplomat, call,
    async stop() {
      await jobs.close();
      await gateway.stop();
    },
    async addWebhook(tenant, { url, events = ["device.offline"], secret }) {
      const answer = await call(tenant, "POST", "", { url, events: [...events], ...(secret !== undefined && { secret }) });
      if (answer.status !== 201) throw new Error(`webhook not made: ${answer.status} ${JSON.stringify(answer.body)}`);
      return (answer.body as { readonly id: string }).id;
    },
  };
}

/** Of the real clock: only what hangs takes this long, on a machine with much other work too. */
const HANG_MS = 300_000;

/** Asks until something holds. @throws Error that names it when it does not within five minutes. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false> | T | null | undefined | false,
): Promise<T> {
  const until = Date.now() + HANG_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (Date.now() > until) throw new Error(`did not come to be: ${what}; the last answer was ${String(answer)}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

/** An event that becomes `device.offline`. */
export const OFFLINE = {
  type: "host_offline", data: { ip: "192.0.2.1", mac: "", last_seen_at: "2026-01-01T00:00:00.000Z", missed_checks: 3 },
} as const;

/** A webhook's deliveries, newest first, as the API lists them. */
export async function deliveriesOf(stack: DiplomatStack, tenant: TestTenant, id: string, query = "") {
  return listEnvelope(WebhookDelivery).parse((await stack.call(tenant, "GET", `/${id}/deliveries${query}`)).body);
}

/** Starts stacks and receivers that are closed when the test ends. To be called once in a test file. */
export function startAndClose() {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  return {
    async start(options: Parameters<typeof startDiplomat>[0] = {}): Promise<DiplomatStack> {
      const stack = await startDiplomat(options);
      closing.push(() => stack.stop());
      return stack;
    },
    async receive(options: Parameters<typeof startReceiver>[0] = {}): Promise<Receiver> {
      const receiver = await startReceiver(options);
      closing.push(() => receiver.close());
      return receiver;
    },
  };
}
