import { type Command, type CommandData, type CommandRefusal, type CommandType, MESSAGE_VERSION, Reply } from "@lanthorn/contract";
import { type Clock, createId, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Broker } from "../../broker/broker.ts";
import { ApiError } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { unavailable, whereIs } from "./refusals.ts";
import type { PcapCommandsStore } from "./store/commands-store.ts";

/** What a probe's traffic process carries out. */
type TrafficCommand = Extract<CommandType, `pcap_${string}` | `behaviour_${string}`>;
/** Which probe is meant. */
export interface ProbeAddress {
  readonly tenantId: string;
  readonly probeId: string;
}

/** What became of a command. */
export type Outcome =
  | { readonly kind: "done"; readonly data: Reply["data"] }
  /** In the probe's own words, with what they mean where the probe says that. */
  | { readonly kind: "refused"; readonly reason: CommandRefusal | null; readonly words: string }
  /** The probe is online, and it is not known whether it has done it. */
  | { readonly kind: "unanswered"; readonly words: string }
  | { readonly kind: "away"; readonly words: string };

/** Sends commands to the process that reads a probe's traffic, and waits for what the probe says. */
export interface ProbeCommands {
  /** Sends a command and waits for what becomes of it. @throws What the database says. */
  tell<T extends TrafficCommand>(probe: ProbeAddress, type: T, data: CommandData<T>): Promise<Outcome>;
  /**
   * @param about The field of the request that a refusal is about.
   * @returns The reply's data.
   * @throws ApiError, with the probe's own words: BAD_REQUEST where it refuses what was asked for; CONFLICT where its configuration does not
   * allow it; NOT_FOUND where it says that there is no such file; SERVICE_UNAVAILABLE where it is away, does not answer in time, or cannot do
   * it now.
   */
  ask<T extends TrafficCommand>(probe: ProbeAddress, type: T, data: CommandData<T>, about: string): Promise<Reply["data"]>;
  /** Sends a command without waiting. @param id Of the command, by which its reply is known. @throws What the broker says when it cannot take it. */
  send<T extends TrafficCommand>(probe: ProbeAddress, type: T, data: CommandData<T>, id?: string): Promise<void>;
  /** A probe has answered a command, which may be another one. */
  replied(probe: { readonly probeId: string }, reply: Reply): Promise<void>;
}

/** Well within the time that a request may take. */
const ANSWER_WITHIN_MS = 15_000;
/** How often it is looked whether another process has got the reply. */
const LOOK_EVERY_MS = 500;

/** @param deps.broker Takes the commands to the probes. */
export function createProbeCommands(deps: {
  readonly store: PcapCommandsStore; readonly broker: Pick<Broker, "publish">; readonly clock: Clock; readonly log: Log;
}): ProbeCommands {
  const { store, clock, log } = deps;
  /** By command: whoever waits for it in this process. */
  const waiting = new Map<string, { readonly probeId: string; readonly resolve: (reply: Reply) => void }>();

  const send: ProbeCommands["send"] = async (probe, type, data, id = createId()) => {
    const issued = clock.now();
    const command: Command = {
      v: MESSAGE_VERSION, id, type, issued_at: toInstant(issued), expires_at: toInstant(issued + ANSWER_WITHIN_MS), data,
    };
    await deps.broker.publish(probe, "commands", JSON.stringify(command), { retain: false });
  };

  /** @returns Null when the time is over. */
  const waitFor = (id: string, probeId: string): Promise<Reply | null> => new Promise((resolve) => {
    const ends = clock.now() + ANSWER_WITHIN_MS;
    let cancel: () => void = () => undefined;
    const end = (reply: Reply | null) => {
      cancel();
      waiting.delete(id);
      resolve(reply);
    };
    waiting.set(id, { probeId, resolve: end });
    const look = async () => {
      const text = await store.replyTo(id).catch(() => null);
      if (!waiting.has(id)) return;
      if (text !== null) end(Reply.parse(JSON.parse(text)));
      else if (clock.now() >= ends) end(null);
      else cancel = clock.after(LOOK_EVERY_MS, () => void look());
    };
    cancel = clock.after(LOOK_EVERY_MS, () => void look());
  });

  const tell: ProbeCommands["tell"] = async (probe, type, data) => {
    const [known] = await store.probes(probe.tenantId, { probeId: probe.probeId });
    if (known?.state !== "online") return { kind: "away", words: known ? whereIs(known) : "the probe was revoked" };
    const id = createId();
    await store.add({ id, tenant_id: probe.tenantId, probe_id: probe.probeId, expires_at: toInstant(clock.now() + ANSWER_WITHIN_MS) });
    const answered = waitFor(id, probe.probeId);
    try {
      await send(probe, type, data, id);
    } catch (error) {
      log.warn({ probe_id: probe.probeId, reason: describeError(error) }, "a command could not be sent to a probe");
      waiting.get(id)?.resolve(UNSENT);
    } finally {
      await answered;
      await store.remove(id);
    }
    return readReply(await answered);
  };

  return {
    send, tell,
    async ask(probe, type, data, about) {
      const outcome = await tell(probe, type, data);
      if (outcome.kind === "done") return outcome.data;
      throw outcome.kind === "refused" ? refusalOf(outcome, probe, about) : unavailable(outcome.words);
    },
    async replied({ probeId }, reply) {
      const { command_id: id } = reply;
      if (id === null) return;
      const waiter = waiting.get(id);
      if (waiter?.probeId === probeId) waiter.resolve(reply);
      else if (!waiter) await store.reply(probeId, id, JSON.stringify(reply));
    },
  };
}

const UNSENT: Reply = { v: MESSAGE_VERSION, command_id: null, ok: false, error: { code: "failed", message: "the command could not be sent to it; try again" }, data: {} };

function refusalOf({ reason, words }: Extract<Outcome, { kind: "refused" }>, { probeId }: ProbeAddress, about: string): ApiError {
  switch (reason) {
    case "not-now":
      return unavailable(words);
    case "no-such-file":
      return new ApiError("NOT_FOUND", words);
    case "not-configured":
      return new ApiError("CONFLICT", words, { details: { reason, probe_id: probeId } });
    case "no-such-interface":
      return badRequest([{ path: ["interface"], message: words }]);
    case null:
    default:
      return badRequest([{ path: [about], message: words }]);
  }
}

/** @param reply Null where there was none in time. */
function readReply(reply: Reply | null): Outcome {
  if (reply === null) return { kind: "unanswered", words: `the probe did not answer within ${ANSWER_WITHIN_MS / 1000} s; try again` };
  if (reply.ok) return { kind: "done", data: reply.data };
  const { code, message, reason = null } = reply.error ?? { code: "failed", message: "it refused" };
  if (code === "refused") return { kind: "refused", reason, words: message };
  if (code === "not-a-command") return { kind: "unanswered", words: "the probe's version does not know this command: install a newer one" };
  return { kind: "unanswered", words: `the probe could not do it: ${message}` };
}
