import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { systemClock } from "@lanthorn/runtime";
import { openInjector } from "../send/injector.ts";
import { codeOf, ip, keepCapture, lostByVeth, numberedFrame, numberedFrames, numberOf, sendWithoutLoss, until } from "./wire.ts";

const WRONG_FILTERS = ["frobnicate", "ether proto", "host 300.1.1.1", "port 99999", "(", "x".repeat(5000), "host nosuchname.invalid"];
const FLOOD_FRAMES = 60_000;
const injectorOn = (name: string) => openInjector({ interface: name, clock: systemClock });

async function order() {
  const capture = keepCapture({ interface: "va" });
  const startedAt = Date.now() * 1000;
  await sendWithoutLoss(3000, injectorOn("vb").send, () => capture.frames.length);
  const endedAt = (Date.now() + 1) * 1000;
  return {
    // Looked at after all of them came: nothing was written over.
    inOrder: capture.frames.every((frame, index) => numberOf(frame) === index && frame.bytes.length === 60 && frame.wireLength === 60),
    inTime: capture.frames.every((frame) => frame.atMicroseconds >= startedAt && frame.atMicroseconds <= endedAt),
    largestBatch: Math.max(...capture.batchSizes),
    counters: capture.counters(),
  };
}

async function snapLength() {
  const capture = keepCapture({ interface: "va", snapLength: 64 });
  await injectorOn("vb").send([numberedFrame(7, { length: 1514 })]);
  await until(() => capture.frames.length === 1);
  return capture.frames.map((frame) => ({ kept: frame.bytes.length, wireLength: frame.wireLength, number: numberOf(frame) }));
}

async function filter() {
  const capture = keepCapture({ interface: "va", filter: "ether proto 0x88b6" });
  const injector = injectorOn("vb");
  await injector.send(numberedFrames(100));
  await injector.send([numberedFrame(1, { etherType: 0x88b6 }), numberedFrame(2), numberedFrame(3, { etherType: 0x88b6 })]);
  await until(() => capture.frames.length === 2);
  return capture.frames.map(numberOf);
}

async function leftOut() {
  const capture = keepCapture({ interface: "va", isLeftOut: (bytes, length) => bytes[13] === 0xb6 && length === 60 });
  const injector = injectorOn("vb");
  await injector.send([numberedFrame(1), numberedFrame(2, { etherType: 0x88b6 }), numberedFrame(3), numberedFrame(4, { etherType: 0x88b6 }), numberedFrame(5)]);
  await until(() => capture.frames.length === 3);
  return { numbers: capture.frames.map(numberOf), counters: capture.counters() };
}

async function ownFrames() {
  const all = keepCapture({ interface: "vb" });
  const others = keepCapture({ interface: "vb", filter: "not ether src 02:00:00:00:00:01 and ether proto 0x88b5" });
  await injectorOn("vb").send([numberedFrame(1), numberedFrame(2)]);
  await injectorOn("va").send([numberedFrame(3, { sender: 2 })]);
  await until(() => all.frames.length === 3 && others.frames.length === 1);
  return { all: all.frames.map(numberOf), others: others.frames.map(numberOf) };
}

/** A reader that needs far longer for a batch than the batch took to come. */
async function slowReader() {
  let frames = 0;
  let turns = 0;
  let sinceTurn = 0;
  let mostBetweenTurns = 0;
  let last = -1;
  let isInOrder = true;
  const capture = keepCapture({
    interface: "va",
    onFrames(batch) {
      frames += batch.length;
      sinceTurn += batch.length;
      mostBetweenTurns = Math.max(mostBetweenTurns, sinceTurn);
      for (const frame of batch) {
        isInOrder &&= numberOf(frame) > last;
        last = numberOf(frame);
      }
      const until = performance.now() + 0.1 * batch.length;
      while (performance.now() < until);
    },
  });
  const stop = systemClock.every(1, () => {
    turns += 1;
    sinceTurn = 0;
  });
  await promisify(execFile)(process.execPath, [...process.execArgv, process.argv[1] ?? "", "flood"]);
  const handled = () => {
    const { droppedByKernel, droppedByReader } = capture.counters();
    return frames + droppedByKernel + droppedByReader + lostByVeth();
  };
  await until(() => handled() >= FLOOD_FRAMES);
  stop();
  return { handled: handled(), sent: FLOOD_FRAMES, otherTurns: turns, mostBetweenTurns, isInOrder, counters: capture.counters() };
}

/** Run by `slowReader` in a process of its own, so that frames come while the reader is busy. */
async function flood() {
  await injectorOn("vb").send(numberedFrames(FLOOD_FRAMES));
}

async function close() {
  const closed = keepCapture({ interface: "va" });
  const other = keepCapture({ interface: "va" });
  const injector = injectorOn("vb");
  await injector.send(numberedFrames(10));
  await until(() => closed.frames.length === 10);
  await closed.close();
  await closed.close();
  await injector.send(numberedFrames(10));
  await until(() => other.frames.length === 20);
  return { frames: closed.frames.length, counted: closed.counters().frames, losses: closed.losses };
}

async function down() {
  const capture = keepCapture({ interface: "va" });
  await injectorOn("vb").send(numberedFrames(5));
  ip("link", "set", "va", "down");
  await until(() => capture.losses.length > 0);
  const whileDown = await codeOf(() => keepCapture({ interface: "va" }));
  ip("link", "set", "va", "up");
  const again = keepCapture({ interface: "va" });
  const injector = injectorOn("vb");
  await until(() => readFileSync("/sys/class/net/va/operstate", "latin1").trim() === "up");
  await injector.send(numberedFrames(5));
  await until(() => again.frames.length === 5);
  return { before: capture.frames.length, losses: capture.losses, whileDown, after: again.frames.length };
}

/** Down and up again while this process is busy: the capture is deaf, though the interface looks as it did. */
async function flap() {
  const capture = keepCapture({ interface: "va" });
  ip("link", "set", "va", "down");
  ip("link", "set", "va", "up");
  await until(() => capture.losses.length > 0);
  return capture.losses;
}

async function removed() {
  const capture = keepCapture({ interface: "va" });
  ip("link", "del", "va");
  await until(() => capture.losses.length > 0);
  return { losses: capture.losses, again: await codeOf(() => keepCapture({ interface: "va" })) };
}

async function refused() {
  ip("tuntap", "add", "dev", "tun9", "mode", "tun");
  ip("link", "set", "tun9", "up");
  const open = (name: string, filter = "") => codeOf(() => keepCapture({ interface: name, filter }));
  return {
    missing: await Promise.all(["nope", "", "..", "../va", "a".repeat(300), "v\0a", "any"].map((name) => open(name))),
    tunnel: await open("tun9"),
    filters: await Promise.all(WRONG_FILTERS.map((text) => open("va", text))),
    sendMissing: await codeOf(() => injectorOn("nope")),
  };
}

async function noCapability() {
  return { capture: await codeOf(() => keepCapture({ interface: "va" })), injector: await codeOf(() => injectorOn("va")) };
}

/** By name. Each runs in a process and namespace of its own; what it returns is what the test asserts. */
export const captureScenarios = {
  order, snapLength, filter, leftOut, ownFrames, slowReader, close, down, flap, removed, refused, noCapability, flood,
};
