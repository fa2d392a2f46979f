import { Command, type CommandData, type CommandRefusal, COMMANDS, type CommandType, Id, MESSAGE_VERSION, type Reply } from "@lanthorn/contract/uplink";
import { describeError, type Log } from "@lanthorn/runtime";
import * as z from "zod";
import { decodeMessage, parsePayload } from "./payload.ts";

/** What became of a command: it was carried out, or in words why it is not, with what the collector makes of that. */
export type CommandOutcome = { readonly data: Reply["data"] } | { readonly refused: string; readonly reason?: CommandRefusal | undefined };

/** What the probe does at the collector's word; one for each command. A rejection becomes a reply of `failed`. */
export type CommandHandlers = { readonly [T in CommandType]: (data: CommandData<T>) => Promise<CommandOutcome> };

interface Commands {
  /** @param payload Whatever came on the topic. */
  onMessage(payload: Uint8Array): void;
}

/** More at once than people give; a flood is answered, not carried out. */
const RUNNING_MAX = 8;
/** The broker may deliver one twice; this many are remembered. */
const REMEMBERED = 256;

/**
 * Carries out the collector's commands, each once, and answers every one: `expired` when it was not begun in time,
 * `not-a-command` for a payload that cannot be read, `refused` when too many are running.
 * @param deps.collectorNow The collector's clock as far as we know it: expiry is by its time, not by a probe's that is off.
 */
export function createCommands(deps: {
  readonly handlers: CommandHandlers;
  readonly collectorNow: () => number;
  readonly reply: (reply: Reply) => void;
  readonly log: Log;
}): Commands {
  const seen = new Set<string>();
  let running = 0;

  const answer = (commandId: string | null, error: Reply["error"], data: Reply["data"] = {}) =>
    deps.reply({ v: MESSAGE_VERSION, command_id: commandId, ok: error === null, error, data });

  async function run(command: Command, data: CommandData<CommandType>): Promise<void> {
    running += 1;
    try {
      const outcome = await (deps.handlers[command.type] as (data: CommandData<CommandType>) => Promise<CommandOutcome>)(data);
      if ("data" in outcome) answer(command.id, null, outcome.data);
      else answer(command.id, { code: "refused", message: outcome.refused.slice(0, 512), ...(outcome.reason && { reason: outcome.reason }) });
    } catch (error) {
      deps.log.warn({ command: command.type, id: command.id, reason: describeError(error) }, "a command failed");
      answer(command.id, { code: "failed", message: describeError(error).slice(0, 512) });
    } finally {
      running -= 1;
    }
  }

  return {
    onMessage(payload) {
      const command = decodeMessage(Command, payload);
      const data = command && COMMANDS[command.type].safeParse(command.data);
      if (!command || !data?.success) {
        deps.log.warn({ bytes: payload.length }, "a command could not be read");
        answer(idOf(payload), { code: "not-a-command", message: "not a command that this version of the probe knows" });
        return;
      }
      if (seen.has(command.id)) return;
      seen.add(command.id);
      for (const oldest of seen) {
        if (seen.size <= REMEMBERED) break;
        seen.delete(oldest);
      }
      if (Date.parse(command.expires_at) <= deps.collectorNow()) {
        answer(command.id, { code: "expired", message: `it expired at ${command.expires_at}` });
      } else if (running >= RUNNING_MAX) {
        answer(command.id, { code: "refused", message: `${RUNNING_MAX} commands are already running`, reason: "not-now" });
      } else {
        deps.log.info({ command: command.type, id: command.id }, "running a command");
        void run(command, data.data);
      }
    },
  };
}

/** The command's id, if at least that can be read, so that the collector knows which of its commands is meant. */
function idOf(payload: Uint8Array): string | null {
  return z.object({ id: Id }).safeParse(parsePayload(payload)).data?.id ?? null;
}
