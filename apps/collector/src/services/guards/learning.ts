import { type Command, type GuardsLearnAnswer, MESSAGE_VERSION, type Reply } from "@lanthorn/contract";
import { createId, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Broker } from "../../broker/broker.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, requireSite } from "../../gateway/errors.ts";
import { toProbeGuards } from "./records.ts";
import type { GuardsDependencies } from "./service.ts";

/** Has probes learn anew what is normal. */
export interface GuardLearning {
  /** Asks the site's probes; how each one answers is in the site's guards. @throws ApiError NOT_FOUND; CONFLICT for a site without probes. */
  learn(actor: Actor, siteId: string): Promise<GuardsLearnAnswer>;
  /** A probe has answered a command, which may be another one. */
  replied(probe: { readonly probeId: string }, reply: Reply): Promise<void>;
}

/** A probe that is away for longer does not learn when it returns: who has asked would not expect it any more. */
const ANSWER_WITHIN_MS = 30_000;

/** @param deps.broker Takes the commands to the probes. */
export function createGuardLearning(
  deps: Pick<GuardsDependencies, "store" | "audit" | "clock"> & { readonly broker: Pick<Broker, "publish">; readonly log: Log },
): GuardLearning {
  const { store, audit, clock, log } = deps;

  const send = async (tenantId: string, probeId: string, command: Command) => {
    try {
      await deps.broker.publish({ tenantId, probeId }, "commands", JSON.stringify(command), { retain: false });
    } catch (error) {
      log.warn({ probe_id: probeId, reason: describeError(error) }, "the command to learn anew could not be sent");
      await store.answerLearning(probeId, command.id, { status: "failed", error: "the command could not be sent to the probe; ask again" });
    }
  };

  return {
    async learn(actor, siteId) {
      const { tenantId } = actor;
      await requireSite(store, tenantId, siteId);
      const probes = await store.probes(siteId);
      if (probes.length === 0) throw new ApiError("CONFLICT", "the site has no probe that could learn");
      const issued = clock.now();
      const [issuedAt, answerBy] = [toInstant(issued), toInstant(issued + ANSWER_WITHIN_MS)];
      const commands = probes.map(({ id: probeId }): readonly [string, Command] => [probeId, {
        v: MESSAGE_VERSION, id: createId(), type: "guards_learn", issued_at: issuedAt, expires_at: answerBy, data: {},
      }]);
      await store.transaction(async (trx) => {
        for (const [probeId, { id: commandId }] of commands) {
          await store.putLearning(trx, {
            probe_id: probeId, tenant_id: tenantId, command_id: commandId, asked_at: issuedAt, asked_by: actor.name, answer_by: answerBy,
            status: "sent", error: null,
          });
        }
        await audit(trx, {
          actor, action: "guards.learn", target: { type: "guards", id: siteId }, before: null, after: { probes: probes.map(({ id }) => id) },
        });
      });
      for (const [probeId, command] of commands) await send(tenantId, probeId, command);
      return { probes: (await store.probes(siteId)).map((probe) => toProbeGuards(probe, issuedAt)) };
    },

    async replied({ probeId }, { command_id: commandId, ok, error }) {
      if (commandId === null) return;
      await store.answerLearning(probeId, commandId, { status: ok ? "done" : "failed", error: error?.message ?? null });
    },
  };
}
