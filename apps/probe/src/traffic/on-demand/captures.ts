import type { CommandData } from "@lanthorn/contract/uplink";
import { createFrameCursor, type FrameBlock, type FrameCursor } from "@lanthorn/packet-io";
import { type Clock, keepUntilDone } from "@lanthorn/runtime";
import type { CommandAnswer, CommandRefused } from "../messages.ts";
import type { OpenRecording, Recording } from "../recording.ts";
import { fromMegabytes, type OnDemandSettings } from "../settings.ts";
import type { CompileFilter, FrameProgram } from "./filter-program.ts";

/** Captures that somebody has asked for. */
export interface RequestedCaptures {
  start(command: CommandData<"pcap_start">): CommandAnswer;
  /** @returns Whether it was running. */
  stop(id: string): boolean;
  /** Ends it, and leaves nothing of it. @returns Whether it was running. */
  drop(id: string): Promise<boolean>;
  onBlock(block: FrameBlock, interfaceId: number): void;
  /** Frames that these captures did without. */
  missing(interfaceId: number, frames: number, why: string, by: "kernel" | "probe"): void;
  tick(): void;
  state(): readonly { readonly pcap_id: string; readonly filter: string; readonly kept: number; readonly left_out: number }[];
  close(): Promise<void>;
}

/** At once. Each frame is held against the filter of each. */
const MAX_CAPTURES = 4;

interface RunningCapture {
  readonly recording: Recording;
  readonly command: CommandData<"pcap_start">;
  readonly interfaceId: number | null;
  readonly program: FrameProgram | null;
  readonly endsAt: number;
  readonly maxPackets: number;
  leftOut: number;
  /** Why it is to end; null while it goes on. */
  over: string | null;
}

/**
 * @param deps.interfaceIdOf The number of an interface that is read; null for one that is not.
 * @param deps.interfaces Names of those that are.
 */
export function createRequestedCaptures(deps: {
  readonly settings: OnDemandSettings;
  readonly snapLength: number;
  readonly interfaces: readonly string[];
  readonly compile: CompileFilter;
  readonly open: OpenRecording;
  readonly clock: Pick<Clock, "monotonic">;
}): RequestedCaptures {
  const { settings, clock } = deps;
  const cursor = createFrameCursor();
  let running: RunningCapture[] = [];
  const ending = new Set<Promise<unknown>>();

  const find = (id: string) => running.find(({ recording }) => recording.id === id);

  function finish(capture: RunningCapture, detail: string): true {
    running = running.filter((one) => one !== capture);
    keepUntilDone(ending, capture.recording.finish(detail));
    return true;
  }

  function begin(command: CommandData<"pcap_start">): CommandAnswer {
    const { pcap_id: id, filter, packets: maxPackets } = command;
    if (find(id)) return { refused: "this capture is already running" };
    if (running.length >= MAX_CAPTURES) return { refused: `${MAX_CAPTURES} captures are already running; stop one of them, or wait`, reason: "not-now" };
    const found = findInterface(command.interface, deps.interfaces);
    if ("refused" in found) return found;
    const compiled = deps.compile(filter, deps.snapLength);
    if ("refused" in compiled) return compiled;
    const [maxBytes, seconds] = [Math.min(command.bytes, fromMegabytes(settings.max_megabytes)), Math.min(command.seconds, settings.longest_seconds)];
    const recording = deps.open({
      id, trigger: "request", interfaceId: found.id, filter, snapLength: Math.min(command.snap_length, deps.snapLength),
      headersOnly: command.headers_only, maxBytes, about: { alertIds: [], macs: [], ips: [] }, comment: "",
    });
    if ("refused" in recording) return { ...recording, reason: "not-now" };
    running.push({
      recording, command, interfaceId: found.id, program: compiled.program, endsAt: clock.monotonic() + seconds * 1000, maxPackets, leftOut: 0, over: null,
    });
    return { data: { seconds, packets: maxPackets, bytes: maxBytes } };
  }

  return {
    start: begin,
    stop(id) {
      const capture = find(id);
      return capture !== undefined && finish(capture, "it was stopped");
    },
    async drop(id) {
      const capture = find(id);
      running = running.filter((one) => one !== capture);
      await capture?.recording.abandon();
      return capture !== undefined;
    },
    onBlock(block, interfaceId) {
      for (const capture of running) {
        cursor.start(block);
        if (capture.interfaceId === null || capture.interfaceId === interfaceId) takeFrames(capture, cursor, interfaceId);
      }
    },
    missing(interfaceId, frames, why, by) {
      for (const { recording, interfaceId: only } of running) {
        if (only === null || only === interfaceId) recording.missing(interfaceId, frames, why, by);
      }
    },
    tick() {
      const now = clock.monotonic();
      for (const capture of running) {
        if (capture.over !== null) finish(capture, capture.over);
        else if (now >= capture.endsAt) finish(capture, "");
      }
    },
    state: () => running.map(stateOf),
    close() {
      for (const capture of running) finish(capture, "the probe was stopped");
      return Promise.all(ending).then(() => undefined);
    },
  };
}

function stateOf({ recording, command, leftOut }: RunningCapture): ReturnType<RequestedCaptures["state"]>[number] {
  return { pcap_id: recording.id, filter: command.filter, kept: recording.packets, left_out: leftOut };
}

/** Takes the frames of a block that its filter lets through. */
function takeFrames(capture: RunningCapture, cursor: FrameCursor, interfaceId: number): void {
  const { recording, program } = capture;
  let leftOut = 0;
  while (capture.over === null && cursor.next()) {
    if (program !== null && !program(cursor)) {
      leftOut += 1;
      continue;
    }
    const added = recording.add(cursor, interfaceId);
    if (added === "busy") recording.missing(interfaceId, 1, "the disk was too slow", "probe");
    else if (added === "full") capture.over = "it reached the largest size that was asked for or is allowed, or there was no more room on the disk";
    else if (recording.packets >= capture.maxPackets) capture.over = "it has as many packets as were asked for";
  }
  capture.leftOut += leftOut;
  if (leftOut > 0) recording.leftOut(interfaceId, leftOut);
}

/** @returns The number of an interface that is read, null for all; in words what to do for one that is not. */
export function findInterface(name: string | null, interfaces: readonly string[]): { readonly id: number | null } | CommandRefused {
  if (name === null) return { id: null };
  const id = interfaces.indexOf(name);
  if (id >= 0) return { id };
  return {
    refused: `the probe does not read ${name}; it reads ${interfaces.join(", ")}. Add it to interfaces under [traffic] in the probe's configuration file, and start it again`,
    reason: "no-such-interface",
  };
}
