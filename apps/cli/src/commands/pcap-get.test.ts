import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readPcapBytes } from "@lanthorn/client";
import { systemClock } from "@lanthorn/runtime";
import { expect, onTestFinished, test } from "vitest";
import { createFetch } from "../connection.ts";
import { getPcap, type PcapGetDependencies } from "./pcap-get.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const hexOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** A server that gives a file and ranges of it; `turns` says what each request meets, `whole` when there are no more. */
async function serve(content: Buffer, turns: ("waiting" | "broken" | "whole")[], claimed = hexOf(content)) {
  const asked: { readonly range: string | undefined; readonly url: string }[] = [];
  const answer = (response: ServerResponse, range: string | undefined) => {
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    if (from >= content.length) {
      return response.writeHead(416, { "content-type": "application/json" }).end(JSON.stringify({ error: { code: "BAD_REQUEST", message: "", details: null } }));
    }
    const turn = turns.shift() ?? "whole";
    if (turn === "waiting") {
      return response.writeHead(202, { "content-type": "application/json", "retry-after": "0" })
        .end(JSON.stringify({ id: ID, state: "uploading", size_bytes: content.length, received_bytes: 3 }));
    }
    const part = content.subarray(from);
    response.writeHead(from === 0 ? 200 : 206, {
      etag: `"${claimed}"`, "content-length": part.length, ...(from > 0 && { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` }),
    });
    if (turn === "whole") return response.end(part);
    return response.write(part.subarray(0, part.length / 2), () => setImmediate(() => response.destroy()));
  };
  const server = createServer((request, response) => {
    asked.push({ range: request.headers.range, url: request.url ?? "" });
    answer(response, request.headers.range);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const options = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: () => "token", fetch: createFetch(null) };
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-get-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const written: Uint8Array[] = [];
  const notes: string[] = [];
  const deps: PcapGetDependencies = {
    read: (bytes) => readPcapBytes(options, ID, bytes), clock: { after: (_, task) => systemClock.after(1, task) }, note: (line) => void notes.push(line),
    output: (bytes) => Promise.resolve(void written.push(bytes)),
  };
  return { asked, deps, file: join(folder, "x.pcapng"), notes, written };
}

test("a download waits for the probe, goes on where the line broke, and is checked", async () => {
  const content = randomBytes(400_000);
  const { asked, deps, file, notes } = await serve(content, ["waiting", "broken", "broken"]);
  expect(await getPcap(file, "case 7", deps)).toEqual({ bytes: content.length, sha256: hexOf(content) });
  expect([readFileSync(file).equals(content), existsSync(`${file}.part`)]).toEqual([true, false]);
  expect([asked.length, asked[0]?.range, asked[0]?.url.endsWith("/download?reason=case+7"), /^bytes=[1-9]\d*-$/.test(asked.at(-1)?.range ?? "")]).toEqual([4, undefined, true, true]);
  expect(notes[0]).toContain(`3 of ${content.length}`);
  await expect(getPcap(file, undefined, deps)).rejects.toMatchObject({ code: "file" });
});

test("an interrupted download goes on at the next call; one that was of another file begins anew", async () => {
  const content = randomBytes(50_000);
  const { asked, deps, file } = await serve(content, []);
  writeFileSync(`${file}.part`, content.subarray(0, 20_000));
  await getPcap(file, undefined, deps);
  expect([asked[0]?.range, readFileSync(file).equals(content)]).toEqual(["bytes=20000-", true]);
  rmSync(file);
  writeFileSync(`${file}.part`, randomBytes(60_000));
  await expect(getPcap(file, undefined, deps)).rejects.toMatchObject({ code: "file" });
  await getPcap(file, undefined, deps);
  rmSync(file);
  writeFileSync(`${file}.part`, randomBytes(20_000));
  await expect(getPcap(file, undefined, deps)).rejects.toMatchObject({ code: "file" });
  await getPcap(file, undefined, deps);
  expect(readFileSync(file).equals(content)).toBe(true);
});

test("a damaged file gets no name, and the standard output gets the bytes alone", async () => {
  const content = randomBytes(50_000);
  const damaged = await serve(content, [], hexOf(randomBytes(3)));
  await expect(getPcap(damaged.file, undefined, damaged.deps)).rejects.toMatchObject({ code: "file" });
  expect(existsSync(damaged.file)).toBe(false);
  const piped = await serve(content, ["broken"]);
  await getPcap("-", undefined, piped.deps);
  expect(Buffer.concat(piped.written).equals(content)).toBe(true);
});

test("a line that is down is given up, and what the collector refuses is said at once", async () => {
  const { deps, file } = await serve(randomBytes(1000), []);
  let tries = 0;
  const down = { ...deps, read: () => {
    tries += 1;
    return readPcapBytes({ url: "http://127.0.0.1:1", token: () => null, fetch: createFetch(null) }, ID);
  } };
  await expect(getPcap(file, undefined, down)).rejects.toMatchObject({ code: "file" });
  expect(tries).toBe(5);
});
