import { once } from "node:events";
import { seededRandom } from "@lanthorn/runtime";
import { afterEach, expect, test } from "vitest";
import { STREAM_SERVICE_NAMES } from "./services/names.ts";
import { connectTo, converse } from "./testing/converse.ts";
import { CLIENT, openForTest, type OpenedDecoys } from "./testing/opened.ts";

let decoys: OpenedDecoys;
afterEach(() => decoys.close());

test("what is seen while the daemon is away, or cannot write, comes when it is there; the machine's own connections are only counted", async () => {
  decoys = await openForTest(["ftp"]);
  const own = await connectTo(decoys.portOf("ftp"), "127.0.0.1");
  await once(own, "data");
  own.destroy();
  await converse(await connectTo(decoys.portOf("ftp")), [[/^220/, "QUIT\r\n"]], /^221/);
  let isWritten = false;
  decoys.listen(() => isWritten);
  await decoys.silence();
  isWritten = true;
  decoys.listen(() => isWritten);
  await expect.poll(() => decoys.hits).toMatchObject([{ report: "first", source_ip: CLIENT, stage: "banner", connections: 1 }]);
  expect(decoys.exemptions.counts()).toEqual([{ name: "this machine", connections: 1 }]);
});

test("a flood ends its own connections: another source's first hit comes, and its session goes on", async () => {
  decoys = await openForTest(["ftp"], { max_sessions: 50 });
  decoys.listen();
  const quiet = await connectTo(decoys.portOf("ftp"), "127.0.0.6");
  await once(quiet, "data");
  for (let left = 200; left > 0; left -= 1) await connectTo(decoys.portOf("ftp"));
  await expect.poll(() => decoys.counts.connections).toBe(201);
  expect(decoys.sessions.size).toBeLessThanOrEqual(50);
  await expect.poll(() => new Set(decoys.hits.map(({ source_ip: ip }) => ip))).toEqual(new Set(["127.0.0.6", CLIENT]));
  await converse(quiet, [[/^$/, "USER a\r\n"]], /^331/);
});

test("bytes without sense end at most their own connection, whatever the service", async () => {
  decoys = await openForTest(STREAM_SERVICE_NAMES);
  const random = seededRandom(19);
  for (const service of STREAM_SERVICE_NAMES) {
    for (let round = 0; round < 20; round += 1) {
      const client = await connectTo(decoys.portOf(service));
      client.resume();
      client.write(round % 2 === 0 ? Buffer.from(Array.from({ length: 1 + random(2000) }, () => random(256))) : Buffer.from(`${"\r\n* { $ AUTH USER PASS LOGIN GET ".repeat(20)}\0\r\n\r\n`));
      client.end();
    }
  }
  await expect.poll(() => decoys.counts.connections).toBe(20 * STREAM_SERVICE_NAMES.length);
  await converse(await connectTo(decoys.portOf("telnet")), [], /login: $/);
  expect(decoys.counts.failures).toBe(0);
});

test("who sends without end is cut off", async () => {
  decoys = await openForTest(["print"]);
  const client = await connectTo(decoys.portOf("print"));
  const closed = new Promise((resolve) => void client.once("close", resolve));
  for (let left = 40; left > 0; left -= 1) client.write(Buffer.alloc(8192));
  await closed;
  await expect.poll(() => decoys.sessions.size).toBe(0);
});

test("who sends nothing holds no place of those who send files", async () => {
  decoys = await openForTest(["print"]);
  decoys.listen();
  for (let host = 1; host <= 64; host += 1) await connectTo(decoys.portOf("print"), `127.0.4.${host}`);
  const client = await connectTo(decoys.portOf("print"));
  client.resume().end("page");
  await expect.poll(() => decoys.evidence.flatMap(({ files }) => files)).toMatchObject([{ octets: 4, is_kept: true }]);
});

test("when the decoys end, those who are there leave their evidence", async () => {
  decoys = await openForTest(["telnet", "print"]);
  decoys.listen();
  await expect.poll(() => decoys.daemon()?.state()?.is_running).toBe(true);
  const [typist, printer] = [await connectTo(decoys.portOf("telnet")), await connectTo(decoys.portOf("print"))];
  let shown = "";
  typist.on("data", (bytes: Buffer) => (shown += bytes.toString("latin1")));
  for (const [until, said] of [[/login: $/, "backup\r\n"], [/Password: $/, "Blue-Heron-4\r\n"], [/\$ $/, "id\r\n"], [/uid=[^]*\$ $/, ""]] as const) {
    await expect.poll(() => shown).toMatch(until);
    typist.write(said);
  }
  printer.write("page");
  await expect.poll(() => decoys.hits.some(({ techniques }) => techniques.includes("T1570"))).toBe(true);
  await decoys.end();
  await expect.poll(() => decoys.evidence.map(({ transcript, files }) => [transcript?.includes("uid=") ?? false, files.length])).toEqual(expect.arrayContaining([[false, 1], [true, 0]]));
});

