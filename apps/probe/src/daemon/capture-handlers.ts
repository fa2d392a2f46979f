import { describeError } from "@lanthorn/runtime";
import type { Spool } from "../files/spool.ts";
import { readNote, removeCaptureFile } from "../traffic/capture-files/facts.ts";
import { handOver } from "../traffic/capture-files/hand-over.ts";
import { filesFolder } from "../traffic/capture-files/repair.ts";
import { TRAFFIC_COMMANDS, type TrafficCommand } from "../traffic/messages.ts";
import type { TrafficSupervisor } from "../traffic/supervisor/supervisor.ts";
import type { CommandHandlers } from "../uplink/commands.ts";

/** Where capture files of earlier days lie. */
export interface StoredCaptures {
  readonly dataDir: string;
  readonly spool: Pick<Spool, "add" | "find" | "remove">;
}

const REFUSED = {
  refused: "the probe reads no traffic: name its interfaces under [traffic] in its configuration file, as interfaces = [\"eth0\"], and start it again", reason: "not-configured",
} as const;

/**
 * The commands about captures and behavior, which the traffic process carries out.
 * @param traffic Null where the configuration names no interface to record: they are refused then, except for files of earlier days.
 * @param stored Where those are; null where there are none.
 */
export function captureHandlers(
  traffic: Pick<TrafficSupervisor, "command"> | null, stored: StoredCaptures | null = null,
): Pick<CommandHandlers, TrafficCommand> {
  if (!traffic && stored) return { ...refuseAll(), ...storedHandlers(stored) };
  if (!traffic) return refuseAll();
  return forEach((name) => (data: never) => traffic.command(name, data));
}

const refuseAll = () => forEach(() => () => Promise.resolve(REFUSED));

function forEach(handlerOf: (name: TrafficCommand) => unknown): Pick<CommandHandlers, TrafficCommand> {
  return Object.fromEntries(TRAFFIC_COMMANDS.map((name) => [name, handlerOf(name)])) as unknown as Pick<CommandHandlers, TrafficCommand>;
}

/** What the traffic process does with finished files, while there is none. */
function storedHandlers({ dataDir, spool }: StoredCaptures): Pick<CommandHandlers, "pcap_delete" | "pcap_fetch"> {
  return {
    async pcap_delete({ pcap_id: id }) {
      const folder = filesFolder(dataDir);
      const isHere = (await readNote(folder, id)) !== null || (await spool.find(id)) !== null;
      await spool.remove(id);
      await removeCaptureFile(folder, id);
      return { data: { deleted: isHere } };
    },
    async pcap_fetch({ pcap_id: id }) {
      try {
        if (await handOver({ spool, dataDir, id })) return { data: {} };
      } catch (error) {
        return { refused: describeError(error), reason: "not-now" };
      }
      return { refused: "the probe has no such file; it was removed to make room, or never was", reason: "no-such-file" };
    },
  };
}
