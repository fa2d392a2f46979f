import type { Duplex } from "node:stream";
import type { Clock } from "@lanthorn/runtime";
import type { StreamEnd } from "../stream-sessions.ts";
import { createFrameCursor, encodeClose } from "./close-frame.ts";

/** A client's end of a frame that the service has begun, and its answer to a Close frame. */
const CLOSE_WITHIN_MS = 2000;

/**
 * Hands bytes on both ways until either side is lost, which ends the other.
 * @param ends.near The client's side, after its 101 was written.
 * @param ends.far The service's side.
 * @param ends.farHead What the service sent with its 101.
 * @returns Ends it from here: the client gets a Close frame with the code, after the frame that it is being sent.
 */
export function bridgeFrames(
  ends: { readonly near: Duplex; readonly far: Duplex; readonly farHead: Uint8Array }, clock: Pick<Clock, "after">,
): (end: StreamEnd) => void {
  const { near, far, farHead } = ends;
  const cursor = createFrameCursor();
  let isEnding = false;
  const follow = (chunk: Buffer) => cursor.push(chunk);
  if (farHead.length > 0) {
    cursor.push(farHead);
    near.write(farHead);
  }
  far.on("data", follow);
  for (const [one, other] of [[near, far], [far, near]] as const) {
    one.on("error", () => one.destroy());
    one.once("close", () => {
      if (!isEnding) other.destroy();
    });
    one.pipe(other);
  }

  return ({ code, reason }) => {
    if (isEnding) return;
    isEnding = true;
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    near.once("close", clock.after(CLOSE_WITHIN_MS, cut));
    const finish = () => {
      near.end(encodeClose(code, reason));
      far.destroy();
    };
    far.off("data", follow);
    far.unpipe(near);
    near.unpipe(far);
    // What the client still says is for nobody; unread, it would hide that the client has closed.
    near.resume();
    if (cursor.atBoundary()) {
      finish();
      return;
    }
    far.once("close", cut);
    far.on("data", (chunk: Buffer) => {
      if (cursor.atBoundary()) return;
      near.write(chunk.subarray(0, cursor.untilBoundary(chunk)));
      if (cursor.atBoundary()) {
        far.off("close", cut);
        finish();
      }
    });
    // `unpipe` has paused it, and a listener alone does not change that.
    far.resume();
  };
}
