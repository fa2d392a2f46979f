import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { endWithOutput } from "./standard-output.ts";

test.each([["EPIPE", 0, ""], ["ENOSPC", 1, "lanthorn: the output could not be written: no room\n"]])("an output that ends with %s ends its command with %d", (code, exits, says) => {
  const stdout = new PassThrough();
  const exit: number[] = [];
  let said = "";
  endWithOutput("lanthorn", { stdout, stderr: { write: (text) => (said += text) }, exit: (status) => void exit.push(status) });
  stdout.emit("error", Object.assign(new Error("no room"), { code }));
  expect([exit, said]).toEqual([[exits], says]);
});
