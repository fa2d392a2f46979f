import { systemClock } from "@lanthorn/runtime";
import { openInjector } from "../send/injector.ts";
import { createPacedSender } from "../send/paced-sender.ts";
import { codeOf, ip, keepCapture, lostByVeth, numberedFrame, numberedFrames, numberOf, until } from "./wire.ts";

const injectorOn = (name: string) => openInjector({ interface: name, clock: systemClock });

async function paced() {
  const capture = keepCapture({ interface: "va" });
  const sender = createPacedSender({ injector: injectorOn("vb"), clock: systemClock });
  await sender.send(numberedFrames(10_000), { framesPerSecond: 20_000 });
  await until(() => capture.frames.length + lostByVeth() >= 10_000);
  const [first, last] = [capture.frames[0], capture.frames.at(-1)];
  return {
    inOrder: capture.frames.every((frame, index, all) => index === 0 || numberOf(frame) > numberOf(all[index - 1] ?? frame)),
    arrived: capture.frames.length + lostByVeth(),
    tookMs: ((last?.atMicroseconds ?? 0) - (first?.atMicroseconds ?? 0)) / 1000,
    counters: capture.counters(),
  };
}

async function refusedFrames() {
  const injector = injectorOn("vb");
  const send = (...frames: readonly Uint8Array[]) => codeOf(() => injector.send(frames));
  const capture = keepCapture({ interface: "va" });
  const codes = {
    empty: await send(new Uint8Array(0)),
    short: await send(new Uint8Array(13)),
    long: await send(new Uint8Array(1519)),
    second: await send(numberedFrame(1), new Uint8Array(1), numberedFrame(2)),
    none: await send(),
  };
  await send(numberedFrame(3));
  await until(() => capture.frames.length === 2);
  injector.close();
  injector.close();
  return { ...codes, closed: await send(numberedFrame(4)), arrived: capture.frames.map(numberOf) };
}

async function sendWhileDown() {
  const injector = injectorOn("vb");
  const capture = keepCapture({ interface: "va" });
  ip("link", "set", "vb", "down");
  const whileDown = await codeOf(() => injector.send([numberedFrame(1)]));
  ip("link", "set", "vb", "up");
  // The link needs a moment; what is sent before is lost without a word.
  while (capture.frames.length === 0) {
    await injector.send([numberedFrame(2)]);
    await new Promise<void>((resolve) => void setTimeout(resolve, 5));
  }
  ip("link", "del", "vb");
  return { whileDown, after: capture.frames.map(numberOf)[0], whileGone: await codeOf(() => injector.send([numberedFrame(3)])) };
}

/** As `captureScenarios`, of the injector and the paced sender. */
export const sendScenarios = { paced, refusedFrames, sendWhileDown };
