import type { CaptureSettings, PcapRecorded } from "@lanthorn/contract/uplink";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { BufferPool } from "../capture-files/buffer-pool.ts";
import { type CaptureFile, openCaptureFile } from "../capture-files/capture-file.ts";
import { createFrameCounts } from "../capture-files/counters.ts";
import type { DiskRoom } from "../capture-files/disk-room.ts";
import { type CaptureFileFacts, writeNote } from "../capture-files/facts.ts";
import { narrower, privacyOf } from "../capture-files/privacy.ts";
import { subjectOf } from "./rooms/stored-files.ts";
import type { OpenRecording, Recording, RecordingAbout, RecordingOptions } from "../recording.ts";

/** Capture files about alerts and on demand, as far as they are written. */
export interface Recordings {
  readonly open: OpenRecording;
  /** Every two seconds: what is in memory goes to the disk, so that little is lost with the process, and buffers are free for others. */
  flush(): void;
  /** The site's settings have changed: what they want left out is left out of open files too, from the next frame on. */
  configure(): void;
  /** Ends a file, and leaves nothing of it; of one that is just being finished, what is left is for the caller to remove. @returns Whether there was one. */
  drop(id: string): Promise<boolean>;
  /** Frames that were lost because the disk was too slow. */
  droppedByProbe(): number;
  /** Waits for the files that are being finished. */
  close(): Promise<void>;
}

/** What is reported of a file at most. */
const MAX_ABOUT = 64;
const MAX_DETAIL = 512;

/** What recordings need. */
interface RecordingsDeps {
  readonly folder: string;
  readonly interfaces: readonly string[];
  readonly application: string;
  readonly pool: BufferPool;
  readonly roomOf: (trigger: RecordingOptions["trigger"], id: string, subject: string) => DiskRoom;
  readonly site: () => CaptureSettings;
  /** A file has ended, with all that is known of it. */
  readonly onFinished: (facts: CaptureFileFacts) => void;
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Log, "info" | "error">;
}

/** Files of the folder, as many at once as there are buffers for. */
export function createRecordings(deps: RecordingsDeps): Recordings {
  const finishing = new Map<string, Promise<void>>();
  const running = new Map<string, { readonly file: CaptureFile; readonly abandon: () => Promise<void> }>();
  let dropped = 0;

  function open(options: RecordingOptions): Recording {
    const file = openFile(options, deps);
    const counts = createFrameCounts(deps.interfaces.length);
    let { about } = options;
    let isDropped = false;
    const abandon = (): Promise<void> => {
      isDropped = true;
      running.delete(options.id);
      return file.abandon();
    };
    running.set(options.id, { file, abandon });
    deps.log.info({ pcap_id: options.id, trigger: options.trigger, alert_ids: about.alertIds, folder: deps.folder }, "a capture file begins");
    return {
      id: options.id,
      add(frame, interfaceId, comment) {
        if (isDropped) return "full";
        const added = file.add(frame, interfaceId, comment);
        if (added === "added") counts.added(interfaceId, 1);
        return added;
      },
      missing(interfaceId, frames, why, by) {
        file.missing(interfaceId, frames, why);
        counts.missing(interfaceId, frames, by);
        if (by === "probe") dropped += frames;
      },
      leftOut: counts.leftOut,
      get packets() {
        return file.contents.packets;
      },
      get bytes() {
        return file.bytes;
      },
      describe(now) {
        about = now;
      },
      finish(detail) {
        if (isDropped) return Promise.resolve();
        running.delete(options.id);
        const done = file.finish(counts.all).then((facts) => settle(facts, { options, about, detail }, deps));
        finishing.set(options.id, done);
        return done.finally(() => finishing.delete(options.id));
      },
      abandon,
    };
  }

  return {
    open,
    async drop(id) {
      const wasThere = running.has(id) || finishing.has(id);
      await running.get(id)?.abandon();
      await finishing.get(id);
      return wasThere;
    },
    flush() {
      for (const { file } of running.values()) void file.flush();
    },
    configure() {
      for (const { file } of running.values()) file.narrow(privacyOf(deps.site()));
    },
    droppedByProbe: () => dropped,
    async close() {
      await Promise.all(finishing.values());
    },
  };
}

function openFile(options: RecordingOptions, deps: RecordingsDeps): CaptureFile {
  return openCaptureFile({
    room: deps.roomOf(options.trigger, options.id, subjectOf(options.about)), pool: deps.pool, folder: deps.folder, id: options.id, application: deps.application, clock: deps.clock,
    interfaces: deps.interfaces.map((name) => ({ name, snapLength: options.snapLength })), filter: options.filter, comment: options.comment,
    maxBytes: options.maxBytes, about: { trigger: options.trigger, ...toFields(options.about) },
    privacy: narrower({ headersOnly: options.headersOnly, headersOnlyNetworks: [] }, privacyOf(deps.site())),
  });
}

/** Alerts may have joined a file since it was begun: what is known of it is written down once more. */
async function settle({ path, recorded }: CaptureFileFacts, last: {
  readonly options: RecordingOptions; readonly about: RecordingAbout; readonly detail: string;
}, { folder, interfaces, log, onFinished }: RecordingsDeps): Promise<void> {
  const { id, interfaceId } = last.options;
  const all: PcapRecorded = {
    ...recorded, ...toFields(last.about), detail: [recorded.detail, last.detail].filter((text) => text !== "").join(" ").slice(0, MAX_DETAIL),
    interfaces: interfaceId === null ? recorded.interfaces : interfaces.slice(interfaceId, interfaceId + 1),
  };
  await writeNote(folder, { recorded: all, is_reported: false })
    .catch((error: unknown) => log.error({ pcap_id: id, reason: describeError(error) }, "what is known of a capture file cannot be written down"));
  log.info({ pcap_id: id, state: all.state, packets: all.packets, bytes: all.size_bytes }, "a capture file is finished");
  onFinished({ path, recorded: all });
}

function toFields({ alertIds, macs, ips }: RecordingAbout): Pick<PcapRecorded, "alert_ids" | "macs" | "ips"> {
  return { alert_ids: alertIds.slice(0, MAX_ABOUT), macs: macs.slice(0, MAX_ABOUT), ips: ips.slice(0, MAX_ABOUT) };
}
