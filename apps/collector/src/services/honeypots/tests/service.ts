import { type Command, type Honeypot, Id, MESSAGE_VERSION, type Reply } from "@lanthorn/contract";
import { type Clock, createId, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Broker } from "../../../broker/broker.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError } from "../../../gateway/errors.ts";
import type { DecoysService } from "../decoys.ts";
import { sessionKey } from "../sessions/reaction.ts";
import type { TestsStore } from "./store.ts";

/** Has probes try their decoys. */
export interface TestsService {
  /** What came of it is in the decoy's `test`. @throws ApiError NOT_FOUND; CONFLICT where the probe or the decoys' process is away. */
  test(actor: Actor, honeypotId: string): Promise<Honeypot>;
  /** A probe has answered a command, which may be another one. */
  replied(probe: { readonly probeId: string }, reply: Reply): Promise<void>;
}

/** As `no_answer` has it. */
const ANSWER_WITHIN_MS = 30_000;

/** @param deps.broker Takes the commands to the probes. */
export function createTestsService({ store, decoys, audit, clock, log, broker }: {
  readonly store: TestsStore; readonly decoys: DecoysService; readonly audit: Audit; readonly clock: Pick<Clock, "now">; readonly log: Log; readonly broker: Pick<Broker, "publish">;
}): TestsService {
  const send = async (tenantId: string, probeId: string, command: Command) => {
    try {
      await broker.publish({ tenantId, probeId }, "commands", JSON.stringify(command), { retain: false });
    } catch (error) {
      log.warn({ probe_id: probeId, reason: describeError(error) }, "the command to test a decoy could not be sent");
      await store.answer(probeId, command.id, { status: "failed", error: "the command could not be sent to the probe; ask again", session_key: null });
    }
  };
  return {
    async test(actor, honeypotId) {
      const { tenantId } = actor;
      const { name, state, site_id: siteId, probe_id: probeId } = await decoys.read(tenantId, honeypotId);
      if (state === "silent") throw new ApiError("CONFLICT", "the probe beside the decoy is not heard: it can be tested when it is back");
      if (state === "stopped") throw new ApiError("CONFLICT", "the decoys' process does not run: start the service lanthorn-decoy on its machine");
      const issued = clock.now();
      const [issuedAt, answerBy] = [toInstant(issued), toInstant(issued + ANSWER_WITHIN_MS)];
      const command: Command = { v: MESSAGE_VERSION, id: createId(), type: "decoy_test", issued_at: issuedAt, expires_at: answerBy, data: { decoy: name } };
      await store.transaction(async (trx) => {
        await store.put(trx, {
          honeypot_id: honeypotId, tenant_id: tenantId, site_id: siteId, probe_id: probeId, command_id: command.id, asked_at: issuedAt, asked_by: actor.name, answer_by: answerBy, status: "sent",
          error: null, session_key: null,
        });
        await audit(trx, { actor, action: "honeypot.test", target: { type: "honeypot", id: honeypotId }, before: null, after: { decoy: name } });
      });
      await send(tenantId, probeId, command);
      return decoys.read(tenantId, honeypotId);
    },

    async replied({ probeId }, { command_id: commandId, ok, error, data }) {
      if (commandId === null) return;
      const incident = Id.safeParse(data["incident_id"]);
      await store.answer(probeId, commandId, { status: ok ? "done" : "failed", error: error?.message ?? null, session_key: ok && incident.success ? sessionKey(probeId, incident.data) : null });
    },
  };
}
