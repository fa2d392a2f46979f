import {
  type Capture, type createPacedSender, type OnFrames, type openCapture, type openInjector, type PacedSender, PacketIoError,
} from "@lanthorn/packet-io";
import type { Clock } from "@lanthorn/runtime";
import { captureFilter } from "./capture-filter.ts";

/** What of @lanthorn/packet-io is used; a test brings its own. */
export interface CaptureIo {
  readonly openCapture: typeof openCapture;
  readonly openInjector: typeof openInjector;
  readonly createPacedSender: typeof createPacedSender;
}

/** Frames that were captured, and those that were lost before the probe read them. */
export interface CaptureCounters {
  readonly frames: number;
  readonly dropped: number;
}

/** Captures and sends frames on one interface. Both belong to the interface that was there when they were opened. */
export interface InterfaceCapture {
  readonly isOpen: boolean;
  /**
   * Opens the capture, and the way out; anew where they are open.
   * @param mac The interface's own address, whose frames are left out.
   * @throws PacketIoError as `openCapture` and `openInjector`; nothing is open then.
   */
  open(mac: string): void;
  /** Sends frames, through whatever is open at the moment; it fails while nothing is. */
  readonly sender: Pick<PacedSender, "send">;
  /** Of all captures since the start together. */
  counters(): CaptureCounters;
  /** For good: the sender is closed too. */
  close(): Promise<void>;
}

/** A whole Ethernet frame with two VLAN tags. */
const SNAP_LENGTH = 1522;

/** @param deps.onLost The capture ended by itself, and nothing is open any more. */
export function createInterfaceCapture(deps: {
  readonly interface: string;
  readonly packetIo: CaptureIo;
  readonly clock: Clock;
  readonly onFrames: OnFrames;
  readonly onLost: (reason: PacketIoError) => void;
}): InterfaceCapture {
  const { interface: name, packetIo, clock } = deps;
  let capture: Capture | null = null;
  let injector: ReturnType<typeof openInjector> | null = null;
  let earlier: CaptureCounters = { frames: 0, dropped: 0 };

  const sender = packetIo.createPacedSender({
    injector: {
      send: (frames) => injector?.send(frames)
        ?? Promise.reject(new PacketIoError("interface-down", `cannot send: there is no interface ${name}`)),
    },
    clock,
  });

  function forget(): void {
    if (capture) earlier = sum(earlier, capture);
    capture = null;
    injector?.close();
    injector = null;
  }

  return {
    get isOpen() {
      return capture !== null;
    },
    open(mac) {
      void capture?.close();
      forget();
      try {
        injector = packetIo.openInjector({ interface: name, clock });
        capture = packetIo.openCapture({
          interface: name, filter: captureFilter(mac), snapLength: SNAP_LENGTH,
          // Network cards leave out multicast groups that this machine did not join, mDNS among them.
          promiscuous: true,
          clock, onFrames: deps.onFrames,
          onLost(reason) {
            forget();
            deps.onLost(reason);
          },
        });
      } catch (error) {
        forget();
        throw error;
      }
    },
    sender,
    counters: () => (capture ? sum(earlier, capture) : earlier),
    async close() {
      sender.close();
      const current = capture;
      forget();
      await current?.close();
    },
  };
}

/** Drops of the interface itself are counted for all its readers since it was made, and say nothing of us. */
function sum(earlier: CaptureCounters, capture: Capture): CaptureCounters {
  const { frames, droppedByKernel, droppedByReader } = capture.counters();
  return { frames: earlier.frames + frames, dropped: earlier.dropped + droppedByKernel + droppedByReader };
}
