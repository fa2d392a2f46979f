import { type Clock, pause } from "@lanthorn/runtime";
import type { Connection } from "../connection.ts";
import { oneSite } from "../site-id.ts";
import { frameLine } from "./pcap-line.ts";

/** What of which packets is shown. */
export interface PcapWatchOptions {
  readonly site?: string;
  readonly probe?: string;
  readonly interface?: string;
  readonly snapLength: number;
  readonly reason?: string;
  readonly json: boolean;
}

/** Well within what a login may ask in a minute. */
const POLL_MS = 2000;

/**
 * Prints packets while a probe sees them, one a line, until it is stopped.
 * @throws ClientError for a filter that does not compile, with the compiler's words, and when the view has ended.
 */
export async function watchPackets({ rest }: Pick<Connection, "rest">, filter: string, options: PcapWatchOptions, deps: {
  readonly clock: Pick<Clock, "after">; readonly print: (line: string) => void; readonly note: (line: string) => void; readonly stopped: Promise<unknown>;
}): Promise<void> {
  const { clock, print, note } = deps;
  let isStopped = false;
  const stopped = deps.stopped.then(() => (isStopped = true));
  let view = await rest.startPcapWatch({
    filter, snap_length: options.snapLength, interface: options.interface ?? null,
    ...(options.probe === undefined ? { site_id: await oneSite(rest, options.site) } : { probe_id: options.probe }),
    ...(options.reason !== undefined && { reason: options.reason }),
  });
  note("watching; the times are in UTC; stop with Ctrl-C");
  let [shown, missed] = [0, 0];
  for (;;) {
    for (const frame of view.frames) print(options.json ? JSON.stringify(frame) : frameLine(frame));
    shown += view.frames.length;
    missed += view.missed;
    if (view.missed > 0) note(`${view.missed} packets were not shown: there were too many; narrow the filter`);
    await Promise.race([pause(clock, POLL_MS), stopped]);
    if (isStopped) break;
    view = await rest.readPcapWatch(view.id, { after: view.next });
  }
  await rest.endPcapWatch(view.id).catch(() => undefined);
  note(`${shown} packets shown, ${missed} not shown`);
}
