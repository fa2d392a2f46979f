import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { createAttempt } from "../../deliveries/sending/attempt.ts";
import { createClaims } from "../../deliveries/worker/claims-store.ts";
import { createDeliveryReaction, type DeliveryReaction } from "../../deliveries/reaction.ts";
import type { Mailer } from "../../deliveries/sending/mailer.ts";
import { createNotices } from "../../deliveries/notices.ts";
import { createNoticesStore } from "../../deliveries/notices-store.ts";
import type { ResolveHost } from "../../deliveries/sending/resolve.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import type { Sender } from "../../deliveries/sending/send.ts";
import { createDeliveryStore } from "../../deliveries/store.ts";
import { createDeliverySweep } from "../../deliveries/worker/sweep.ts";
import { createSweepStore } from "../../deliveries/worker/sweep-store.ts";
import { createTargetPolicy } from "../../deliveries/sending/target-policy.ts";
import { createDeliveryWorker } from "../../deliveries/worker/worker.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { ServiceModule } from "../../service-module.ts";
import { deliveryMetrics } from "./metrics.ts";
import { createReplay } from "./replay.ts";
import { diplomatRoutes } from "./routes.ts";
import { createDiplomatService, type DiplomatService } from "./service.ts";
import { createDiplomatStore } from "./store.ts";

/** What speaks to the outside: webhooks and the e-mails about them. */
export interface Diplomat extends ServiceModule {
  readonly service: DiplomatService;
  /** Enqueues deliveries of events. */
  readonly reaction: DeliveryReaction;
  /** To be called after events of a tenant were committed. */
  readonly published: (tenantId: string) => void;
  readonly start: () => Promise<void>;
  /** Lets what is in progress end, for some seconds. */
  readonly close: () => Promise<void>;
}

/** What webhooks and their e-mails need. `mailer` is null where no mail server is configured: then no e-mail is sent. */
export interface DiplomatDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly audit: Audit;
  readonly sealing: Sealing;
  readonly resolve: ResolveHost;
  readonly sender: Sender;
  readonly mailer: Mailer | null;
  /** E-mail addresses of a tenant's owners. */
  readonly ownersOf: (tenantId: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

interface DiplomatOptions {
  /** Hosts, addresses and prefixes that are sent to beside the public ones. */
  readonly allow: readonly string[];
  readonly keepDays: number;
  /** Deliveries that are kept of each webhook. */
  readonly keepEach: number;
  /** No other process uses the database. */
  readonly isAlone: boolean;
}

/** The service module of webhooks. Nothing is sent before `start`; call `close` before the database is closed. */
export function createDiplomat(deps: DiplomatDependencies, options: DiplomatOptions): Diplomat {
  const { db, reads, clock, log, sealing, resolve } = deps;
  const policy = createTargetPolicy(options.allow);
  const attempt = createAttempt({ policy, resolve, sender: deps.sender, clock, userAgent: `Lanthorn/${deps.version}` });
  const worker = createDeliveryWorker(
    { store: createDeliveryStore({ db, reads }), claims: createClaims({ db }), attempt, sealing, clock, log }, options,
  );
  const reaction = createDeliveryReaction();
  const notices = createNotices({ store: createNoticesStore({ db }), mailer: deps.mailer, ownersOf: deps.ownersOf, clock, log });
  const sweep = createDeliverySweep({ store: createSweepStore({ db, reads }), clock, log }, options);
  const service = createDiplomatService({
    store: createDiplomatStore(deps), replay: createReplay(deps), sealing, policy, resolve, attempt, clock,
    changed: (webhookId) => worker.changed(webhookId),
  });
  return {
    name: "diplomat", mount: "diplomat", routes: [diplomatRoutes(service)], reactions: { deliveries: reaction }, jobs: [notices],
    retention: [sweep],
    health: { deliveries: () => worker.health() },
    metrics: deliveryMetrics(reads),
    service, reaction,
    published: (tenantId) => worker.enqueued(reaction.takeEnqueued(tenantId)),
    start: () => worker.start(),
    async close() {
      await Promise.all([worker.close(), notices.close()]);
      deps.mailer?.close();
      deps.sender.close();
    },
  };
}
