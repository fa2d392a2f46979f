import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "@lanthorn/runtime";
import type { CaptureFile } from "../capture-files/capture-file.ts";
import type { CapturePrivacy } from "../capture-files/privacy.ts";
import { cutFrames } from "./cut-frames.ts";
import { type ExportRequest, type FromExport, readLine, ToExport } from "./export-messages.ts";

/**
 * The process of one export: what it is to do comes in on its input, and it ends when that does.
 * @returns When it has said how it ended, or nobody listens any more: end the process then. What is half done is put in order at the next start.
 */
export async function runExportProcess(deps: { readonly input: Readable; readonly output: Writable; readonly clock: Pick<Clock, "now"> }): Promise<void> {
  const lines = createInterface({ input: deps.input });
  const say = (message: FromExport) => void deps.output.write(`${JSON.stringify(message)}\n`);
  const state = { isPaused: false, isStopped: false, isBegun: false };
  let resume = () => {};
  let privacy: CapturePrivacy | null = null;
  let file: Pick<CaptureFile, "narrow"> | null = null;
  let answer: (isThere: boolean) => void = () => {};

  const cut = async (request: ExportRequest): Promise<void> => {
    const facts = await cutFrames(request, {
      clock: deps.clock,
      onFile(opened) {
        file = opened;
        if (privacy) file.narrow(privacy);
      },
      want: (id) => new Promise((resolve) => {
        answer = resolve;
        say({ kind: "want", id });
      }),
      done: (id) => say({ kind: "done", id }),
      async pace() {
        while (state.isPaused && !state.isStopped) await new Promise<void>((resolve) => void (resume = resolve));
        return !state.isStopped;
      },
    });
    await new Promise<void>((resolve) => void deps.output.write(`${JSON.stringify({ kind: "finished", ...facts } satisfies FromExport)}\n`, () => resolve()));
    lines.close();
  };
  const take = (message: ToExport) => {
    switch (message.kind) {
      case "begin":
        if (!state.isBegun) void cut(message);
        state.isBegun = true;
        break;
      case "file":
        answer(message.is_there);
        break;
      case "pace":
        state.isPaused = message.is_paused;
        resume();
        break;
      case "privacy":
        privacy = { headersOnly: message.headers_only, headersOnlyNetworks: message.headers_only_networks };
        file?.narrow(privacy);
        break;
      case "stop":
        state.isStopped = true;
        resume();
        break;
    }
  };
  lines.on("line", (line) => {
    const message = readLine(ToExport, line);
    if (message) take(message);
  });
  await new Promise<void>((resolve) => void lines.once("close", resolve));
}
