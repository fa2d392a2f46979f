import { seededRandom } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { type CapturedFrame, framesOf } from "./capture-frames.ts";
import { createTcpDialogue, pcapOf } from "./dialogue.ts";
import { mutateFrames, MUTATIONS } from "./mutations.ts";

const SAID = Array.from({ length: 3000 }, (_, at) => String.fromCharCode(65 + (at % 26))).join("");
const FRAMES = framesOf(pcapOf(createTcpDialogue().handshake().up(SAID).down(SAID.toLowerCase()).close().frames));

/** The bytes of either side by their places in the stream. */
function streamsOf(frames: readonly CapturedFrame[]): Readonly<Record<string, string>> {
  const streams: Record<string, string[]> = {};
  for (const { bytes } of frames) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const payload = bytes.subarray(54, 14 + view.getUint16(16));
    const stream = (streams[String(view.getUint16(34))] ??= []);
    payload.forEach((byte, at) => {
      const place = view.getUint32(38) + at;
      const before = stream[place];
      stream[place] = before === undefined || before === String.fromCharCode(byte) ? String.fromCharCode(byte) : "?";
    });
  }
  return Object.fromEntries(Object.entries(streams).map(([port, stream]) => [port, stream.join("")]));
}

function textOf(frames: readonly CapturedFrame[]): string {
  return frames.map(({ at, bytes }) => `${at} ${Buffer.from(bytes).toString("base64")}`).join("\n");
}

test.each(MUTATIONS)("%s changes the segments and no byte of a stream", (mutation) => {
  for (let seed = 0; seed < 10; seed += 1) {
    const frames = mutateFrames(FRAMES, mutation, seededRandom(seed));
    expect(streamsOf(frames)).toEqual({ 40_000: SAID, 80: SAID.toLowerCase() });
    expect(textOf(frames)).toEqual(textOf(mutateFrames(FRAMES, mutation, seededRandom(seed))));
    expect(frames.map(({ at }) => at)).toEqual(frames.map(({ at }) => at).toSorted((a, b) => a - b));
    expect(textOf(frames)).not.toEqual(textOf(FRAMES));
  }
});

test("handshakes are left as they were, and frames that are no TCP too", () => {
  const other = { at: 1, bytes: new Uint8Array(60), linkType: 1 };
  for (const mutation of MUTATIONS) {
    expect(mutateFrames(FRAMES, mutation, seededRandom(1)).slice(0, 3)).toEqual(FRAMES.slice(0, 3));
    expect(mutateFrames([other], mutation, seededRandom(1))).toEqual([other]);
  }
});
