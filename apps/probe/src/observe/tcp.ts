import { readTcpSignature } from "@lanthorn/fingerprints";
import { decodeTcp, type Frame, TCP_FLAG, type TcpOption } from "@lanthorn/packets";
import type { Observer } from "../hosts/observer.ts";

const LETTERS: Readonly<Record<TcpOption["kind"], string>> = {
  "maximum-segment-size": "M", "sack-permitted": "S", "timestamps": "T", "no-operation": "N", "window-scale": "W", "sack": "?",
  "unknown": "?",
};

/**
 * Reads a SYN to us, or the answer to one of ours, for the system whose hand it shows.
 * @param sender On our link, at the frame's own address.
 */
export function observeTcp(frame: Frame, sender: number, observer: Observer): void {
  if ((frame.tcpFlags & TCP_FLAG.syn) === 0) return;
  const segment = decodeTcp(frame.transportBytes);
  if (!segment.ok) return;
  const claims = readTcpSignature({
    isAnswer: (frame.tcpFlags & TCP_FLAG.ack) !== 0, hopLimit: frame.hopLimit, window: segment.value.window,
    options: segment.value.options.map(({ kind }) => LETTERS[kind]).join(""),
  });
  if (claims.length > 0) observer.facts({ mac: sender }, claims);
}
