import { BEHAVIOUR_COMMANDS, type CommandData, PCAP_COMMANDS } from "@lanthorn/contract/uplink";
import type { SiteBehaviour } from "../anomalies/behaviour.ts";
import { isWithoutFile, markWanted, readNote, removeCaptureFile } from "../capture-files/facts.ts";
import type { CommandAnswer, ToProcess } from "../messages.ts";
import type { RequestedCaptures } from "../on-demand/captures.ts";
import type { Watches } from "../on-demand/watches.ts";
import type { Uploads } from "./uploads.ts";

/** What commands reach. */
export interface CommandReach {
  readonly captures: RequestedCaptures;
  readonly watches: Watches;
  /** Finished files, and how one is taken out of the budgets. */
  readonly files: {
    readonly folder: string; readonly forget: (id: string) => void;
    /** Ends what is being written under an id, and leaves nothing of it. @returns Whether there was such a file. */
    readonly drop: (id: string) => Promise<boolean>;
  };
  readonly uploads: Uploads;
  /** Resolves when all frames that have been read are with those who write them. */
  readonly handedOn: () => Promise<void>;
  readonly behaviour: Pick<SiteBehaviour, "read" | "list" | "freeze" | "reset">;
  readonly exports: { readonly start: (data: CommandData<"pcap_export">) => Promise<CommandAnswer>; readonly stop: (id: string) => boolean };
}

/** Carries out a command of the collector, whose data is held against the contract once more. */
export async function carryOutCommand(
  { command, data }: Pick<Extract<ToProcess, { kind: "command" }>, "command" | "data">, { captures, watches, files, uploads, exports, behaviour, handedOn }: CommandReach,
): Promise<CommandAnswer> {
  switch (command) {
    case "pcap_start":
      return captures.start(PCAP_COMMANDS.pcap_start.parse(data));
    case "pcap_stop": {
      const { pcap_id: id } = PCAP_COMMANDS.pcap_stop.parse(data);
      return { data: { running: captures.stop(id) || exports.stop(id) } };
    }
    case "pcap_watch":
      return watches.look(PCAP_COMMANDS.pcap_watch.parse(data));
    case "pcap_delete": {
      const { pcap_id: id } = PCAP_COMMANDS.pcap_delete.parse(data);
      const wasRunning = await captures.drop(id) || await files.drop(id);
      const isStored = (await readNote(files.folder, id)) !== null || await uploads.isSent(id);
      await uploads.remove(id);
      await removeCaptureFile(files.folder, id);
      files.forget(id);
      return { data: { deleted: wasRunning || isStored } };
    }
    case "pcap_fetch":
      return fetchFile(PCAP_COMMANDS.pcap_fetch.parse(data).pcap_id, files.folder, uploads);
    case "behaviour_read":
      return behaviour.read(BEHAVIOUR_COMMANDS.behaviour_read.parse(data));
    case "behaviour_list":
      return behaviour.list(BEHAVIOUR_COMMANDS.behaviour_list.parse(data));
    case "behaviour_freeze":
      return behaviour.freeze(BEHAVIOUR_COMMANDS.behaviour_freeze.parse(data));
    case "behaviour_reset":
      return behaviour.reset(BEHAVIOUR_COMMANDS.behaviour_reset.parse(data));
    case "pcap_export":
    default: {
      const wanted = PCAP_COMMANDS.pcap_export.parse(data);
      await handedOn();
      return exports.start(wanted);
    }
  }
}

async function fetchFile(id: string, folder: string, uploads: Uploads): Promise<CommandAnswer> {
  if (await uploads.isSent(id)) return { data: {} };
  const recorded = (await readNote(folder, id))?.recorded;
  if (!recorded || isWithoutFile(recorded)) return { refused: "the probe has no such file; it was removed to make room, or never was", reason: "no-such-file" };
  if (recorded.state === "recording") return { refused: "the file is still being written; ask when it has ended", reason: "not-now" };
  // It may wait for days among those that are sent, and this process may end meanwhile. Where the disk takes no word of it, it is wanted all the same.
  await markWanted(folder, id).catch(() => {});
  uploads.want(id);
  return { data: {} };
}
