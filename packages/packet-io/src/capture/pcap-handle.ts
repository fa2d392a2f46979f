import { PacketIoError } from "../errors.ts";
import { linkError, readLinkState, requireLinkUp } from "../interface/link-state.ts";
import { createPcapSession, type PcapSession } from "./pcap-binding.ts";

/**
 * Handles that were closed, but that libpcap gives back only when it sees one more frame: in non-blocking mode it looks at its "break"
 * flag after a frame, and never on a quiet interface.
 */
const closing = new Set<PcapSession>();

/**
 * The addon embeds libuv's poll handle in the object and never closes it: were the object collected, libuv's list of handles would
 * hold freed memory. About 300 octets each, one for each capture ever opened.
 */
const polled: PcapSession[] = [];

const scratch = Buffer.alloc(256);
const scratchHeader = Buffer.alloc(16);

interface PcapHandleOptions {
  readonly interface: string;
  readonly filter: string;
  readonly bufferBytes: number;
  readonly snapLength: number;
  readonly timeoutMs: number;
  readonly promiscuous: boolean;
  onFrame(): void;
}

/**
 * Opens a libpcap handle on an Ethernet interface that is up.
 * @throws PacketIoError `interface-missing`, `interface-down`, `interface-unsupported`, `permission-denied`, `filter-invalid`,
 * `capture-lost` or `library-missing`.
 */
export function openPcapHandle(options: PcapHandleOptions): PcapSession {
  requireLinkUp(options.interface);
  reapClosedHandles();
  const session = createPcapSession();
  let linkType: string;
  try {
    linkType = session.open_live(
      options.interface, options.filter, options.bufferBytes, options.snapLength, "", () => options.onFrame(),
      false, options.timeoutMs, ignoreWarning, options.promiscuous,
    );
  } catch (cause) {
    const wasOpen = closePcapHandle(session);
    throw explainOpenError(options, { cause, wasOpen });
  }
  if (linkType === "LINKTYPE_ETHERNET") return session;
  closePcapHandle(session);
  const message = `interface ${options.interface} carries ${linkType}, not Ethernet frames; choose another`;
  throw new PacketIoError("interface-unsupported", message);
}

/** The only warning there is: "no IPv4 address assigned", which a listening interface needs not have. */
function ignoreWarning(): void {}

/** The filter is set last: when the handle was open already, it is what libpcap did not take. */
function explainOpenError(options: PcapHandleOptions, failure: { readonly cause: unknown; readonly wasOpen: boolean }): PacketIoError {
  const { cause } = failure;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (/not permitted|permission|CAP_NET_RAW/i.test(message)) {
    const need = `raw frames on ${options.interface} need the capability CAP_NET_RAW`;
    return new PacketIoError("permission-denied", `${need}: run as root, or give the service AmbientCapabilities=CAP_NET_RAW`, { cause });
  }
  if (failure.wasOpen) {
    const problem = `libpcap does not take the filter "${options.filter}": ${message}`;
    return new PacketIoError("filter-invalid", `${problem}; pcap-filter(7) tells what it takes`, { cause });
  }
  const link = readLinkState(options.interface);
  if (link.state !== "up") return linkError(options.interface, link.state);
  return new PacketIoError("capture-lost", `cannot open ${options.interface}: ${message}`, { cause });
}

/** Starts calls of `read_callback`, and keeps what libuv points at alive for good. */
export function startPolling(session: PcapSession, onReadable: () => void): void {
  session.read_callback = onReadable;
  polled.push(session);
  session.start_polling();
}

/**
 * Gives a handle back as soon as libpcap lets it: at once when a frame is waiting, else with the next frame that passes its filter.
 * @returns Whether it was open.
 */
export function closePcapHandle(session: PcapSession): boolean {
  if (!hasHandle(session)) return false;
  closing.add(session);
  session.read_callback = () => void tryToFree(session);
  session.close();
  return tryToFree(session) !== NOT_ACTIVATED;
}

/** Tries again for handles whose interface was down or quiet. Cheap: there is hardly ever one. */
export function reapClosedHandles(): void {
  for (const session of closing) tryToFree(session);
}

function tryToFree(session: PcapSession): number {
  if (!closing.has(session)) return FREED;
  const result = session.dispatch(scratch, scratchHeader);
  if (result === FREED || result === NOT_ACTIVATED) closing.delete(session);
  return result;
}

/** The addon's `dispatch` does not check for a handle that was never made, and would crash. */
function hasHandle(session: PcapSession): boolean {
  try {
    session.stats();
    return true;
  } catch (error) {
    return !(error instanceof Error && error.message.includes("already closed"));
  }
}

/** PCAP_ERROR_BREAK: the addon frees the handle when it sees this, and must not be asked again. */
const FREED = -2;

/** PCAP_ERROR_NOT_ACTIVATED: the handle was never opened, so nothing is held. @see pcap(3) */
const NOT_ACTIVATED = -3;
