import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Broker } from "../../broker/broker.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createRetentionJob } from "../../jobs/job.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import type { ServiceModule } from "../../service-module.ts";
import { createDecoyAddresses, type DecoyAddresses } from "./addresses/decoy-addresses.ts";
import { passwordSeals } from "./credentials/password-seals.ts";
import { createHoneypotCredentialsService } from "./credentials/service.ts";
import { createCredentialsStore } from "./credentials/store.ts";
import { createDecoysService } from "./decoys.ts";
import { createHoneypotEvidenceService } from "./evidence/service.ts";
import { createEvidenceStore } from "./evidence/store.ts";
import { createExemptionsService, type ExemptionsService } from "./exemptions/service.ts";
import { createExemptionsStore } from "./exemptions/store.ts";
import { createProposalsService } from "./proposals/service.ts";
import { createProposalsStore } from "./proposals/store.ts";
import { forgetOld } from "./retention-store.ts";
import { honeypotsRoutes } from "./routes.ts";
import { createHoneypotReaction } from "./sessions/reaction.ts";
import { createSessionsService } from "./sessions/service.ts";
import { createSessionsStore } from "./sessions/store.ts";
import { createTestsService, type TestsService } from "./tests/service.ts";
import { createTestsStore } from "./tests/store.ts";

/** Decoys, and what was done at them: `partFor` and `passwordKey` are for what probes are sent, `replied` and `heard` for what they say. */
interface Honeypots extends ServiceModule, Pick<ExemptionsService, "partFor">, Pick<TestsService, "replied">, Pick<DecoyAddresses, "heard"> {
  passwordKey(): string;
}

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
/** Sessions, credentials that were tried, and evidence. */
const KEEP_DAYS = 90;

/** @param deps.freeAddress An address of the plan that nobody has. @param deps.onConfigured After the exemptions of a site have changed; nobody waits for it, so it must not reject. */
export function openHoneypots(deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly sealing: Sealing; readonly audit: Audit; readonly clock: Clock; readonly log: Log;
  readonly onConfigured: (siteId: string) => Promise<void>; readonly broker: Pick<Broker, "publish">;
  readonly freeAddress: Parameters<typeof createProposalsService>[0]["freeAddress"];
}): Honeypots {
  const { sealing, audit, clock, log } = deps;
  const [sessions, credentials, evidence] = [createSessionsStore(deps), createCredentialsStore(deps), createEvidenceStore(deps)];
  const exemptions = createExemptionsService({ ...deps, store: createExemptionsStore(deps) });
  const forgetting = createRetentionJob({ clock, log }, {
    name: "honeypots-retention", everyMs: HOUR_MS, who: "one replica", what: "old sessions at decoys",
    run: (stopped) => forgetOld(deps, toInstant(clock.now() - KEEP_DAYS * DAY_MS), stopped),
  });
  const testsStore = createTestsStore(deps);
  const decoys = createDecoysService({ ...deps, tests: testsStore, sessions });
  const tests = createTestsService({ ...deps, store: testsStore, decoys });
  return {
    name: "honeypots", mount: "gateway",
    routes: [honeypotsRoutes({
      decoys, tests, exemptions, proposals: createProposalsService({ ...deps, store: createProposalsStore(deps) }), sessions: createSessionsService({ store: sessions, evidence, clock }), evidence: createHoneypotEvidenceService({ store: evidence, sessions, audit }),
      credentials: createHoneypotCredentialsService({ store: credentials, sessions, sealing, audit }),
    })],
    reactions: { honeypots: createHoneypotReaction(passwordSeals(sealing)) }, passwordKey: sealing.publicKey,
    retention: [forgetting], partFor: exemptions.partFor, replied: tests.replied, heard: createDecoyAddresses(deps).heard,
  };
}
