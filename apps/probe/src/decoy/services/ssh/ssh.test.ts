import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client, type ClientErrorExtensions } from "ssh2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectTo, converse } from "../../testing/converse.ts";
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

test("passwords are refused and counted, bait is bait; the host key stays the same", async () => {
  const first = await login("127.0.3.1", "root", "toor");
  expect(first.level).toBe("client-authentication");
  await expect.poll(() => lastOf("127.0.3.1")).toMatchObject({ service: "ssh", stage: "credential", username: "root", techniques: ["T1046", "T1110.001", "T1021.004"] });
  const second = await login("127.0.3.2", "backup", "Blue-Heron-4");
  expect(second).toEqual(first);
  await expect.poll(() => lastOf("127.0.3.2")).toMatchObject({ stage: "bait_credential", severity: "critical", username: "backup" });
});

test("says what it is before it is asked, and ends who speaks something else", async () => {
  await converse(await connectTo(decoys.portOf("ssh"), "127.0.3.3"), [[/^SSH-2\.0-OpenSSH_8\.4p1 Debian-5\+deb11u3\r\n/, "SSH-2.0-libssh2_1.0\r\n"]], /diffie-hellman-group14-sha256,kex-strict-s-v00@openssh.com[^]*ssh-ed25519/);
  await expect.poll(() => lastOf("127.0.3.3")).toMatchObject({ stage: "banner", detail: "libssh2_1.0" });
  const client = await connectTo(decoys.portOf("ssh"), "127.0.3.4");
  const closed = new Promise((resolve) => void client.once("close", resolve));
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
