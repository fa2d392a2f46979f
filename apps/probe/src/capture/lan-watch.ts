import type {
  Capture, InterfaceFacts, OnFrames, openCapture, openInjector, PacedSender, watchInterface, createPacedSender,
} from "@lanthorn/packet-io";
import { PacketIoError } from "@lanthorn/packet-io";
import { type Clock, createBackoff, describeError, type Log } from "@lanthorn/runtime";

/** What of @lanthorn/packet-io is used; a test brings its own. */
export interface PacketIo {
  readonly openCapture: typeof openCapture;
  readonly openInjector: typeof openInjector;
  readonly watchInterface: typeof watchInterface;
  readonly createPacedSender: typeof createPacedSender;
}

/** The watched interface, through everything that happens to it. */
export interface LanWatch {
  /** `up` only while frames are captured: what is asked while nobody listens says nothing. Another object only after a change. */
  facts(): InterfaceFacts | null;
  /** Once the interface was looked at for the first time, whatever was seen: before, nothing is known of it. */
  readonly looked: Promise<void>;
  /** Fails while the interface is not there. */
  readonly sender: Pick<PacedSender, "send">;
  counters(): { readonly frames: number; readonly dropped: number };
  /** Why nothing is captured; null while it is. */
  problem(): string | null;
  close(): Promise<void>;
}

/**
 * Everything that tells of hosts and neighbors: what is said to all or many, VLAN tags or not, and the answers to what we ask. Other
 * traffic would only cost time. EDP goes to an address that is no multicast address.
 * What we send is left out by its MAC: libpcap's `inbound` loses frames until its ring has gone round once.
 * @see pcap-filter(7)
 */
const HEARD = "ether multicast or ether dst 00:e0:2b:00:00:00 or arp or icmp6 or udp port 67 or udp port 68 or udp port 5353";
/**
 * How handshakes with this machine begin, whose options show a system's hand. With no option but the segment size, as answers to
 * a port scan have, they show none, and are many: the kernel leaves them out.
 */
const HANDSHAKES = "tcp[tcpflags] & tcp-syn != 0 and tcp[12] & 0xf0 > 0x60";
/** A whole Ethernet frame with two VLAN tags. */
const SNAP_LENGTH = 1522;

const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 30_000;

/**
 * Captures for as long as the interface is there and up, and begins again whenever it comes back.
 * @param deps.onDenied The process may not capture at all; that does not change while it runs.
 */
export function createLanWatch(deps: {
  readonly interface: string;
  readonly packetIo: PacketIo;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onFrames: OnFrames;
  readonly onDenied: (reason: PacketIoError) => void;
}): LanWatch {
  const { packetIo, clock, log, interface: name } = deps;
  const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
  let kernel: InterfaceFacts | null = null;
  let facts: InterfaceFacts | null = null;
  let capture: Capture | null = null;
  let injector: { send(frames: Iterable<Uint8Array>): Promise<void>; close(): void } | null = null;
  let problem: string | null = `${name} was not read yet`;
  let earlier = { frames: 0, dropped: 0 };
  let closed = false;
  let cancelRetry = () => {};
  let noteLooked = () => {};
  const looked = new Promise<void>((resolve) => {
    noteLooked = resolve;
  });

  const sender = packetIo.createPacedSender({
    injector: {
      send(frames) {
        return injector
          ? injector.send(frames)
          : Promise.reject(new PacketIoError("interface-down", `cannot send: there is no interface ${name}`));
      },
    },
    clock,
  });

  function publish(): void {
    const up = kernel?.up === true && capture !== null;
    if (kernel === null) facts = null;
    else if (facts === null || facts.up !== up || !sameFacts(facts, kernel)) facts = { ...kernel, up };
  }

  function setProblem(reason: string): void {
    if (!closed && reason !== problem) log.warn({ interface: name, reason }, "nothing is captured until this is repaired");
    problem = reason;
  }

  function open(): void {
    cancelRetry();
    if (closed || capture || kernel?.up !== true) return;
    try {
      injector = packetIo.openInjector({ interface: name, clock });
      capture = packetIo.openCapture({
        interface: name, filter: `not ether src ${kernel.mac} and (${HEARD} or (ether dst ${kernel.mac} and ${HANDSHAKES}))`,
        snapLength: SNAP_LENGTH,
        // Network cards leave out multicast groups that this machine did not join, mDNS among them.
        promiscuous: true,
        clock, onFrames: deps.onFrames, onLost: lose,
      });
    } catch (error) {
      injector?.close();
      injector = null;
      setProblem(describeError(error));
      if (error instanceof PacketIoError && error.code === "permission-denied") deps.onDenied(error);
      else cancelRetry = clock.after(backoff.next(), open);
      return;
    }
    backoff.reset();
    problem = null;
    log.info(
      { interface: name, mac: kernel.mac, addresses: kernel.addresses.map(({ ip, prefixLength }) => `${ip}/${prefixLength}`) }, "capturing",
    );
    publish();
  }

  function lose(reason: PacketIoError): void {
    forgetCapture();
    setProblem(describeError(reason));
    publish();
    cancelRetry = clock.after(backoff.next(), open);
  }

  /** A sender belongs to the interface that was there when it was opened, as the capture does. */
  function forgetCapture(): void {
    if (capture) earlier = sum(earlier, capture);
    capture = null;
    injector?.close();
    injector = null;
  }

  const watch = packetIo.watchInterface({
    interface: name,
    clock,
    onChange(now) {
      kernel = now;
      if (now === null) setProblem(`there is no interface ${name}; see: ip link`);
      else if (!now.up && !capture) setProblem(`${name} is down or has no carrier`);
      open();
      publish();
      noteLooked();
    },
    onFailure(reason) {
      setProblem(describeError(reason));
      noteLooked();
    },
  });

  return {
    facts: () => facts,
    looked,
    sender,
    counters: () => (capture ? sum(earlier, capture) : earlier),
    problem: () => problem,
    async close() {
      closed = true;
      cancelRetry();
      watch.close();
      sender.close();
      const current = capture;
      forgetCapture();
      await current?.close();
    },
  };
}

/** Drops of the interface itself are counted for all its readers since it was made, and say nothing of us. */
function sum(earlier: { readonly frames: number; readonly dropped: number }, capture: Capture): {
  readonly frames: number; readonly dropped: number;
} {
  const { frames, droppedByKernel, droppedByReader } = capture.counters();
  return { frames: earlier.frames + frames, dropped: earlier.dropped + droppedByKernel + droppedByReader };
}

function sameFacts(a: InterfaceFacts, b: InterfaceFacts): boolean {
  return JSON.stringify({ ...a, up: true }) === JSON.stringify({ ...b, up: true });
}
