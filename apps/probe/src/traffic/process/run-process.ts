import { Socket } from "node:net";
import { compileFilter, openTrafficCapture, PacketIoError } from "@lanthorn/packet-io";
import { type Clock, type Log, stopSignal } from "@lanthorn/runtime";
import { CHANNEL_RATE, type Channel, openChannel } from "../../channel/channel.ts";
import { type FromProcess, ToProcess } from "../messages.ts";
import type { CompileFilter } from "../on-demand/filter-program.ts";
import { openParts } from "./open-parts.ts";
import { createTrafficProcess, type TrafficProcess } from "./traffic-process.ts";

/** Where the daemon has put the channel. */
const CHANNEL_FILE = 3;
/** Within what the daemon waits for. */
const CLOSE_MS = 3000;

/**
 * Reads traffic for the daemon that has started this process, until the daemon or the channel ends.
 * Resolves when its files are finished.
 * @param deps.program This program, as it is started again for what takes long.
 * @param deps.collectGarbage What the start left behind goes before the first frame comes: the process stands still for that.
 */
export async function runTrafficProcess(deps: {
  readonly program: readonly string[]; readonly clock: Clock; readonly random: () => number; readonly log: Log; readonly collectGarbage: () => void; readonly ownNetworks: () => readonly string[];
}): Promise<void> {
  const { clock, log } = deps;
  let traffic: Promise<TrafficProcess> | null = null;
  let channel: Channel<FromProcess> | null = null;
  const ended = new Promise<string>((resolve) => {
    channel = openChannel<ToProcess, FromProcess>({
      stream: new Socket({ fd: CHANNEL_FILE, readable: true, writable: true }), incoming: ToProcess, rate: CHANNEL_RATE, clock, onEnd: resolve,
      onMessage(message) {
        if (message.kind === "begin") traffic ??= begin(message);
        // In their order: what came before it was ready waits for it.
        else void traffic?.then((one) => one.onMessage(message));
      },
    });
    void stopSignal().then(resolve);
  });

  async function begin(message: Extract<ToProcess, { kind: "begin" }>): Promise<TrafficProcess> {
    const send = (said: FromProcess) => channel?.send(said) ?? false;
    const parts = await openParts({ begin: message, send, ...deps });
    deps.collectGarbage();
    return createTrafficProcess({ begin: message, openCapture: openTrafficCapture, compile, parts, send, ...deps });
  }

  const reason = await ended;
  const late = new Promise<void>((resolve) => void clock.after(CLOSE_MS, resolve));
  await Promise.race([Promise.resolve(traffic as Promise<TrafficProcess> | null).then((one) => one?.close()), late]);
  log.info({ reason }, "the traffic process ends");
}

const compile: CompileFilter = (text, snapLength) => {
  if (text === "") return { program: null };
  try {
    const { run } = compileFilter(text, { snapLength });
    return { program: ({ bytes, offset, length, wireLength }) => run(bytes, offset, length, wireLength) > 0 };
  } catch (error) {
    if (error instanceof PacketIoError) return { refused: error.message };
    throw error;
  }
};
