/** Services that need to know nothing of what they are sent. */
import type { ComingFile } from "../evidence/file-store.ts";
import { type Service, withName } from "./service.ts";

const TARPIT_LINE_MS = 10_000;

/** Says one line. */
export const banner: Service = (peer, stage) => {
  peer.send(`${withName(stage.persona.banner, stage)}\r\n`);
  return () => undefined;
};

/** A raw print port: it takes what it is sent, and is silent. */
export const print: Service = (peer, stage) => {
  let octets = 0;
  let file: ComingFile | null = null;
  peer.onEnd(() => {
    const kept = file?.end();
    if (kept) peer.gave(kept, "what was sent to print");
  });
  return (bytes) => {
    if (octets === 0) {
      peer.reached("file", "", "sent something to print");
      file = stage.files.begin(peer.address);
    }
    octets += bytes.length;
    file?.add(bytes);
  };
};

/** Keeps who waits for a greeting: a line of nothing each ten seconds, as before a banner of SSH. @see RFC 4253 section 4.2 */
export const tarpit: Service = (peer) => {
  const next = () => {
    peer.send(`${peer.random(8).toString("hex")}\r\n`);
    peer.later(TARPIT_LINE_MS, next);
  };
  peer.later(TARPIT_LINE_MS, next);
  return () => undefined;
};
