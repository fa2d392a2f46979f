/** RFB up to the password. @see RFC 6143 section 7 */
import type { Service } from "../service.ts";

const VERSION_OCTETS = 12;
const VNC_AUTHENTICATION = 2;
const CHALLENGE_OCTETS = 16;
const FAILED = Buffer.from([0, 0, 0, 1]);
const REASON = Buffer.from("Authentication failure");

/** Asks for the password, and refuses it. Whether it is bait cannot be seen: the proof is made with DES, which Node's OpenSSL has no more. */
export const vnc: Service = (peer, { persona }) => {
  let held = Buffer.alloc(0);
  let state: "version" | "type" | "proof" | "done" = "version";
  let isOld = false;
  peer.send(`RFB ${persona.vnc}\n`);
  const take = (octets: number): Buffer | null => {
    if (held.length < octets) return null;
    const taken = held.subarray(0, octets);
    held = held.subarray(octets);
    return taken;
  };
  const steps = {
    version() {
      const version = take(VERSION_OCTETS)?.toString("latin1");
      if (version === undefined) return false;
      if (!/^RFB 003\.00[378]\n$/.test(version)) return peer.end();
      isOld = persona.vnc === "003.003" || version.includes("003.003");
      if (isOld) peer.send(Buffer.concat([Buffer.from([0, 0, 0, VNC_AUTHENTICATION]), peer.random(CHALLENGE_OCTETS)]));
      else peer.send(Buffer.from([1, VNC_AUTHENTICATION]));
      state = isOld ? "proof" : "type";
      return true;
    },
    type() {
      const type = take(1)?.[0];
      if (type === undefined) return false;
      if (type !== VNC_AUTHENTICATION) return peer.end();
      peer.send(peer.random(CHALLENGE_OCTETS));
      state = "proof";
      return true;
    },
    proof() {
      if (!take(CHALLENGE_OCTETS)) return false;
      peer.tried("", () => false);
      state = "done";
      return peer.end(isOld ? FAILED : Buffer.concat([FAILED, Buffer.from([0, 0, 0, REASON.length]), REASON]));
    },
    done: () => false,
  };
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    while (steps[state]() === true);
  };
};