test("a port that is in use is one service less; where none can be served it says why", async () => {
  decoys = await openForTest(["ftp"]);
  const taken = { service: "ftp", port: decoys.portOf("ftp") };
  const other = await openForTest([], { decoys: [{ name: "b", address: "127.0.0.1", services: [taken, { service: "telnet", port: 0 }] }] });
  expect(other.places.map(({ problem }) => problem === null)).toEqual([false, true]);
  await other.close();
  await expect(openForTest([], { decoys: [{ name: "b", address: "127.0.0.1", services: [taken] }] })).rejects.toMatchObject({ code: "config-invalid" });
});

test("passwords that are tried go to the daemon, each once; proofs of them, and those of who is exempt, do not", async () => {
  decoys = await openForTest(["ftp"]);
  decoys.listen();
  const guess = async (password: string, source = CLIENT) =>
    converse(await connectTo(decoys.portOf("ftp"), source), [[/^220/, "USER backup\r\n"], [/^331/, `PASS ${password}\r\n`]], /^530/);
  for (const password of ["Summer-2026!", "Summer-2026!", "Blue-Heron-4"]) await guess(password);
  await guess("of this machine", "127.0.0.1");
  await expect.poll(() => decoys.tried).toEqual([
    { service: "ftp", username: "backup", password: "Summer-2026!", is_bait: false }, { service: "ftp", username: "backup", password: "Blue-Heron-4", is_bait: true },
  ]);
});

test("where the file says so, no password goes anywhere", async () => {
  decoys = await openForTest(["ftp"], { report_passwords: false });
  decoys.listen();
  await converse(await connectTo(decoys.portOf("ftp")), [[/^220/, "USER a\r\n"], [/^331/, "PASS b\r\n"]], /^530/);
  await expect.poll(() => decoys.hits.at(-1)?.stage).toBe("credential");
  expect(decoys.tried).toEqual([]);
});

test("the daemon knows what is served; whom it exempts, when decoys begin and later, is only counted", async () => {
  decoys = await openForTest(["ftp"]);
  decoys.listen();
  decoys.daemon()?.exempt([{ name: "scanner", addresses: [`${CLIENT}/32`], ports: [] }]);
  const exempt = () => decoys.exemptions.counts().find(({ name }) => name === "scanner")?.connections;
  await expect.poll(exempt).toBe(0);
  expect(decoys.daemon()?.state()).toMatchObject({
    is_running: true, decoys: [{ name: "files2", persona: "linux", hostname: "files2", address: "127.0.0.1", services: [{ service: "ftp", port: decoys.portOf("ftp"), problem: null }] }],
  });
  await converse(await connectTo(decoys.portOf("ftp")), [[/^220/, "QUIT\r\n"]], /^221/);
  expect(exempt()).toBe(1);
  decoys.daemon()?.exempt([]);
  await expect.poll(exempt).toBe(undefined);
  await converse(await connectTo(decoys.portOf("ftp")), [[/^220/, "QUIT\r\n"]], /^221/);
  await expect.poll(() => decoys.hits).toMatchObject([{ source_ip: CLIENT, connections: 1 }]);
});

test("a test is a connection of this machine that is reported as one, each time; without decoys, or a service, it says why not", async () => {
  decoys = await openForTest(["ftp"]);
  decoys.listen();
  await expect.poll(() => decoys.daemon()?.state()?.is_running).toBe(true);
  const tested = await decoys.daemon()?.test("files2");
  expect(tested).toMatchObject({ hit: { is_test: true, decoy: "files2", service: "ftp", destination_port: decoys.portOf("ftp"), source_ip: "127.0.0.1", stage: "touch" } });
  const again = await Promise.all([decoys.daemon()?.test("files2"), decoys.daemon()?.test("files2")]);
  expect(again).toMatchObject([{ hit: { is_test: true } }, { problem: "it is being tested already" }]);
  expect(await decoys.daemon()?.test("camera")).toMatchObject({ problem: expect.stringContaining("camera") as string });
  const own = await connectTo(decoys.portOf("ftp"), "127.0.0.1");
  await once(own, "data");
  own.destroy();
  expect([decoys.hits.length, decoys.exemptions.counts()]).toEqual([2, [{ name: "this machine", connections: 1 }]]);
  await decoys.silence();
  decoys.listen();
  expect(await decoys.daemon()?.test("files2")).toMatchObject({ problem: expect.stringContaining("lanthorn-decoy") as string });
});
