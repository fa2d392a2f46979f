/**
 * What went wrong with an interface, a capture, a send or a capture file.
 *
 * - `interface-missing`, `interface-down`: come back when the interface does; see `watchInterface`.
 * - `interface-unsupported`: its frames are not Ethernet (a tunnel, a monitor-mode radio).
 * - `permission-denied`: the process lacks a capability; the message names it.
 * - `filter-invalid`: libpcap does not understand the filter.
 * - `file-unreadable`: no capture file, or one that ends in the middle of a record.
 * - `send-failed`: the kernel took no frame for too long, the frame has an impossible size, or the injector was closed.
 * - `capture-lost`: the capture went deaf for another reason; open it again.
 * - `library-missing`: the native part of `pcap` was not built, or libpcap is not installed.
 * - `facts-unavailable`: `ip` of iproute2 is not installed, or said something else than facts.
 */
export type PacketIoErrorCode =
  | "interface-missing"
  | "interface-down"
  | "interface-unsupported"
  | "permission-denied"
  | "filter-invalid"
  | "file-unreadable"
  | "send-failed"
  | "capture-lost"
  | "library-missing"
  | "facts-unavailable";

/** What this package cannot carry on from. The code is stable; the message names the thing and what to do. */
export class PacketIoError extends Error {
  override readonly name = "PacketIoError";

  readonly code: PacketIoErrorCode;

  constructor(code: PacketIoErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
